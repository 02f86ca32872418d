package dev.protolog;

import java.util.Locale;

/** The causes for which messages are lost. Invariant: their numbers are those of traces. */
enum LossCause {
    BUFFER_FULL(1),
    OVERWRITTEN(2),
    REENTRANT(3),
    /** The message is there, with a truncated string. */
    TRUNCATED(4),
    TEMPLATE_LIMIT(7),
    WRITE_FAILED(8);

    /** The largest number of a cause. */
    static final int MAX_WIRE = 8;
    private static final LossCause[] ALL = values();

    final int wire;

    LossCause(int wire) {
        this.wire = wire;
    }

    int wire() {
        return wire;
    }

    /** The name that Rust gives it, too. */
    String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    static LossCause of(int wire) {
        for (LossCause cause : ALL) {
            if (cause.wire == wire) {
                return cause;
            }
        }
        return BUFFER_FULL;
    }
}
