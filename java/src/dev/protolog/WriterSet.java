package dev.protolog;

import java.util.Arrays;

/** The writers of one thread, one for each session that it logs to. Only that thread uses it. */
final class WriterSet {
    private TraceWriter[] writers = {};

    /** The thread's writer in {@code session}; null where the session has none to give any more. */
    TraceWriter of(SessionCore session) {
        for (TraceWriter writer : writers) {
            if (writer.session() == session) {
                return writer;
            }
        }
        TraceWriter added = session.newWriter();
        if (added == null) {
            return null;
        }
        // Those of sessions that are over would keep their memory.
        TraceWriter[] kept =
                Arrays.stream(writers).filter(writer -> !writer.session().isStopped()).toArray(TraceWriter[]::new);
        writers = Arrays.copyOf(kept, kept.length + 1);
        writers[kept.length] = added;
        return added;
    }
}
