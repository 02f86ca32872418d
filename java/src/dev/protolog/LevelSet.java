package dev.protolog;

/** Sets of levels, a bit for each, and the number and the letter of a level. Invariant: nothing here is initialized, which may fail. */
final class LevelSet {
    /** The set of all levels. */
    static final int ALL = (1 << 6) - 1;

    private LevelSet() {}

    /** The set of one level. */
    static int bit(LogLevel level) {
        return 1 << level.ordinal();
    }

    /** The set of this level and the more severe ones. */
    static int andAbove(LogLevel level) {
        return ALL & -bit(level);
    }

    /** The number in traces, which is not the order of severity. */
    static int wire(LogLevel level) {
        return level == LogLevel.VERBOSE ? 2 : level == LogLevel.DEBUG ? 1 : level.ordinal() + 1;
    }

    /** The letter in lines of logcat. */
    static String letter(LogLevel level) {
        return level == LogLevel.WTF ? "F" : level.name().substring(0, 1);
    }
}
