package dev.protolog.internal.write;

import dev.protolog.internal.process.BootClock;
import dev.protolog.internal.process.ThreadIdentity;
import java.time.Instant;
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
    /**
     * The longest time between an event of another program and this one's clock, in nanoseconds:
     * what is further away is a mistake, or a clock that was set.
     */
    private static final long MOST_APART = 600_000_000_000L;
    private static final int MOST_JOINED = 16;

    private final List<Cause> all = new ArrayList<>();
    /** Those that wait for messages. */
    private final Cause[] watching;
    private final FailedRequests failed = new FailedRequests();
    private final BootClock clock = BootClock.ofProcess();
    /** The family of programs that have files of each other's events; null for none. */
    private final String family;
    /** The times of the last events of other processes that came, by which each is known again. */
    private final long[] joined = new long[MOST_JOINED];
    private int nextJoined;
    /** The thread that writes files. */
    private volatile Thread thread;
    private volatile boolean isStopping;

    /** A cause that a session is started with. */
    public record Known(String name, CauseCondition condition) {}

    public Causes(List<Known> known, String family) {
        this.family = family;
        known.forEach(it -> all.add(new Cause(cut(it.name), it.condition)));
        watching = all.stream().filter(it -> it.condition != CauseCondition.UNCAUGHT && !it.isOfRequests()).toArray(Cause[]::new);
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

    public String family() {
        return family;
    }

    /** Fires the cause of this name. True if it makes a file. */
    public boolean fire(String name) {
        return fire(name, Cause.Event.now(clock.now(), ThreadIdentity.currentId()));
    }

    /**
     * True if it is the last event of a cause that others know, too: of each event one file is
     * made, whoever tells of it. Its time alone says so.
     */
    public boolean hasEvent(EventKey key) {
        return key.nanos() != 0 && all.stream().anyMatch(cause -> cause.wall() == key.nanos());
    }

    /**
     * Fires the cause of an event of which others are told. True if it makes a file; not for one
     * that is known here.
     */
    public boolean fire(String name, EventKey key) {
        if (hasEvent(key)) {
            return false;
        }
        Cause.Event event = eventOf(key, ThreadIdentity.currentId(), Cause.Event.HERE, null);
        return event != null && fire(name, event);
    }

    /**
     * Fires the cause that stands for an event of another process. True if it makes a file, of
     * {@code window} if that is not null; never for one whose time is not near, or that is known
     * here.
     */
    public boolean join(EventKey key, long pid, Cause.Window window) {
        // Who told of it may tell again, for runtimes that know less.
        if (hasJoined(key.nanos()) || hasEvent(key)) {
            return false;
        }
        Cause.Event event = eventOf(key, 0, pid, window);
        return event != null && fire("joined " + key.cause(), event);
    }

    /** True if the event of this time has come before; it is noted. */
    private synchronized boolean hasJoined(long nanos) {
        for (long known : joined) {
            if (known == nanos) {
                return true;
            }
        }
        joined[nextJoined] = nanos;
        nextJoined = (nextJoined + 1) % MOST_JOINED;
        return false;
    }

    private Cause.Event eventOf(EventKey key, int on, long origin, Cause.Window window) {
        Instant now = Instant.now();
        long ago = now.getEpochSecond() * 1_000_000_000 + now.getNano() - key.nanos();
        // The clock of another machine may be ahead, and no file waits for that.
        return Math.abs(ago) > MOST_APART ? null : new Cause.Event(clock.now() - Math.max(0, ago), on, key.nanos(), origin, window);
    }

    private boolean fire(String name, Cause.Event event) {
        String wanted = cut(name);
        Cause last = all.get(all.size() - 1);
        // By their places, here and below: an iterator takes memory, which may be what is short.
        for (int i = 0; i < all.size(); i++) {
            Cause cause = all.get(i);
            // What somebody names is no request: its file has all messages.
            if (cause != last && !cause.isOfRequests() && cause.take(wanted)) {
                return fire(cause, event);
            }
        }
        last.take(OTHERS);
        return fire(last, event);
    }

    /** Fires the causes that stand for exceptions that nobody catches. */
    public void fireUncaught() {
        for (int i = 0; i < all.size(); i++) {
            if (all.get(i).condition == CauseCondition.UNCAUGHT) {
                fire(all.get(i));
            }
        }
    }

    /**
     * Fires the cause that stands for failed requests, if there is one; not for a request that has
     * failed before. Takes a lock.
     */
    public void fireRequest(RequestMark request, String reason) {
        for (int i = 0; i < all.size(); i++) {
            if (all.get(i).isOfRequests()) {
                Cause.Event now = Cause.Event.now(clock.now(), ThreadIdentity.currentId());
                if (failed.add(new FailedRequest(request.number, request.id, reason, now.time(), now.thread()))) {
                    fire(all.get(i), now);
                }
                return;
            }
        }
    }

    /** The requests that have failed, and are in no file yet. */
    public FailedRequests failedRequests() {
        return failed;
    }

    /** Fires a cause that is idle again, if it stands for requests and some wait for a file. */
    public void fireWaiting(Cause cause) {
        long time = cause.isOfRequests() ? failed.first() : 0;
        if (time != 0) {
            cause.fire(Cause.Event.now(time, ThreadIdentity.currentId()));
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

    private void fire(Cause cause) {
        fire(cause, Cause.Event.now(clock.now(), ThreadIdentity.currentId()));
    }

    private boolean fire(Cause cause, Cause.Event event) {
        boolean isFirst = cause.fire(event);
        if (isFirst) {
            LockSupport.unpark(thread);
        }
        return isFirst;
    }

    /**
     * The beginning of a name that is too long. One without characters is that of files without a
     * cause.
     */
    private static String cut(String name) {
        if (name.isBlank()) {
            return "trigger";
        }
        int end = Math.min(name.length(), MAX_NAME);
        return name.substring(0, end > 0 && Character.isHighSurrogate(name.charAt(end - 1)) ? end - 1 : end);
    }
}
