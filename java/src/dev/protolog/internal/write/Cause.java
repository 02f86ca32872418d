package dev.protolog.internal.write;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A cause of a session's triggers, and what became of it: 0, or the time of the event that is to be
 * written. A thread that fires it exchanges one for the other; one that finds a time there counts a
 * suppressed event.
 *
 * <p>Invariant: the session's own thread alone sets the time back.
 */
public final class Cause {
    private static final long IDLE = 0;
    /** One that a thread is about to fire, and one that fires no more. No event has these times. */
    private static final long FIRING = 1;
    private static final long CLOSED = Long.MAX_VALUE;

    final CauseCondition condition;
    private volatile String name;
    private final AtomicLong time = new AtomicLong(IDLE);
    private final AtomicInteger thread = new AtomicInteger();
    /** See {@link Event}; set before the time. */
    private volatile long wall;
    private volatile long origin;
    private volatile Window window;
    private final AtomicLong fired = new AtomicLong();
    private final AtomicLong suppressed = new AtomicLong();
    private final AtomicLong written = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();

    Cause(String name, CauseCondition condition) {
        this.name = name;
        this.condition = condition;
    }

    /**
     * An event.
     *
     * @param time in nanoseconds of BOOTTIME
     * @param thread the id of its thread; 0 for one of another process
     * @param wall its time in nanoseconds since 1970, where others know it by that; else 0
     * @param origin {@link #HERE}, or the id of the process that had it; 0 if that is not known
     * @param window the time around it that all files of the event have; null for the session's own
     */
    public record Event(long time, int thread, long wall, long origin, Window window) {
        /** This process. */
        public static final long HERE = -1;

        static Event now(long time, int thread) {
            return new Event(time, thread, 0, HERE, null);
        }
    }

    /** The time around an event, in nanoseconds. */
    public record Window(long before, long after) {
        /** The longest time after it: a copy of the ring waits for that. */
        private static final long MOST_AFTER = 600_000_000_000L;

        public Window {
            after = Math.min(after, MOST_AFTER);
        }
    }

    /** True if it stands for failed requests, whose files have the messages of these alone. */
    public boolean isOfRequests() {
        return condition == CauseCondition.FAILED_REQUEST;
    }

    /** Null for one that nobody has named yet. */
    public String name() {
        return name;
    }

    /** Gives it a name, unless it has one; true if it is this one. */
    boolean take(String wanted) {
        if (name == null) {
            synchronized (this) {
                name = name == null ? wanted : name;
            }
        }
        return name.equals(wanted);
    }

    /** Notes that it fired, unless it is not idle: then it is counted. True if it was. */
    boolean fire(Event event) {
        // One that is suppressed, of which there may be many, takes a load.
        boolean isFirst = time.get() == IDLE && time.compareAndSet(IDLE, FIRING);
        if (isFirst) {
            thread.set(event.thread);
            wall = event.wall;
            origin = event.origin;
            window = event.window;
            isFirst = time.compareAndSet(FIRING, Math.max(FIRING + 1, event.time));
        }
        (isFirst ? fired : suppressed).incrementAndGet();
        return isFirst;
    }

    /** The time of its last event, as {@link Event} has it. */
    long wall() {
        return wall;
    }

    /** The event that is to be written; null for none. */
    public Event event() {
        long now = time.get();
        return now > FIRING && now < CLOSED ? new Event(now, thread.get(), wall, origin, window) : null;
    }

    /** Lets it fire again. */
    public void rearm() {
        time.set(IDLE);
    }

    /** Lets it fire no more, unless it has fired. */
    void close() {
        if (!time.compareAndSet(IDLE, CLOSED)) {
            time.compareAndSet(FIRING, CLOSED);
        }
    }

    /** Counts a file that was written, or could not be. */
    public void count(boolean isWritten) {
        (isWritten ? written : failed).incrementAndGet();
    }

    public long fired() {
        return fired.get();
    }

    public long suppressed() {
        return suppressed.get();
    }

    public long written() {
        return written.get();
    }

    public long failed() {
        return failed.get();
    }
}
