package dev.protolog;

/** A group of a test, which has its name as its tag and prints nothing. */
interface SilentGroup extends IProtoLogGroup {
    @Override
    default String getTag() {
        return name();
    }

    @Override
    default boolean isLogToLogcat() {
        return false;
    }
}
