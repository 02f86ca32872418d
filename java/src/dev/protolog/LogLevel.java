package dev.protolog;

/** The severity of a message. Invariant: declared in order of severity, so that {@code compareTo} compares severity. */
public enum LogLevel {
    /** Details that only the developers of this code need. */
    VERBOSE(2),
    /** Information for finding a fault. */
    DEBUG(1),
    /** Information for an operator. */
    INFO(3),
    /** Something is wrong, but the program can cope with it. */
    WARN(4),
    /** Something failed. */
    ERROR(5),
    /** Something happened that can't happen. */
    WTF(6);

    /** The bits of all levels, see {@link #bit}. */
    static final int ALL = (1 << 6) - 1;

    private final int wire;

    LogLevel(int wire) {
        this.wire = wire;
    }

    /** The number in traces, which is not the order of severity. */
    int wire() {
        return wire;
    }

    /** The letter in lines of logcat. */
    String letter() {
        return this == WTF ? "F" : name().substring(0, 1);
    }

    /** The level's bit in a set of levels. */
    int bit() {
        return 1 << ordinal();
    }

    /** The set of this level and the more severe ones. */
    int andAbove() {
        return ALL & -bit();
    }
}
