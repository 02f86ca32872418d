package dev.protolog.internal.session;

import dev.protolog.internal.process.PassingErrors;
import java.util.concurrent.locks.LockSupport;

/**
 * The thread of a session that streams: it has the file written each second, when half of the
 * buffer is in use, and when a file is old.
 */
final class DrainLoop implements Runnable {
    private static final long POLL_NANOS = 1_000_000_000;
    /** The pause after an error out of memory, which may pass. */
    private static final long PAUSE_NANOS = 100_000_000;

    private final SessionCore session;
    private final Stream stream;
    private volatile boolean hasBegun;

    DrainLoop(SessionCore session, Stream stream) {
        this.session = session;
        this.stream = stream;
    }

    /**
     * Has the file written from now on. Its thread waits for this, or for the session's end where
     * its start failed.
     */
    void begin() {
        hasBegun = true;
    }

    @Override
    public void run() {
        while (!hasBegun) {
            if (session.isStopped()) {
                return;
            }
            Thread.interrupted();
            LockSupport.park(this);
        }
        long next = System.nanoTime() + POLL_NANOS;
        boolean isDone;
        while (!session.isStopped()) {
            // An interrupt of all threads of a program does not mean this one, which would not
            // sleep any more.
            Thread.interrupted();
            LockSupport.parkNanos(this, Math.max(1, Math.min(next - System.nanoTime(), stream.left())));
            boolean isDue = next - System.nanoTime() <= 0 || stream.left() <= 0;
            if (isDue) {
                next = System.nanoTime() + POLL_NANOS;
            }
            try {
                // Threads that have ended leave room before others look for it.
                session.sweep();
                isDone = stream.write(isDue);
            } catch (RuntimeException | Error e) {
                if (!(e instanceof Error error) || !PassingErrors.isOne(error)) {
                    // Its buffer was truncated, for example. Its files have to be released all the
                    // same.
                    session.fail(e);
                }
                isDone = false;
            }
            if (!isDone) {
                LockSupport.parkNanos(this, PAUSE_NANOS);
            }
        }
        stream.releaseFailed();
    }
}
