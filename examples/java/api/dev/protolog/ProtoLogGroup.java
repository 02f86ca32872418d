package dev.protolog;

/**
 * A group of messages that is switched as one. An application declares its groups as an enum that implements this
 * interface; the tool reads that enum's source, so the constructor's arguments are constants.
 */
public interface ProtoLogGroup {
    /** The constant's name, as {@link Enum#name} gives it. */
    String name();

    /** False: calls of this group are compiled out, and no property switches them on. */
    boolean isEnabled();

    /** False: the group prints nothing unless {@code -Dprotolog.level} names it. */
    boolean isLogToText();

    /** The word before each printed message of the group. */
    String getTag();
}
