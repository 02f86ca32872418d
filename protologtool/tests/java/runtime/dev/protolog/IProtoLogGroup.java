package dev.protolog;

/** A group whose flags have the defaults of the runtime's interface. */
public interface IProtoLogGroup extends ProtoLogGroup {
    @Override
    default boolean isEnabled() {
        return true;
    }

    default boolean isLogToLogcat() {
        return false;
    }

    @Override
    default boolean isLogToText() {
        return isLogToLogcat();
    }
}
