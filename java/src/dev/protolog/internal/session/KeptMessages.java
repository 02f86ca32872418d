package dev.protolog.internal.session;

import dev.protolog.internal.proto.ProtoReader;
import dev.protolog.internal.proto.ProtoWriter;
import dev.protolog.internal.write.CommittedChunk;
import dev.protolog.internal.write.LossCause;
import dev.protolog.internal.write.Losses;
import dev.protolog.internal.write.Sequence;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The messages that a session kept which nobody forwarded, on their way to another session: as
 * packets, of each writer in order, without messages that the other one does not record.
 *
 * <p>A message that is left out leaves its time and its strings, in a packet before the next one:
 * later messages count on from the former, and refer to the latter.
 *
 * <p>Invariant: each message is passed on, left out, or counted as lost.
 */
public final class KeptMessages implements PacketOutput {
    private static final int SNAPSHOT = 6;
    private static final int TIMESTAMP = 8;
    private static final int INTERNED = 12;
    private static final int FLAGS = 13;
    private static final int MESSAGE = 104;
    private static final int NEEDS_STATE = 2;

    /** Null once all was passed on, so that the memory of its buffer is free. */
    private SessionCore core;
    /** The counts of its messages and losses, to which late ones come. */
    private final List<Sequence> sequences;
    private final Losses losses;
    private final SessionStats.Written written;
    /** The ids of messages that the other session does not record. */
    private final Set<Long> excluded;
    private final Map<Integer, SequenceReader> readers = new TreeMap<>();
    private final Map<Integer, LeftOut> leftOut = new HashMap<>();
    /** The packets of the chunk that is read, and the messages among them. */
    private final List<byte[]> packets = new ArrayList<>();
    private final List<Message> messages = new ArrayList<>();
    private long bytes;
    /** The losses that were taken, and those that packets report. */
    private final Losses taken = new Losses();
    private final Losses reported = new Losses();
    /** The messages that were passed on, and those that were left out or reported as lost. */
    private long passed;
    private long left;

    /**
     * Takes packets of a writer, and among them so many messages; false where they can't be passed
     * on.
     */
    public interface Target {
        boolean take(int writer, List<byte[]> packets, long messages) throws IOException;
    }

    /** A message that is on its way. */
    private record Message(long id, int length) {}

    /** What messages that were left out leave, on a sequence. */
    private static final class LeftOut {
        private long time;
        private final ProtoWriter strings = new ProtoWriter();
    }

    /**
     * Those of {@code core}, to which nothing comes any more, without messages with these ids.
     * {@code written} counts those that are passed on.
     */
    KeptMessages(SessionCore core, Set<Long> excluded, SessionStats.Written written) {
        this.core = core;
        sequences = core.sequences();
        losses = core.losses();
        this.excluded = excluded;
        this.written = written;
    }

    /** The messages that were not passed on, and the dropped ones that no packet reports. */
    public long missing() {
        long dropped = unreported().stream()
                .filter(count -> count.cause().isLost())
                .mapToLong(Losses.Count::count)
                .sum();
        return lost() + dropped;
    }

    /** The messages that were not passed on, for an error. */
    private long lost() {
        return sequences.stream().mapToLong(sequence -> sequence.messages).sum() - passed - left;
    }

    /** Passes all on, once, until there is an error. */
    public void passOn(List<CommittedChunk> chunks, Target target) throws IOException {
        try {
            passAllOn(chunks, target);
        } finally {
            readers.values().forEach(reader -> reader.reported().all().forEach(count -> count.addTo(reported)));
            readers.clear();
            core = null;
        }
    }

    private void passAllOn(List<CommittedChunk> chunks, Target target) throws IOException {
        SessionStats.Written unused = new SessionStats.Written(core.dictionary());
        for (CommittedChunk chunk : chunks) {
            SequenceReader reader = readers.computeIfAbsent(chunk.writer(), it -> new SequenceReader(it, core.pid(), this, unused, false));
            reader.read(chunk, core.buffer().copy(chunk));
            give(chunk.writer(), target);
        }
        Map<Integer, Sequence> byId = new HashMap<>();
        sequences.forEach(sequence -> byId.put(sequence.id, sequence));
        for (Map.Entry<Integer, SequenceReader> each : readers.entrySet()) {
            Sequence sequence = byId.get(each.getKey());
            List<Losses.Count> last = sequence == null ? List.of() : sequence.takeLast();
            each.getValue().end(Losses.Pending.of(last.stream().filter(count -> !excluded.contains(count.message())).toList()));
            give(each.getKey(), target);
        }
    }

    /** Losses that none of the packets reports, each once. */
    public List<Losses.Count> takeLosses() {
        List<Losses.Count> rest = new ArrayList<>(unreported());
        rest.forEach(count -> count.addTo(taken));
        if (lost() > 0) {
            rest.add(new Losses.Count(0, LossCause.WRITE_FAILED, lost()));
            left += lost();
        }
        return rest;
    }

    private List<Losses.Count> unreported() {
        Losses known = taken.copy();
        reported.all().forEach(count -> count.addTo(known));
        readers.values().forEach(reader -> reader.reported().all().forEach(count -> count.addTo(known)));
        Losses all = losses.copy();
        sequences.forEach(sequence -> sequence.addHeldBackTo(all));
        return all.without(known);
    }

    private void give(int writer, Target target) throws IOException {
        // Whoever takes them writes their texts first.
        messages.forEach(message -> written.announce(message.id));
        if (packets.isEmpty() || target.take(writer, packets, messages.size())) {
            messages.forEach(message -> written.add(message.id, message.length));
            passed += messages.size();
        } else {
            messages.forEach(message -> losses.add(core.dictionary().groupIdOfMessage(message.id), LossCause.BUFFER_FULL, 1));
            left += messages.size();
        }
        messages.clear();
        packets.clear();
    }

    @Override
    public void packet(int sequence, byte[] from, int at, int length) throws IOException {
        LeftOut gap = leftOut.computeIfAbsent(sequence, it -> new LeftOut());
        long time = 0;
        byte[] strings = {};
        boolean isState = false;
        long id = 0;
        boolean isMessage = false;
        boolean isOfExcluded = false;
        byte[] packet = new ProtoWriter(length).raw(from, at, length).done();
        try {
            ProtoReader fields = new ProtoReader(packet);
            while (fields.next()) {
                switch (fields.field()) {
                    case TIMESTAMP -> time = fields.varint();
                    case INTERNED -> strings = fields.bytes();
                    case MESSAGE -> {
                        isMessage = true;
                        id = idOf(fields.message());
                    }
                    case Losses.LOSS -> isOfExcluded |= excluded.contains(Losses.Count.read(Losses.LOSS, fields.message()).message());
                    case SNAPSHOT -> {
                        isState = true;
                        fields.skip();
                    }
                    default -> fields.skip();
                }
            }
        } catch (ProtoReader.MalformedException e) {
            throw new IOException(e);
        }
        if (isMessage && excluded.contains(id)) {
            gap.time += time;
            gap.strings.raw(strings, 0, strings.length);
            left++;
            return;
        }
        if (isOfExcluded) {
            // How often such a message was repeated.
            return;
        }
        if (isState) {
            forget(gap);
        } else if (gap.time > 0 || gap.strings.size() > 0) {
            ProtoWriter before = new ProtoWriter().varint(FLAGS, NEEDS_STATE).varint(TIMESTAMP, gap.time);
            if (gap.strings.size() > 0) {
                before.message(INTERNED, gap.strings);
            }
            packets.add(before.done());
            forget(gap);
        }
        packets.add(packet);
        bytes += length;
        if (isMessage) {
            messages.add(new Message(id, length));
        }
    }

    private static void forget(LeftOut gap) {
        gap.time = 0;
        gap.strings.clear();
    }

    private static long idOf(ProtoReader message) throws ProtoReader.MalformedException {
        long id = 0;
        while (message.next()) {
            if (message.field() == 1) {
                id = message.fixed64();
            } else {
                message.skip();
            }
        }
        return id;
    }

    @Override
    public long packetBytes() {
        return bytes;
    }
}
