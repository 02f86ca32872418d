package dev.protolog.internal.session;

import java.time.Duration;

/**
 * The ranges of a session's settings. Invariant: a value out of range is refused, and not moved
 * into it.
 */
public final class SettingRange {
    /** The fewest bytes of a buffer: room for the largest message and for some threads. */
    public static final int MIN_BUFFER = 256 << 10;
    public static final int MAX_BUFFER = 1 << 30;
    private static final Duration FOREVER = Duration.ofDays(36_500);

    private SettingRange() {}

    /** Nanoseconds, a hundred years at most; 0 for null. */
    public static long nanos(Duration duration) {
        return duration == null ? 0 : duration.compareTo(FOREVER) > 0 ? FOREVER.toNanos() : Math.max(0, duration.toNanos());
    }

    /** The size of a buffer that is next to the one that an operator asks for. */
    public static int nearestBuffer(long bytes) {
        return (int) Math.min(Math.max(bytes, MIN_BUFFER), MAX_BUFFER);
    }

    public static int within(String setting, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(setting + "(" + value + ") is not from " + least + " to " + most);
        }
        return value;
    }

    public static long positive(String setting, long value) {
        if (value <= 0) {
            throw new IllegalArgumentException(setting + "(" + value + ") is not more than 0");
        }
        return value;
    }
}
