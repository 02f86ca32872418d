package dev.protolog.internal.write;

import java.util.Locale;

/** The causes for which messages are lost. Invariant: their numbers are those of traces. */
public enum LossCause {
    BUFFER_FULL(1, "the buffer was full"),
    OVERWRITTEN(2, "overwritten before being read"),
    REENTRANT(3, "logged inside another log call"),
    /** The message is there, with a truncated string. */
    TRUNCATED(4, "truncated, since an argument was too long"),
    TEMPLATE_LIMIT(7, "too many distinct messages without a dictionary entry"),
    WRITE_FAILED(8, "the file could not be written"),
    /** Another program emptied, cut or deleted the file that had the message. */
    REMOVED(9, "removed from the file by another program"),
    /** One too many of the messages that a rule lets pass. */
    LIMITED(10, "suppressed by a limit");

    /** The largest number of a cause. */
    static final int MAX_WIRE = 10;
    private static final LossCause[] ALL = values();

    final int wire;
    private final String description;

    LossCause(int wire, String description) {
        this.wire = wire;
        this.description = description;
    }

    public int wire() {
        return wire;
    }

    /** The name that Rust gives it, too. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The cause for people, as Rust has it, too. */
    public String description() {
        return description;
    }

    public static LossCause of(int wire) {
        for (LossCause cause : ALL) {
            if (cause.wire == wire) {
                return cause;
            }
        }
        return BUFFER_FULL;
    }
}
