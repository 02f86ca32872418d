package dev.protolog.internal.session;

/**
 * A session that is completed when the JVM ends: what {@link AtExit} does with it, in this order.
 */
interface ExitingSession {
    /** The messages so far, a moment behind. */
    long messages();

    /** Has messages counted from now on, since the program ends. */
    void beginEnd();

    /** True while a thread is within a message. */
    boolean isWriting();

    /**
     * Completes the output. An end or a snapshot that another thread has begun is waited for.
     */
    void stopAtExit();

    /** The bytes that the output has taken, for threads that wait for its end. */
    long progress();

    /** Says on standard error that the output takes nothing any more. */
    void reportStuck();
}
