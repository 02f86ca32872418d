package dev.protolog;

import java.time.Instant;

/**
 * The thread, the time and the place of an event that a bridge passes on: another logger may hand it over later, and by another thread.
 *
 * @param threadId Java's id of the thread; 0 if only its name is known
 * @param threadName its name; null if only its id is known
 * @param time when the event was logged
 * @param location the place of the call, as {@code com/foo/Main.java:12}; null if it is not known
 */
public record EventOrigin(long threadId, String threadName, Instant time, String location) {
    /** An event of the current thread that is younger happens now: its time may be read less finely than ours. In nanoseconds. */
    private static final long NOW = 20_000_000;
    /** The bits of an id that the kernel never gives: of a thread that is known by its Java id, or by its name. */
    private static final int OF_JAVA = 1 << 30;
    private static final int OF_NAME = 3 << 29;

    /** The place of a frame. */
    public static String location(StackTraceElement frame) {
        return frame == null ? null : CallStacks.place(frame.getClassName(), frame.getFileName(), frame.getLineNumber());
    }

    /** True for an event of the current thread, so that its place may be found by the stack. */
    boolean isOfThisThread() {
        Thread current = Thread.currentThread();
        return threadId != 0 ? threadId == ThreadIdentity.javaId(current) : threadName == null || threadName.equals(current.getName());
    }

    /** This, as a message has it; null for one that the current thread logs now. */
    Resolved resolve() {
        Thread current = Thread.currentThread();
        Instant at = time == null ? Instant.now() : time;
        if (isOfThisThread()) {
            long age = BootClock.wall() - BootClock.nanos(at);
            return age < NOW ? null : new Resolved(ThreadIdentity.currentId(), current.getName(), at);
        }
        Call.Known known = Call.known(threadId, threadName);
        String name = threadName != null ? threadName : known != null ? known.name() : "thread " + threadId;
        int id = threadId != 0 ? OF_JAVA | (int) threadId : OF_NAME | name.hashCode() >>> 3;
        return new Resolved(known != null && known.id() != 0 ? known.id() : id, name, at);
    }

    /** Id and name of the thread, as traces have them, and the time. */
    record Resolved(int threadId, String threadName, Instant time) {}
}
