package dev.protolog;

import java.time.Duration;

/** The ranges of a session's settings. Invariant: what is out of range is refused, and not moved into it. */
final class SettingRange {
    private static final Duration FOREVER = Duration.ofDays(36_500);

    private SettingRange() {}

    /** Nanoseconds, a hundred years at most; 0 for null. */
    static long nanos(Duration duration) {
        return duration == null ? 0 : duration.compareTo(FOREVER) > 0 ? FOREVER.toNanos() : Math.max(0, duration.toNanos());
    }

    static int within(String setting, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(setting + "(" + value + ") is not from " + least + " to " + most);
        }
        return value;
    }

    static long positive(String setting, long value) {
        if (value <= 0) {
            throw new IllegalArgumentException(setting + "(" + value + ") is not more than 0");
        }
        return value;
    }
}
