package dev.protolog.internal.write;

/**
 * The turn of messages that are larger than a chunk, in a session with threads that wait for room.
 * If several threads had chunks for a part of their messages, all would wait for more, and none
 * would get any.
 *
 * <p>Invariants: one writer has the turn; it gives it back with its message, or, where an error
 * ended that, with its next one or its end. An interrupt does not end a wait, and is there
 * afterwards.
 */
public final class LargeTurn {
    /** The id of the writer that has the turn; 0 for none. */
    private int owner;
    private boolean isClosed;

    /**
     * Waits for the turn, but not beyond {@code deadline}, a value of {@link System#nanoTime}.
     * False where it does not come.
     */
    synchronized boolean begin(int writer, long deadline) {
        boolean isInterrupted = false;
        long left = deadline - System.nanoTime();
        while (owner != 0 && owner != writer && !isClosed && left > 0) {
            try {
                wait(left / 1_000_000, (int) (left % 1_000_000));
            } catch (InterruptedException e) {
                isInterrupted = true;
            }
            left = deadline - System.nanoTime();
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
        boolean isFree = owner == 0 || owner == writer;
        if (isFree) {
            owner = writer;
        }
        return isFree;
    }

    /** Ends the turn, if the writer has it. */
    synchronized void end(int writer) {
        if (owner == writer) {
            owner = 0;
            notifyAll();
        }
    }

    /** Ends all waits. */
    public synchronized void close() {
        isClosed = true;
        notifyAll();
    }
}
