package dev.protolog;

/** What the tool and the recording classes need of a group. */
public interface ProtoLogGroup {
    String name();
    boolean isEnabled();
    boolean isLogToText();
    String getTag();
}
