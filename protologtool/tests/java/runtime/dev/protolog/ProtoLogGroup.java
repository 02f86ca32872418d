package dev.protolog;

public interface ProtoLogGroup {
    String name();
    boolean isEnabled();
    boolean isLogToText();
    String getTag();
}
