package dev.protolog.internal.write;

import dev.protolog.internal.process.BootClock;
import dev.protolog.internal.process.ThreadIdentity;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * The causes of a session's triggers. Any number of threads may fire at once, and one file comes of
 * it. As {@code protolog-rt/src/session/arbiter/causes.rs}.
 *
 * <p>Invariant: to fire takes no lock, but for the first event of a name, and throws nothing.
 */
public final class Causes {
    /**
     * The causes that a session has beside those it was started with; the last is for all others.
     */
    private static final int NAMED = 32;
    /** The most characters of a cause. */
    private static final int MAX_NAME = 64;
    private static final String OTHERS = "other causes";

    private final List<Cause> all = new ArrayList<>();
    /** Those that wait for messages. */
    private final Cause[] watching;
    private final BootClock clock = new BootClock();
    /** The thread that writes files. */
    private volatile Thread thread;
    private volatile boolean isStopping;

    /** A cause that a session is started with. */
    public record Known(String name, CauseCondition condition) {}

    public Causes(List<Known> known) {
        known.forEach(it -> all.add(new Cause(cut(it.name), it.condition)));
        watching = all.stream().filter(it -> it.condition != CauseCondition.UNCAUGHT).toArray(Cause[]::new);
        for (int i = 0; i < NAMED; i++) {
            all.add(new Cause(null, CauseCondition.NAMED));
        }
    }

    /** All causes, of which some have no name yet. */
    public List<Cause> all() {
        return all;
    }

    public void setThread(Thread writer) {
        thread = writer;
    }

    /** Fires the cause of this name. True if it makes a file. */
    public boolean fire(String name) {
        String wanted = cut(name);
        Cause last = all.get(all.size() - 1);
        // By their places, here and below: an iterator takes memory, which may be what is short.
        for (int i = 0; i < all.size(); i++) {
            Cause cause = all.get(i);
            if (cause != last && cause.take(wanted)) {
                return fire(cause);
            }
        }
        last.take(OTHERS);
        return fire(last);
    }

    /** Fires the causes that stand for exceptions that nobody catches. */
    public void fireUncaught() {
        for (int i = 0; i < all.size(); i++) {
            if (all.get(i).condition == CauseCondition.UNCAUGHT) {
                fire(all.get(i));
            }
        }
    }

    /** Fires the causes of a message that was written. */
    void fire(Call call) {
        try {
            for (Cause cause : watching) {
                if (cause.condition.takes(call)) {
                    fire(cause);
                }
            }
        } catch (RuntimeException | OutOfMemoryError | StackOverflowError | LinkageError e) {
            // The message is there. Its trigger waits for the next one.
        }
    }

    /** Has the thread write what has fired, and end. */
    public void stop() {
        isStopping = true;
        LockSupport.unpark(thread);
    }

    public boolean isStopping() {
        return isStopping;
    }

    /** Has none fire any more but those that have fired: nobody writes files from here on. */
    public void close() {
        all.forEach(Cause::close);
    }

    private boolean fire(Cause cause) {
        boolean isFirst = cause.fire(clock.now(), ThreadIdentity.currentId());
        if (isFirst) {
            LockSupport.unpark(thread);
        }
        return isFirst;
    }

    private static String cut(String name) {
        int end = Math.min(name.length(), MAX_NAME);
        return name.substring(0, end > 0 && Character.isHighSurrogate(name.charAt(end - 1)) ? end - 1 : end);
    }
}
