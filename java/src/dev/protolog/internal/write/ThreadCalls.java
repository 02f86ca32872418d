package dev.protolog.internal.write;

import dev.protolog.internal.process.ThreadIdentity;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The calls of all threads, one each, and the threads that events of other loggers name.
 *
 * <p>Invariant: a thread has one call as long as it lives, also where it forgets its thread locals.
 */
final class ThreadCalls {
    /**
     * That of the thread. A container's threads outlive its applications, so they refer to nothing
     * of this class loader: {@link #KEPT} keeps it, which goes with the loader.
     */
    private static final ThreadLocal<WeakReference<Call>> OF_THREAD = new ThreadLocal<>();
    private static final ConcurrentHashMap<Long, Kept> KEPT = new ConcurrentHashMap<>();
    private static final ReferenceQueue<Thread> ENDED = new ReferenceQueue<>();
    /**
     * Threads by the names that events of other loggers have; a thread may have another one by now.
     */
    private static final ConcurrentHashMap<String, Kept> NAMED = new ConcurrentHashMap<>();
    /** Names that no thread had when it was looked for, and that time. */
    private static final ConcurrentHashMap<String, Long> UNKNOWN = new ConcurrentHashMap<>();
    private static final int MAX_UNKNOWN = 1024;
    private static final long UNKNOWN_NANOS = 1_000_000_000;
    /** The keys of threads with the id of another one: a class of the application may say any. */
    private static final AtomicLong OTHERS = new AtomicLong();

    private ThreadCalls() {}

    /** Keeps the call of a thread as long as there is the thread. */
    private static final class Kept extends WeakReference<Thread> {
        private final Call call;
        private final long key;
        /** The name by which {@link #NAMED} has it; null for none. */
        private volatile String named;

        Kept(Thread thread, Call call, long key) {
            super(thread, ENDED);
            this.call = call;
            this.key = key;
        }
    }

    /**
     * A thread that has logged itself: its id in traces, 0 if it was never recorded, and its name.
     */
    record Known(int id, String name) {}

    /**
     * The thread with this Java id; with 0 the one of this name. Null if it has not logged itself.
     */
    static Known known(long threadId, String name) {
        Kept kept = threadId > 0 ? KEPT.get(threadId) : threadId == 0 ? named(name) : null;
        Thread thread = kept == null ? null : kept.get();
        return thread == null ? null : new Known(kept.call.threadId, thread.getName());
    }

    /**
     * The thread of this name. Asked for each event of another logger, so all threads are looked at
     * once a second at most, for a name.
     */
    private static Kept named(String name) {
        Kept known = NAMED.get(name);
        Thread thread = known == null ? null : known.get();
        if (thread != null && thread.getName().equals(name)) {
            return known;
        }
        Long since = UNKNOWN.get(name);
        if (since != null && System.nanoTime() - since < UNKNOWN_NANOS) {
            return null;
        }
        for (Kept each : KEPT.values()) {
            thread = each.get();
            if (thread != null && thread.getName().equals(name)) {
                if (each.named != null) {
                    NAMED.remove(each.named, each);
                }
                each.named = name;
                NAMED.put(name, each);
                return each;
            }
        }
        if (UNKNOWN.size() >= MAX_UNKNOWN) {
            UNKNOWN.clear();
        }
        UNKNOWN.put(name, System.nanoTime());
        return null;
    }

    /** That of the current thread. */
    static Call ofThread() {
        WeakReference<Call> known = OF_THREAD.get();
        Call call = known == null ? null : known.get();
        return call == null ? ofNewThread() : call;
    }

    private static Call ofNewThread() {
        for (Reference<?> ended = ENDED.poll(); ended != null; ended = ENDED.poll()) {
            Kept over = (Kept) ended;
            KEPT.remove(over.key, over);
            if (over.named != null) {
                NAMED.remove(over.named, over);
            }
        }
        Thread thread = Thread.currentThread();
        long id = ThreadIdentity.javaId(thread);
        Kept kept = KEPT.get(id);
        if (kept == null || !kept.refersTo(thread)) {
            Call call = new Call();
            kept = new Kept(thread, call, kept == null ? id : OTHERS.decrementAndGet());
            KEPT.put(kept.key, kept);
            UNKNOWN.remove(thread.getName());
        }
        // Else a pool has erased its thread's locals between two tasks, as Java's common one does.
        OF_THREAD.set(new WeakReference<>(kept.call));
        return kept.call;
    }
}
