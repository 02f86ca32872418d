package dev.protolog;

/** A group, as the reference printer needs it. */
public interface IProtoLogGroup {
    /** False leaves its calls out. */
    default boolean isEnabled() {
        return true;
    }

    /** The tag before its texts. */
    String getTag();

    /** Has its messages printed. */
    default boolean isLogToLogcat() {
        return true;
    }

    /** The constant's name. */
    String name();
}
