package dev.protolog.internal.write;

import dev.protolog.EventOrigin;
import dev.protolog.internal.process.BootClock;
import dev.protolog.internal.process.Origin;
import dev.protolog.internal.process.ThreadIdentity;
import java.time.Instant;

/** The threads and times of events that bridges pass on, as messages have them. */
public final class EventOrigins {
    /**
     * An event of the current thread that is younger happens now: its time may be read less finely
     * than ours. In nanoseconds.
     */
    private static final long NOW = 20_000_000;
    /**
     * The bits of an id that the kernel never gives: of a thread that is known by its Java id, or
     * by its name.
     */
    private static final int OF_JAVA = 1 << 30;
    private static final int OF_NAME = 3 << 29;

    private EventOrigins() {}

    /** True for an event of the current thread, so that its place may be found by the stack. */
    static boolean isOfThisThread(EventOrigin event) {
        Thread current = Thread.currentThread();
        return event.threadId() != 0
                ? event.threadId() == ThreadIdentity.javaId(current)
                : event.threadName() == null || event.threadName().equals(current.getName());
    }

    /**
     * The origin of an event, as a message has it; null for one that the current thread logs now.
     */
    public static Origin resolve(EventOrigin event) {
        Thread current = Thread.currentThread();
        Instant at = event.time() == null ? Instant.now() : event.time();
        if (isOfThisThread(event)) {
            long age = BootClock.wall() - BootClock.nanos(at);
            return age < NOW ? null : new Origin(ThreadIdentity.currentId(), current.getName(), at);
        }
        ThreadCalls.Known known = ThreadCalls.known(event.threadId(), event.threadName());
        String name = event.threadName() != null ? event.threadName() : known != null ? known.name() : "thread " + event.threadId();
        int id = event.threadId() != 0 ? OF_JAVA | (int) event.threadId() : OF_NAME | name.hashCode() >>> 3;
        return new Origin(known != null && known.id() != 0 ? known.id() : id, name, at);
    }
}
