package dev.protolog.internal.session;

import dev.protolog.internal.proto.ProtoWriter;
import dev.protolog.internal.text.LogPrinter;
import dev.protolog.internal.write.LossCause;
import dev.protolog.internal.write.Losses;
import dev.protolog.internal.write.Sequence;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The losses of a session that streams: those that its threads count, damaged messages, which count
 * as {@link LossCause#WRITE_FAILED}, and messages of a file that somebody else has emptied, cut or
 * deleted.
 *
 * <p>Invariant: the readers of the sequences know what the trace reports.
 */
final class StreamLosses {
    private final SessionCore session;
    private final Map<Integer, SequenceReader> readersById;
    private final Collection<SequenceReader> readers;
    /**
     * Those that packets of the session itself report, of sequences without packets in the file.
     */
    private Losses ownReported = new Losses();
    /** The messages that somebody else has removed. */
    private long removed;
    /** The losses that the files before report; never changed. */
    private Losses reportedBefore = new Losses();

    StreamLosses(SessionCore session, Map<Integer, SequenceReader> readers) {
        this.session = session;
        readersById = readers;
        this.readers = readers.values();
    }

    /** All losses. */
    List<Losses.Count> all() {
        List<Losses.Count> losses = session.total().all();
        addDamage(losses, readers.stream().mapToLong(SequenceReader::damaged).sum());
        if (removed > 0) {
            losses.add(new Losses.Count(0, LossCause.REMOVED, removed));
        }
        return losses;
    }

    /** The messages that the trace lacks. */
    long lost() {
        return all().stream().filter(loss -> loss.cause().isLost()).mapToLong(Losses.Count::count).sum();
    }

    /** Those that the trace reports. */
    Losses reported() {
        Losses reported = ownReported.copy();
        readers.forEach(reader -> reader.reported().all().forEach(count -> count.addTo(reported)));
        if (removed > 0) {
            reported.add(0, LossCause.REMOVED, removed);
        }
        return reported;
    }

    /** Those that files before the present one report. */
    List<Losses.Count> reportedBefore() {
        return reportedBefore.all();
    }

    /** Later losses are for another file; the one before reports all that there is to report. */
    void beginFile() {
        reportedBefore = reported();
    }

    /** The state that is known here alone, at one time. */
    record State(Losses reportedBefore, long removed, Losses ownReported) {}

    State save() {
        return new State(reportedBefore, removed, ownReported.copy());
    }

    void restore(State state) {
        reportedBefore = state.reportedBefore;
        ownReported = state.ownReported;
        setRemoved(state.removed);
    }

    /**
     * Those of {@code total} that the trace does not report: of no sequence, of threads that found
     * no chunk any more, and those that an error has kept from either.
     */
    List<Losses.Count> unreported(Losses total) {
        List<Losses.Count> losses = total.without(reported());
        addDamage(losses, readers.stream().mapToLong(SequenceReader::unreportedDamage).sum());
        return losses;
    }

    /**
     * The sequences with messages that rules have held back and that no packet reports. Their
     * readers are among those in {@code used}.
     */
    List<Sequence> heldBack(Set<SequenceReader> used) {
        List<Sequence> found = new ArrayList<>();
        for (Sequence sequence : session.sequences()) {
            if (sequence.unreported() != null && !sequence.unreported().isEmpty()) {
                found.add(sequence);
                SequenceReader reader = readersById.get(sequence.id);
                if (reader != null) {
                    used.add(reader);
                }
            }
        }
        return found;
    }

    /**
     * Reports the messages that rules have held back, suppressed ones and repeats with their times:
     * on the sequence, or on the session's own where the file has no packets of it.
     */
    void reportHeldBack(List<Sequence> sequences, TraceOutput out, Set<Integer> inFile, TakenLosses taken) throws IOException {
        for (Sequence sequence : sequences) {
            // Of repeats there is a message, whose chunk is not copied yet.
            Losses.Pending pending = taken.take(sequence.unreported(), inFile.contains(sequence.id));
            if (pending.isEmpty()) {
                continue;
            } else if (inFile.contains(sequence.id)) {
                readersById.get(sequence.id).report(pending);
                continue;
            }
            ProtoWriter packet = new ProtoWriter().varint(8, session.clock().now());
            pending.write(packet);
            pending.addTo(ownReported);
            out.own(packet.done());
        }
    }

    /** Counts the messages of the file as lost that are not left in it. Returns their number. */
    long loseAllBut(Remains remains) {
        long lost = readers.stream().mapToLong(reader -> reader.loseAllBut(remains)).sum();
        setRemoved(removed + lost);
        return lost;
    }

    private void setRemoved(long messages) {
        removed = messages;
        if (session.recording() != null) {
            session.recording().setRemoved(removed);
        }
    }

    /** Those that the file has to report, and that are not among its remains. */
    List<Losses.Count> due(Remains remains) {
        Losses known = reportedBefore.copy();
        remains.reported().all().forEach(count -> count.addTo(known));
        return reported().without(known);
    }

    /** Writes a packet that reports losses, if there are any. */
    void write(TraceOutput out, List<Losses.Count> losses) throws IOException {
        if (losses.isEmpty()) {
            return;
        }
        ProtoWriter packet = new ProtoWriter().varint(8, session.clock().now());
        losses.forEach(count -> count.write(packet));
        out.own(packet.done());
    }

    /**
     * Prints that somebody else has changed the file, which had so many messages; nothing for none.
     */
    void printChange(Path file, String change, long had) {
        if (had > 0) {
            String messages = had == 1 ? "1 message is" : had + " messages are";
            LogPrinter.queue("protolog: `" + file + "` was " + change + " while it was written: " + messages + " not in it any more");
        }
    }

    private static void addDamage(List<Losses.Count> losses, long damaged) {
        if (damaged > 0) {
            losses.add(new Losses.Count(0, LossCause.WRITE_FAILED, damaged));
        }
    }
}
