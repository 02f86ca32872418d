package dev.protolog;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;

/**
 * The losses of a session that streams: those that its threads count, damaged messages, and messages of a file that somebody else has emptied. The
 * last two count as {@link LossCause#WRITE_FAILED}.
 *
 * <p>Invariant: the readers of the sequences know what the trace reports.
 */
final class StreamLosses {
    private final SessionCore session;
    private final Collection<SequenceReader> readers;

    StreamLosses(SessionCore session, Collection<SequenceReader> readers) {
        this.session = session;
        this.readers = readers;
    }

    /** All losses. */
    List<Losses.Count> all() {
        List<Losses.Count> losses = session.total().all();
        addDamage(losses, readers.stream().mapToLong(SequenceReader::damaged).sum());
        return losses;
    }

    /** The messages that the trace lacks. */
    long lost() {
        return all().stream().filter(loss -> loss.cause() != LossCause.TRUNCATED).mapToLong(Losses.Count::count).sum();
    }

    /** Those that the trace reports. */
    Losses reported() {
        Losses reported = new Losses();
        readers.forEach(reader -> reader.reported().all().forEach(count -> count.addTo(reported)));
        return reported;
    }

    /** Those of {@code total} that the trace does not report: of no sequence, of threads that found no chunk any more, and what an error has kept from either. */
    List<Losses.Count> unreported(Losses total) {
        List<Losses.Count> losses = total.without(reported());
        addDamage(losses, readers.stream().mapToLong(SequenceReader::unreportedDamage).sum());
        return losses;
    }

    /** Counts all messages that the file has as lost. Returns their number. */
    long loseAll() {
        long had = readers.stream().mapToLong(SequenceReader::recorded).sum();
        readers.forEach(SequenceReader::loseAll);
        return had;
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

    /** Prints that somebody else has emptied the file, which had so many messages. */
    void printCut(Path file, long had) {
        String messages = had == 1 ? "1 message is" : had + " messages are";
        LogPrinter.queue("protolog: `" + file + "` was emptied or cut while it was written: " + messages + " not in it any more");
    }

    private static void addDamage(List<Losses.Count> losses, long damaged) {
        if (damaged > 0) {
            losses.add(new Losses.Count(0, LossCause.WRITE_FAILED, damaged));
        }
    }
}
