package dev.protolog.internal.write;

import dev.protolog.internal.process.BootClock;
import dev.protolog.internal.process.PassingErrors;
import dev.protolog.internal.process.ThreadIdentity;

/**
 * The writers of one thread's call. A message of one session gets the time at which its writer
 * reads the clock. Where there may be several, the writers are found first, and then the clock is
 * read once for all of them: readers of their traces know the message by its time.
 *
 * <p>Invariants: only the thread uses it. The moment of several sessions is later than all that
 * their writers have, so it is the time that each trace has; the writers that virtual threads share
 * are borrowed until all have the message, so that nobody else writes to them meanwhile.
 */
final class CallWriters {
    private static final TraceWriter[] NONE = {};

    private final boolean isVirtual = ThreadIdentity.isVirtual();
    private final WriterSet own = new WriterSet();
    /** The writers of events of other threads or times; null without any. */
    private EventWriters events;
    /** Those that a message of several sessions has borrowed, by the session's number. */
    private TraceWriter[] borrowed = NONE;

    /** True if the thread is a virtual one. */
    boolean isVirtual() {
        return isVirtual;
    }

    /** Those of the thread's own messages. */
    WriterSet own() {
        return own;
    }

    /**
     * Finds the writers in the sessions that record one of these levels, and gives the moment at
     * which all of them get the message. {@link #release} ends it.
     */
    long begin(Call call, SessionRoutes routes, int levels) {
        // Left by an error.
        release();
        if (isVirtual) {
            borrowed = new TraceWriter[routes.sessions.length];
        }
        long last = 0;
        for (int i = 0; i < routes.sessions.length; i++) {
            WriterOwner session = session(call, routes, i);
            if ((routes.levels[i] & levels) != 0 && !session.isEnding()) {
                TraceWriter writer = findFirst(call, session);
                if (isVirtual) {
                    borrowed[i] = writer;
                }
                last = writer == null ? last : Math.max(last, writer.sequence.time);
            }
        }
        BootClock clock = BootClock.ofProcess();
        return Math.max(call.origin == null ? clock.follow() : clock.at(call.origin.time()), last + 1);
    }

    /** Writes the call to the session of this number, or counts it as lost. */
    void write(Call call, SessionRoutes routes, int number) {
        WriterOwner session = session(call, routes, number);
        if (session.isEnding()) {
            call.forgetMessage();
            session.lose(null, call.group.id, LossCause.WRITE_FAILED);
            return;
        }
        try {
            if (isVirtual && call.moment == 0) {
                session.shared().write(call);
                return;
            }
            TraceWriter writer = isVirtual ? borrowed[number] : find(call, session);
            if (writer == null || !writer.write(call)) {
                call.forgetMessage();
                session.countUnwritten(writer, call.group.id);
            }
        } catch (InternalError e) {
            fail(session, e);
        }
    }

    /** Gives back what a message of several sessions has borrowed. */
    void release() {
        for (int i = 0; i < borrowed.length; i++) {
            if (borrowed[i] != null) {
                TraceWriter writer = borrowed[i];
                borrowed[i] = null;
                writer.session().shared().giveBack(writer);
            }
        }
        borrowed = NONE;
    }

    /** The same after an error. If there is another one, the next message does it. */
    void releaseRest() {
        if (borrowed != NONE) {
            try {
                release();
            } catch (StackOverflowError | OutOfMemoryError | LinkageError e) {
                // See above.
            }
        }
    }

    /** The session of this number. No begin and no end of a span is pinned. */
    private static WriterOwner session(Call call, SessionRoutes routes, int number) {
        WriterOwner session = routes.sessions[number];
        return call.slice == null ? session : session.usual();
    }

    /** As {@link #find}; null, too, where the session's memory can't be used. */
    private TraceWriter findFirst(Call call, WriterOwner session) {
        try {
            return find(call, session);
        } catch (InternalError e) {
            fail(session, e);
            return null;
        }
    }

    private static void fail(WriterOwner session, InternalError error) {
        if (PassingErrors.isOne(error)) {
            throw error;
        }
        // The file that is mapped was truncated, or its disk is full.
        session.fail(error);
    }

    private TraceWriter find(Call call, WriterOwner session) {
        if (isVirtual) {
            return session.shared().borrow();
        }
        if (call.threadId == 0) {
            call.threadId = ThreadIdentity.currentId();
        }
        if (call.origin == null) {
            return own.of(session);
        }
        if (events == null) {
            events = new EventWriters();
        }
        return events.of(call.origin.threadId()).of(session);
    }
}
