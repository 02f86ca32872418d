package dev.protolog.internal.text;

import dev.protolog.LogLevel;

/**
 * Sets of levels, a bit for each, and the number and the letter of a level. Invariant: nothing here
 * is initialized, which may fail.
 */
public final class LevelSet {
    /** The set of all levels. */
    public static final int ALL = (1 << 6) - 1;

    private LevelSet() {}

    /** The set of one level. */
    public static int bit(LogLevel level) {
        return 1 << level.ordinal();
    }

    /** The set of this level and the more severe ones. */
    public static int andAbove(LogLevel level) {
        return ALL & -bit(level);
    }

    /** The number in traces, which is not the order of severity. */
    public static int wire(LogLevel level) {
        return level == LogLevel.VERBOSE ? 2 : level == LogLevel.DEBUG ? 1 : level.ordinal() + 1;
    }

    /** The level of a number in traces; null for none. */
    public static LogLevel ofWire(long wire) {
        for (LogLevel level : LogLevel.values()) {
            if (wire(level) == wire) {
                return level;
            }
        }
        return null;
    }

    /** The letter in lines of logcat. */
    public static String letter(LogLevel level) {
        return level == LogLevel.WTF ? "F" : level.name().substring(0, 1);
    }
}
