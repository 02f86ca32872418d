package dev.protolog.internal.process;

import java.io.IOException;

/**
 * Threads of the runtime. They belong to no application: neither to its thread group, which it may
 * interrupt as a whole, nor to the class loader of the thread that happens to start them, nor to
 * its thread locals.
 */
public final class RuntimeThread {
    private RuntimeThread() {}

    /** A thread that does not keep the JVM from ending. */
    public static Thread daemon(Runnable body, String name) {
        Thread thread = of(body, name);
        thread.setDaemon(true);
        return thread;
    }

    /**
     * Starts a thread that does not keep the JVM from ending. An error of its caller, and none of
     * the JVM, where the process may have no more threads.
     */
    public static Thread start(Runnable body, String name) throws IOException {
        Thread thread = daemon(body, name);
        start(thread);
        return thread;
    }

    /** As above, of a thread that {@link #daemon} has made. */
    public static void start(Thread thread) throws IOException {
        try {
            thread.start();
        } catch (OutOfMemoryError e) {
            throw new IOException("no thread can be started: the process or its user has as many as it may, or no memory", e);
        }
    }

    /** A thread that is not started yet. */
    public static Thread of(Runnable body, String name) {
        Thread thread = new Thread(topGroup(), body, name, 0, false);
        thread.setDaemon(false);
        thread.setContextClassLoader(RuntimeThread.class.getClassLoader());
        return thread;
    }

    /** The group that has all others; threads of the JVM are in it. */
    static ThreadGroup topGroup() {
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        for (ThreadGroup next = group; next != null; next = next.getParent()) {
            group = next;
        }
        return group;
    }
}
