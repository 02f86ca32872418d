package dev.protolog;

/**
 * The severity of a message. Invariant: declared in order of severity, so that {@code compareTo}
 * compares severity.
 */
public enum LogLevel {
    /** Details that only the developers of this code need. */
    VERBOSE,
    /** Information for finding a fault. */
    DEBUG,
    /** Information for an operator. */
    INFO,
    /** Something is wrong, but the program can cope with it. */
    WARN,
    /** Something failed. */
    ERROR,
    /** Something happened that can't happen. */
    WTF
}
