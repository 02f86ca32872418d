package dev.protolog;

/** How severe a message is. Invariant: declared in order of severity, so that {@code compareTo} compares severity. */
public enum LogLevel {
    /** Chatter that is only of use to who works on that very code. */
    VERBOSE,
    /** What helps to find a fault. */
    DEBUG,
    /** What an operator may want to know. */
    INFO,
    /** Something is not as it should be, the program copes. */
    WARN,
    /** Something failed. */
    ERROR,
    /** What can't happen, happened. */
    WTF
}
