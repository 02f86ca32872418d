package dev.protolog.internal.text;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Text on its way to people: messages for the sink, and problems of the log itself. Nobody knows
 * how long standard error, a disk or a sink takes, so no thread of the program waits for them: a
 * bounded queue takes the text, and a thread of this library shows it.
 *
 * <p>A thread that queues text waits until it is shown, for at most {@link #ON_TIME_NANOS}, so that
 * a JVM that is killed has shown the text before. An output that takes longer is late: nobody waits
 * for it until the queue is empty.
 *
 * <p>Invariants: texts are shown in their order. Text that finds no room is dropped and counted,
 * and the count is shown once the output takes text again. None of the program's code runs under
 * the lock. A caller's interrupt stays set. The thread ends when it has had nothing to do for a
 * while, so that it keeps no class loader.
 */
public final class TextQueue {
    /** The longest that a call waits for its text. */
    static final long ON_TIME_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    /** The most bytes that are queued, about. */
    private static final long LIMIT = 1 << 20;
    /** The bytes of an entry besides its characters, about. */
    private static final int ENTRY_BYTES = 64;
    /** The longest that the end of a session or of the process waits. */
    private static final Duration END_LIMIT = Duration.ofSeconds(1);
    private static final Duration IDLE_LIMIT = Duration.ofSeconds(5);

    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final Condition PUSHED = LOCK.newCondition();
    private static final Condition SHOWN = LOCK.newCondition();

    private static final ArrayDeque<Entry> ENTRIES = new ArrayDeque<>();
    private static long bytes;
    private static long pushed;
    private static long shown;
    private static long dropped;
    private static long unreported;
    /**
     * From the first text that found no room until half of it is free: what is dropped is dropped
     * together.
     */
    private static boolean isFull;
    /** From the time at which somebody waited in vain until the queue is empty. */
    private static boolean isLate;
    /** {@link #shown} when the last wait at an end was in vain. */
    private static long stuckAt = -1;
    /** The thread that shows text, if there is one. */
    private static volatile Thread writer;
    private static Thread hook;

    /** Shows a text. */
    @FunctionalInterface
    interface Output {
        /** False if it could not be shown. */
        boolean show() throws Exception;
    }

    private record Entry(Output output, long size) {}

    private TextQueue() {}

    /** Queues a text of so many characters, and gives the output a moment to show it. */
    static void push(int length, Output output) {
        long size = length + ENTRY_BYTES;
        boolean wasInterrupted = false;
        LOCK.lock();
        try {
            isFull &= bytes > LIMIT / 2;
            isFull |= bytes + size > LIMIT;
            if (isFull) {
                drop(1);
                return;
            }
            ENTRIES.add(new Entry(output, size));
            bytes += size;
            long end = ++pushed;
            if (wake() && !isLate && !isWriter()) {
                wasInterrupted = await(end, ON_TIME_NANOS);
                isLate = shown < end;
            }
        } finally {
            LOCK.unlock();
            if (wasInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Waits until all text that was logged before is shown; false if it is not within
     * {@code limit}.
     */
    public static boolean flush(Duration limit) {
        if (isWriter()) {
            return false;
        }
        boolean wasInterrupted = false;
        LOCK.lock();
        try {
            long end = pushed;
            wasInterrupted = await(end, TimeUnit.NANOSECONDS.convert(limit));
            return shown >= end;
        } finally {
            LOCK.unlock();
            if (wasInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Waits for a moment at the end of a session or of the process, unless that was in vain before
     * and nothing was shown since.
     */
    public static void flushAtEnd() {
        LOCK.lock();
        try {
            if (stuckAt == shown) {
                return;
            }
        } finally {
            LOCK.unlock();
        }
        boolean isShown = flush(END_LIMIT);
        LOCK.lock();
        try {
            stuckAt = isShown ? -1 : shown;
        } finally {
            LOCK.unlock();
        }
    }

    /** The texts that were dropped since the program started. */
    public static long dropped() {
        LOCK.lock();
        try {
            return dropped;
        } finally {
            LOCK.unlock();
        }
    }

    /** True on the thread that shows text. */
    static boolean isWriter() {
        return Thread.currentThread() == writer;
    }

    private static void drop(long count) {
        dropped += count;
        unreported += count;
    }

    /**
     * Waits until {@code end} entries were shown; true if the thread was interrupted, which may
     * happen any number of times.
     */
    private static boolean await(long end, long nanos) {
        boolean wasInterrupted = false;
        long start = System.nanoTime();
        long left = nanos;
        while (shown < end && left > 0) {
            try {
                SHOWN.awaitNanos(left);
            } catch (InterruptedException e) {
                wasInterrupted = true;
            }
            left = nanos - (System.nanoTime() - start);
        }
        return wasInterrupted;
    }

    /** Wakes the thread, or starts it; false where that is impossible now. */
    private static boolean wake() {
        PUSHED.signal();
        if (writer == null) {
            try {
                start();
            } catch (RuntimeException | Error e) {
                // No memory or no thread is left. The next text tries again.
                writer = null;
            }
        }
        return writer != null;
    }

    private static void start() {
        // Without the thread locals of the thread that logs first.
        Thread thread = new Thread(null, TextQueue::run, "protolog text", 0, false);
        thread.setDaemon(true);
        thread.setContextClassLoader(TextQueue.class.getClassLoader());
        writer = thread;
        thread.start();
        if (hook == null) {
            Thread atExit = new Thread(null, TextQueue::flushAtEnd, "protolog text exit", 0, false);
            try {
                Runtime.getRuntime().addShutdownHook(atExit);
                hook = atExit;
            } catch (IllegalStateException e) {
                // The program is ending; its end waits for the hooks that are registered.
            }
        }
    }

    private static void run() {
        boolean isBroken = false;
        for (Entry entry = next(false); entry != null; entry = next(isBroken)) {
            isBroken = !isShown(entry.output);
            LOCK.lock();
            try {
                // The report is not an entry of anybody's.
                if (entry.size > 0) {
                    shown++;
                    if (isBroken) {
                        drop(1);
                    }
                    SHOWN.signalAll();
                }
            } finally {
                LOCK.unlock();
            }
        }
    }

    private static boolean isShown(Output output) {
        try {
            return output.show();
        } catch (Throwable e) {
            // Any error: the thread has more to show.
            return false;
        }
    }

    /** The next entry, as soon as there is one; null where the thread ends, since none comes. */
    private static Entry next(boolean isBroken) {
        LOCK.lock();
        try {
            long idle = TimeUnit.NANOSECONDS.convert(IDLE_LIMIT);
            while (true) {
                Entry report = report(isBroken);
                if (report != null) {
                    return report;
                }
                Entry entry = ENTRIES.poll();
                if (entry != null) {
                    bytes -= entry.size;
                    return entry;
                }
                isLate = false;
                if (idle <= 0) {
                    writer = null;
                    removeHook();
                    return null;
                }
                idle = await(idle);
            }
        } finally {
            LOCK.unlock();
        }
    }

    private static long await(long nanos) {
        try {
            return PUSHED.awaitNanos(nanos);
        } catch (InterruptedException e) {
            // Nobody has a reason to; the time starts over.
            return nanos;
        }
    }

    /** A report of what was dropped, once the queue has been emptied to the half or more. */
    private static Entry report(boolean isBroken) {
        if (unreported == 0 || isBroken || bytes > LIMIT / 2) {
            return null;
        }
        long count = unreported;
        unreported = 0;
        return new Entry(() -> {
            boolean isShown = isShown(() -> TextOutput.showDropped(count));
            if (!isShown) {
                LOCK.lock();
                try {
                    unreported += count;
                } finally {
                    LOCK.unlock();
                }
            }
            return isShown;
        }, 0);
    }

    private static void removeHook() {
        try {
            if (hook != null) {
                Runtime.getRuntime().removeShutdownHook(hook);
                hook = null;
            }
        } catch (IllegalStateException e) {
            // The program is ending.
        }
    }
}
