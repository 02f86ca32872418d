package dev.protolog.internal.session;

import dev.protolog.internal.process.BootClock;
import dev.protolog.internal.process.RuntimeThread;
import dev.protolog.internal.text.LogPrinter;
import dev.protolog.internal.write.Cause;
import dev.protolog.internal.write.Causes;
import dev.protolog.internal.write.EventKey;
import dev.protolog.internal.write.FailedRequests;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * The thread of a session with triggers: from a cause that fired to its file. The ring is copied
 * when the cause fires, and after a while once more; then both copies are written. An interval
 * after it fired, the cause may fire again. As {@code
 * protolog-rt/src/session/trigger/trigger_thread.rs}.
 *
 * <p>Invariants: the copies of at most {@value #MOST_COPIES} moments wait in memory; causes beyond
 * that share the newest one. An error of a file is counted, and ends nothing.
 */
final class TriggerThread implements Runnable {
    private static final int MOST_COPIES = 4;
    /** The wait after an error, and the most of them while the session stops. */
    private static final long RETRY_NANOS = 20_000_000;
    private static final int MOST_FAILED = 50;

    private final SessionCore session;
    private final Causes causes;
    private final TriggerFiles files;
    private final TriggerSettings settings;
    private final State[] states;
    private final Thread thread;
    private boolean hasWarned;

    /** The state of a cause, as the thread sees it. */
    private static final class State {
        /** Null for one that is idle, or whose file is written. */
        Cause.Event open;
        /** When it was seen, and the wall clock at the event, in nanoseconds. */
        long opened;
        long wall;
        /** The programs that were told; null for none. */
        FamilyCall call;
        /** What was there when it fired, and since when. */
        RingCopy earlier;
        long since;
        /** It may fire again at this time; 0 where it may. */
        long rearmAt;
        /** The suppressed events that its files report. */
        long reported;
    }

    TriggerThread(SessionCore session, TriggerFiles files, TriggerSettings settings) throws IOException {
        this.session = session;
        this.files = files;
        this.settings = settings;
        causes = session.causes();
        states = new State[causes.all().size()];
        for (int i = 0; i < states.length; i++) {
            states[i] = new State();
        }
        thread = RuntimeThread.daemon(this, "protolog trigger");
        causes.setThread(thread);
        RuntimeThread.start(thread);
    }

    /** Has what fired written, and waits for that. It may be called again. */
    void end() {
        causes.stop();
        boolean isInterrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                isInterrupted = true;
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void run() {
        int failed = 0;
        while (true) {
            try {
                if (round()) {
                    return;
                }
                failed = 0;
            } catch (RuntimeException | Error e) {
                // Memory that is short is there again later. What waits for the end waits no longer
                // than a while.
                failed++;
                if (causes.isStopping() && failed > MOST_FAILED) {
                    return;
                }
                LockSupport.parkNanos(RETRY_NANOS);
            }
        }
    }

    /** From what fired to its files, and the wait for more. True once the session stops. */
    private boolean round() {
        // Before the causes, which fired before.
        boolean isStopping = causes.isStopping();
        if (isStopping) {
            rearmRequests();
            causes.close();
        }
        open();
        writeDue(isStopping);
        if (!isStopping) {
            // An interrupt of all threads of a program does not mean this one.
            Thread.interrupted();
            long left = rearm();
            if (left == Long.MAX_VALUE) {
                LockSupport.park(this);
            } else {
                LockSupport.parkNanos(this, Math.max(1, left));
            }
        }
        return isStopping;
    }

    /** Copies what the ring has for each cause that has just fired. */
    private void open() {
        List<Cause> all = causes.all();
        RingCopy copy = null;
        long from = 0;
        long since = 0;
        for (int i = 0; i < states.length; i++) {
            Cause.Event event = all.get(i).event();
            State state = states[i];
            if (event == null || state.open != null || state.rearmAt != 0) {
                continue;
            }
            // One copy for all, unless a file goes back further than the others.
            long wanted = Math.max(0, event.time() - before(event));
            if (copy == null || wanted < from) {
                from = wanted;
                since = wanted;
                State newest = newestOfMany();
                try {
                    copy = newest != null ? newest.earlier : RingCopy.of(session, since);
                    since = newest != null ? newest.since : Math.max(since, copy.limit(settings.beforeBytes()));
                } catch (IOException | RuntimeException | Error e) {
                    // The file has what is there when it is written.
                    copy = RingCopy.NONE;
                }
            }
            state.earlier = copy;
            state.since = since;
            state.opened = session.clock().now();
            // To the nanosecond: others know two events apart by that.
            state.wall = event.wall() != 0 ? event.wall() : BootClock.wall() - Math.max(0, state.opened - event.time());
            state.open = event;
            state.call = tellFamily(all.get(i), event, state.wall);
        }
    }

    /** Tells other programs of an event that was here; null where there is nobody to tell. */
    private FamilyCall tellFamily(Cause cause, Cause.Event event, long wall) {
        if (settings.family() == null || event.origin() != Cause.Event.HERE) {
            return null;
        }
        try {
            return FamilyCall.of(session, settings.family(), EventKey.of(wall, cause.name()), new Cause.Window(before(event), after(event)));
        } catch (RuntimeException | Error e) {
            // The file of this program is written all the same.
            return null;
        }
    }

    /** The time before an event that its file has. */
    private long before(Cause.Event event) {
        return event.window() == null ? settings.before() : event.window().before();
    }

    /** The time after it. */
    private long after(Cause.Event event) {
        return event.window() == null ? settings.after() : event.window().after();
    }

    /** The newest of the copies that wait, if no more may; else null. */
    private State newestOfMany() {
        State newest = null;
        int copies = 0;
        for (int i = 0; i < states.length; i++) {
            State state = states[i];
            boolean isFirst = state.open != null;
            for (int j = 0; j < i && isFirst; j++) {
                isFirst = states[j].earlier != state.earlier;
            }
            copies += isFirst ? 1 : 0;
            newest = state.open != null && (newest == null || state.open.time() > newest.open.time()) ? state : newest;
        }
        return copies >= MOST_COPIES ? newest : null;
    }

    /** Writes the files that are due; all of them, if it is {@code atOnce}. */
    private void writeDue(boolean atOnce) {
        for (int i = 0; i < states.length; i++) {
            State state = states[i];
            if (state.open == null || !atOnce && session.clock().now() < state.open.time() + after(state.open)) {
                continue;
            }
            Cause cause = causes.all().get(i);
            boolean isWritten = false;
            long suppressed = cause.suppressed();
            try {
                // Before the copy, which so has all that they logged before they failed. Those
                // that came after another one are in the file, too.
                FailedRequests.Taken failed = cause.isOfRequests() ? causes.failedRequests().take() : null;
                ChunkSource chunks = RingCopy.now(session, state.since, state.earlier);
                files.write(cause.name(), state.open, state.wall / 1_000_000, failed != null ? 0 : suppressed - state.reported, chunks, failed);
                state.reported = suppressed;
                isWritten = true;
            } catch (IOException | RuntimeException | Error e) {
                warn(cause, e);
            }
            cause.count(isWritten);
            state.rearmAt = state.opened + Math.max(settings.interval(), after(state.open));
            report(state.call);
            state.call = null;
            state.open = null;
            state.earlier = null;
        }
    }

    /**
     * Has requests that failed since their last file in one more, since no later one will be: the
     * session ends.
     */
    private void rearmRequests() {
        for (int i = 0; i < states.length; i++) {
            Cause cause = causes.all().get(i);
            if (cause.isOfRequests() && states[i].rearmAt != 0) {
                states[i].rearmAt = 0;
                rearm(cause);
            }
        }
    }

    /** Lets a cause fire again. One of requests does so at once if some have failed meanwhile. */
    private void rearm(Cause cause) {
        cause.rearm();
        causes.fireWaiting(cause);
    }

    /** Lets causes fire again whose interval is over. The time until there is something to do. */
    private long rearm() {
        long left = Long.MAX_VALUE;
        long now = session.clock().now();
        for (int i = 0; i < states.length; i++) {
            State state = states[i];
            if (state.open != null) {
                left = Math.min(left, state.open.time() + after(state.open) - now);
            } else if (state.rearmAt != 0 && state.rearmAt <= now) {
                state.rearmAt = 0;
                rearm(causes.all().get(i));
                left = causes.all().get(i).event() != null ? 0 : left;
            } else if (state.rearmAt != 0) {
                left = Math.min(left, state.rearmAt - now);
            }
        }
        return left;
    }

    /** Says which programs have not answered. */
    private static void report(FamilyCall call) {
        try {
            String text = call == null ? null : call.end();
            if (text != null) {
                LogPrinter.queue(text);
            }
        } catch (RuntimeException | Error e) {
            // It is said of the next event.
        }
    }

    /** Says once that a file could not be written. */
    private void warn(Cause cause, Throwable error) {
        if (!hasWarned) {
            hasWarned = true;
            try {
                LogPrinter.queue("protolog: can't write the file of the trigger `" + cause.name() + "`: " + error.getMessage()
                        + "\nhelp: see Session.triggerCounts()");
            } catch (RuntimeException | Error e) {
                // It is counted.
            }
        }
    }
}
