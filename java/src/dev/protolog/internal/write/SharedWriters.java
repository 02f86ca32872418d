package dev.protolog.internal.write;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The writers of a session's virtual threads. There may be millions of these, most with a message
 * or two, so none has a writer or a chunk of its own: each message borrows a writer, which names in
 * its chunk the thread of the next messages.
 *
 * <p>Invariants: a writer is in one place or borrowed, so one thread uses it at a time; the place
 * hands on all that the thread before has written. At most {@value #MAX} writers are kept, one for
 * each message that was written at the same time as others.
 */
public final class SharedWriters {
    private static final int MAX = 64;

    private final WriterOwner session;
    private final AtomicReferenceArray<TraceWriter> free = new AtomicReferenceArray<>(MAX);

    public SharedWriters(WriterOwner session) {
        this.session = session;
    }

    /**
     * Writes the message, or counts it as lost. An error, out of memory or of stack, says that it
     * is neither there nor counted.
     */
    void write(Call call) {
        TraceWriter writer = borrow();
        if (writer == null) {
            session.countUnwritten(null, call.group.id);
            return;
        }
        try {
            if (!writer.write(call)) {
                session.countUnwritten(writer, call.group.id);
            }
        } finally {
            giveBack(writer);
        }
    }

    /** Counts a message that a rule holds back. */
    void holdBack(int group, LossCause cause) {
        TraceWriter writer = borrow();
        if (writer == null) {
            session.holdBack(null, group, cause);
            return;
        }
        session.holdBack(writer.sequence, group, cause);
        giveBack(writer);
    }

    /** Takes a writer for a message; null where there is none. */
    TraceWriter borrow() {
        // Those in use are the first ones: few chunks are begun.
        for (int at = 0; at < MAX; at++) {
            if (free.getPlain(at) != null) {
                TraceWriter writer = free.getAndSet(at, null);
                if (writer != null) {
                    return writer;
                }
            }
        }
        return session.newWriter(true);
    }

    void giveBack(TraceWriter writer) {
        try {
            for (int at = 0; at < MAX; at++) {
                if (free.getPlain(at) == null && free.compareAndSet(at, null, writer)) {
                    return;
                }
            }
            session.remove(writer);
        } catch (OutOfMemoryError | StackOverflowError | LinkageError e) {
            // The message is there or counted. The writer is used no more; the end of the session
            // has its chunk.
        }
    }
}
