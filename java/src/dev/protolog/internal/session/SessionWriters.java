package dev.protolog.internal.session;

import dev.protolog.internal.write.Sequence;
import dev.protolog.internal.write.TraceWriter;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * The writers of a buffer, and their sequences.
 *
 * <p>Invariant: a sequence has one writer; that of a thread that has ended may get another one.
 */
final class SessionWriters {
    /**
     * Ended sequences that are kept before the oldest is used again, so that traces rarely mix
     * threads.
     */
    private static final int MAX_ENDED = 1024;
    /** The number of writers after which ended threads are looked for. */
    private static final int SWEEP = 64;

    private final SessionCore session;
    /** The ids of writers that there may be: those after the first number, up to the second. */
    private final int before;
    private final int last;
    private final List<TraceWriter> writers = new ArrayList<>();
    /**
     * Sequences of ended threads, the oldest first. No queue: one that can't grow would forget its
     * elements.
     */
    private final List<Sequence> ended = new ArrayList<>();
    private int sequences;
    /**
     * A writer that may lack its place among the others: an error came while it got one. Null for
     * none.
     */
    private TraceWriter added;
    private int sweepAt = SWEEP;

    SessionWriters(SessionCore session, int before, int last) {
        this.session = session;
        this.before = before;
        this.last = last;
    }

    /** True while a thread is within a message, as far as this one can see. */
    synchronized boolean areWriting() {
        return writers.stream().anyMatch(TraceWriter::isWriting);
    }

    /** The messages of all threads, a moment behind. */
    synchronized long messages() {
        long all = 0;
        for (int i = 0; i < writers.size(); i++) {
            all += writers.get(i).sequence.messages;
        }
        for (int i = 0; i < ended.size(); i++) {
            all += ended.get(i).messages;
        }
        return all;
    }

    /** As {@code WriterOwner.newWriter}. */
    synchronized TraceWriter newWriter(boolean isShared) {
        if (session.isStopped()) {
            return null;
        }
        finishAdding();
        if (writers.size() >= sweepAt) {
            sweep();
            sweepAt = Math.max(SWEEP, 2 * writers.size());
        }
        boolean isNew = ended.size() <= MAX_ENDED && before + sequences < last;
        if (!isNew && ended.isEmpty()) {
            return null;
        }
        Sequence sequence = isNew ? new Sequence(before + sequences + 1) : ended.get(0);
        sequence.beginThread();
        TraceWriter writer = new TraceWriter(session, sequence, isShared);
        // No call in between: a sequence always has its place, even after an error.
        added = writer;
        sequences += isNew ? 1 : 0;
        finishAdding();
        return writer;
    }

    /** Those of all writers so far. */
    synchronized List<Sequence> sequences() {
        finishAdding();
        List<Sequence> all = new ArrayList<>(ended);
        writers.forEach(writer -> all.add(writer.sequence));
        return all;
    }

    /** Completes the chunks of threads that have ended, and takes their sequences back. */
    synchronized void sweep() {
        finishAdding();
        for (Iterator<TraceWriter> all = writers.iterator(); all.hasNext();) {
            TraceWriter writer = all.next();
            if (writer.isOver()) {
                end(writer);
                all.remove();
            }
        }
    }

    /** Ends a writer that nobody uses. */
    synchronized void remove(TraceWriter writer) {
        finishAdding();
        end(writer);
        writers.remove(writer);
    }

    private void finishAdding() {
        if (added != null) {
            ended.remove(added.sequence);
            if (writers.isEmpty() || writers.get(writers.size() - 1) != added) {
                writers.add(added);
            }
            added = null;
        }
    }

    private void end(TraceWriter writer) {
        writer.finish();
        ended.add(writer.sequence);
    }
}
