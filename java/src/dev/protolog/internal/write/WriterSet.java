package dev.protolog.internal.write;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;

/**
 * The writers of one thread, one for each session that it logs to. Only that thread uses it.
 *
 * <p>Invariant: nothing here keeps a writer, and with it the buffer of its session: a session has
 * its writers until it is over, and a thread may never log again.
 */
final class WriterSet {
    private Entry[] entries = {};

    private static final class Entry extends WeakReference<TraceWriter> {
        Entry(TraceWriter writer) {
            super(writer);
        }
    }

    /** The thread's writer in {@code session}; null where the session has none to give any more. */
    TraceWriter of(WriterOwner session) {
        for (Entry entry : entries) {
            TraceWriter writer = entry.get();
            if (writer != null && writer.session() == session) {
                return writer;
            }
        }
        TraceWriter added = session.newWriter(false);
        if (added == null) {
            return null;
        }
        List<Entry> kept = new ArrayList<>();
        for (Entry entry : entries) {
            TraceWriter writer = entry.get();
            if (writer != null && !writer.session().isStopped()) {
                kept.add(entry);
            }
        }
        kept.add(new Entry(added));
        entries = kept.toArray(Entry[]::new);
        return added;
    }

    /** Has each writer say how often a message was repeated, before another one of its call. */
    void reportRepeats(int group, long message, RequestMark request) {
        for (Entry entry : entries) {
            TraceWriter writer = entry.get();
            if (writer != null) {
                RepeatRecord.report(writer, group, message, request);
            }
        }
    }
}
