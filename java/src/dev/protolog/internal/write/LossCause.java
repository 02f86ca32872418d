package dev.protolog.internal.write;

import dev.protolog.LogLevel;
import java.util.Locale;

/**
 * The causes for which messages are not in a trace: those that are lost, and sampling, which passes
 * over messages that are not lost. As {@code protolog-core/src/loss.rs} has them.
 *
 * <p>Invariant: the numbers of losses are those of traces; those of messages that are passed over,
 * by level, are numbers of counters in recordings, and no others.
 */
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
    LIMITED(10, "suppressed by a limit"),
    /** It says the same as the one before, which is there. */
    REPEATED(11, "the same as the message before"),
    /** A rate of sampling passes over it; of no level that is known. */
    PASSED_OVER(LossCause.FIRST_PASSED_OVER, null),
    PASSED_OVER_VERBOSE(LogLevel.VERBOSE),
    PASSED_OVER_DEBUG(LogLevel.DEBUG),
    PASSED_OVER_INFO(LogLevel.INFO),
    PASSED_OVER_WARN(LogLevel.WARN),
    PASSED_OVER_ERROR(LogLevel.ERROR),
    PASSED_OVER_WTF(LogLevel.WTF);

    /** The number of one that sampling passes over, if its level is not known. */
    private static final int FIRST_PASSED_OVER = 0x80;
    /** All, by their places. Fields, here and below: to count calls nothing. */
    static final LossCause[] ALL = values();
    /** The places of causes, by their numbers; 0, that of a full buffer, for unknown ones. */
    static final byte[] PLACES = new byte[1 << Byte.SIZE];

    static {
        for (LossCause cause : ALL) {
            PLACES[cause.wire] = (byte) cause.place;
        }
    }

    final int wire;
    final int place = ordinal();
    private final String description;
    private final LogLevel level;

    LossCause(int wire, String description) {
        this.wire = wire;
        this.description = description;
        level = null;
    }

    LossCause(LogLevel level) {
        wire = FIRST_PASSED_OVER + level.ordinal() + 1;
        description = null;
        this.level = level;
    }

    /** That of a message of this level over which sampling passes. */
    static LossCause passedOver(LogLevel level) {
        return ALL[PASSED_OVER.place + 1 + level.ordinal()];
    }

    public int wire() {
        return wire;
    }

    /** True if the message is not there, and should be. */
    public boolean isLost() {
        return this != TRUNCATED && this != REPEATED && !isPassedOver();
    }

    /** True of a message over which sampling passes. */
    public boolean isPassedOver() {
        return wire >= FIRST_PASSED_OVER;
    }

    /** The level of a message over which sampling passes; null if it is not known. */
    public LogLevel level() {
        return level;
    }

    /** The name that Rust gives it, too. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The cause of a loss for people, as Rust has it, too. */
    public String description() {
        return description;
    }

    public static LossCause of(int wire) {
        return wire >= 0 && wire < PLACES.length ? ALL[PLACES[wire]] : BUFFER_FULL;
    }
}
