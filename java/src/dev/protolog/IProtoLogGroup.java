package dev.protolog;

/**
 * A group of messages that is switched as one. An application declares its groups as an enum that
 * implements this interface; the tool reads that enum's source, so the constructor's arguments are
 * constants.
 *
 * <p>The names are those of Android's interface, so that an enum written for it needs another
 * import only. A group of one's own has to have {@link #name} and {@link #getTag}; all else has a
 * default.
 *
 * <p>Invariant: the runtime calls these methods when it first sees a group, when a session starts
 * and in {@link ProtoLog#init}, not with each message. It holds no lock of its own meanwhile.
 */
public interface IProtoLogGroup {
    /** The constant's name, as {@link Enum#name} gives it. */
    String name();

    /** The word before each printed message of the group. */
    String getTag();

    /**
     * False: calls of this group are compiled out, and neither sessions nor properties switch them
     * on.
     */
    default boolean isEnabled() {
        return true;
    }

    /**
     * True: messages are printed on standard error, too. False: only if {@code -Dprotolog.level}
     * names the group.
     */
    default boolean isLogToLogcat() {
        return false;
    }

    /**
     * Asks for printed messages, or for none, from the next {@link ProtoLog#init} on; ignored by
     * groups with a constant.
     */
    default void setLogToLogcat(boolean logToLogcat) {}

    /**
     * False: sessions don't record the group. Deprecated on Android, where all groups are recorded.
     */
    default boolean isLogToProto() {
        return true;
    }

    /** Ignored, as in newer releases of Android. */
    default void setLogToProto(boolean logToProto) {}

    /** True if messages are printed or recorded. */
    default boolean isLogToAny() {
        return isLogToLogcat() || isLogToProto();
    }

    /**
     * The rate at which messages are kept, as {@code 1/100}, {@code 0.5%} or {@code 1/512KiB}; null
     * for all of them. It is a rule {@code site group NAME=sample:RATE} before all others, so
     * whoever says otherwise is right, and messages of WARN and worse are kept.
     *
     * <p>Not Android's: its groups declare none.
     */
    default String getSample() {
        return null;
    }

    /**
     * The most messages of all calls together, as {@code 100/s} or {@code 100/s burst 500}; null
     * for no limit. It is a rule {@code site group NAME=group-limit:LIMIT} before all others.
     *
     * <p>Not Android's: its groups declare none.
     */
    default String getLimit() {
        return null;
    }

    /**
     * A number of the application's own. Traces identify groups by their full name instead, so that
     * duplicates do no harm.
     */
    default int getId() {
        return MessageId.ofGroup(MessageId.fullName(this));
    }
}
