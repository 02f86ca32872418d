package dev.protolog;

/** A group, as the tool and the recording classes need it. */
public interface ProtoLogGroup {
    String name();
    boolean isEnabled();
    boolean isLogToText();
    String getTag();
}
