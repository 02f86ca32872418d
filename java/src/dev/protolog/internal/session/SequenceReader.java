package dev.protolog.internal.session;

import dev.protolog.internal.proto.ProtoReader;
import dev.protolog.internal.proto.ProtoWriter;
import dev.protolog.internal.write.CommittedChunk;
import dev.protolog.internal.write.LossCause;
import dev.protolog.internal.write.Losses;
import dev.protolog.internal.write.PageLayout;
import dev.protolog.internal.write.RequestMark;
import dev.protolog.internal.write.SequenceState;
import dev.protolog.internal.write.TraceWriter;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Reads one sequence from copies of its chunks, oldest first, and passes its packets on, whole
 * again. It may be given more of a chunk later, as its writer goes on.
 *
 * <p>Where the trace is divided into files, a file that has the rest of a chunk begins with a
 * packet that sets up once more the state of the chunk so far: clock, thread, strings.
 *
 * <p>Invariants: a packet is passed on once, and counted once, also where an error out of memory
 * ends a call and the chunk is given again. Where messages of a ring are missing, that is said
 * before the next packet. Damaged packets, to which others have written, are left out and counted.
 */
final class SequenceReader {
    private static final VarHandle ID = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    /** The bit of a position of which the file lacks the state. */
    private static final long STALE = 1 << 16;
    /** The most bytes of a state without strings. */
    private static final int MAX_STATE = 320;

    private final int sequence;
    private final int pid;
    private final boolean followsState;
    private PacketOutput out;
    private final SessionStats.Written counts;
    /** Messages that were passed on or reported as missing or damaged. */
    private long messages;
    private long recorded;
    /** Those of the files before. */
    private long recordedBefore;
    private boolean hasBegun;
    /** The chunk that is read, or the one that comes next. */
    private int current;
    /** The packets of it that were passed on. */
    private int done;
    /** The beginning of a packet that goes on in the next chunk. */
    private byte[] partial;
    /** Where that packet begins, as {@link #position}. */
    private long partialAt;
    private byte[] thread = {};
    /** The time of the last packet, and the strings of its chunk; where the state is followed. */
    private long time;
    private ProtoWriter interned = new ProtoWriter();
    /** What the chunk's last mark says of a request; null before the first. */
    private byte[] request;
    /** The file lacks the state. */
    private boolean isStale;
    /** The state was not followed, and has to be read once more from the chunk. */
    private boolean isStateUnknown;
    /** Losses that the trace reports. */
    private Losses reported = new Losses();
    /** Packets that were damaged, and those of them that the trace reports. */
    private long damaged;
    private long reportedDamage;

    /** A reader's state between two chunks, which nothing changes. */
    record State(PacketOutput out, long messages, long recorded, long recordedBefore, boolean hasBegun, int current, int done, byte[] partial, long partialAt,
            byte[] thread, long time, ProtoWriter interned, byte[] request, boolean isStale, Losses reported, long damaged, long reportedDamage) {}

    /** {@code followsState}: the trace is divided into files. */
    SequenceReader(int writer, int pid, PacketOutput out, SessionStats.Written counts, boolean followsState) {
        this.followsState = followsState;
        sequence = writer + TraceOutput.OWN;
        this.pid = pid;
        this.out = out;
        this.counts = counts;
    }

    long messages() {
        return messages;
    }

    /** The messages that are in the trace. */
    long recorded() {
        return recorded;
    }

    /**
     * The next place to read: the id of a chunk in the upper half, the number of its packets that
     * were passed on in the lower.
     */
    long position() {
        long position = partial != null ? partialAt : position(current, done);
        return isStale && (position & 0xffff) > 0 ? position | STALE : position;
    }

    State save() {
        ProtoWriter strings = new ProtoWriter(interned.size()).raw(interned.array(), 0, interned.size());
        return new State(out, messages, recorded, recordedBefore, hasBegun, current, done, partial, partialAt, thread, time, strings,
                request, isStale, reported.copy(), damaged, reportedDamage);
    }

    /** Goes back to a state, which is used up. */
    void restore(State state) {
        out = state.out;
        messages = state.messages;
        recorded = state.recorded;
        recordedBefore = state.recordedBefore;
        hasBegun = state.hasBegun;
        current = state.current;
        done = state.done;
        partial = state.partial;
        partialAt = state.partialAt;
        thread = state.thread;
        time = state.time;
        interned = state.interned;
        request = state.request;
        isStale = state.isStale;
        isStateUnknown = isStale && !followsState;
        reported = state.reported;
        damaged = state.damaged;
        reportedDamage = state.reportedDamage;
    }

    /** Goes on in another file, which has nothing of the sequence yet. */
    void continueIn(PacketOutput next) {
        out = next;
        isStale = hasBegun && (done > 0 || partial != null);
        isStateUnknown = isStale && !followsState;
    }

    /** Later packets are for another file than the ones before. */
    void beginFile() {
        recordedBefore = recorded;
    }

    /**
     * Counts the messages that were passed on to the present file as lost, but for those that are
     * left in it. Returns their number.
     */
    long loseAllBut(Remains remains) {
        long lost = Math.max(0, recorded - recordedBefore - remains.messages(sequence));
        recorded -= lost;
        return lost;
    }

    /**
     * The most bytes that come before those of the next chunk: the state that the file lacks, and
     * the beginning of a packet.
     */
    int pendingSize() {
        return (isStale ? interned.size() + MAX_STATE : 0) + (partial == null ? 0 : partial.length);
    }

    /** Losses that the files of the trace report. */
    Losses reported() {
        return reported;
    }

    /** The packets that were damaged. */
    long damaged() {
        return damaged;
    }

    /** Those that the trace does not report yet. */
    long unreportedDamage() {
        return damaged - reportedDamage;
    }

    private static long position(int chunk, int packets) {
        return (long) chunk << 32 | packets;
    }

    /** True of a complete chunk that was read to its end. */
    boolean hasRead(CommittedChunk chunk) {
        return hasBegun && chunk.id() - current < 0;
    }

    /** Reads the committed packets of a chunk; {@code bytes} are those of the chunk. */
    void read(CommittedChunk chunk, byte[] bytes) throws IOException {
        if (!hasBegun || chunk.id() != current) {
            done = 0;
            partial = null;
        }
        if (!chunk.continues()) {
            // This is the beginning of a message that an error ended.
            partial = null;
        }
        hasBegun = true;
        current = chunk.id();
        if (isStateUnknown) {
            interned.clear();
            request = null;
        }
        int at = 0;
        for (int number = 0; number < chunk.count(); number++) {
            long size = 0;
            int shift = 0;
            byte next = -1;
            while (next < 0 && shift < 28 && at < bytes.length) {
                next = bytes[at++];
                size |= (long) (next & 0x7f) << shift;
                shift += 7;
            }
            if (size > bytes.length - at) {
                partial = null;
                if (size != PageLayout.DROPPED_PACKET_SIZE) {
                    skipDamaged(chunk, number);
                }
                // Else its writer gave it up, and has counted it.
                break;
            }
            int from = at;
            at += (int) size;
            if (number < done && isStateUnknown && at > from) {
                follow(bytes, from, at);
            }
            if (number >= done) {
                boolean isContinued = number + 1 == chunk.count() && chunk.isContinued();
                try {
                    if (isContinued || number == 0 && chunk.continues()) {
                        part(chunk, number, Arrays.copyOfRange(bytes, from, at));
                    } else if (at > from) {
                        packet(bytes, from, at);
                    }
                } catch (ProtoReader.MalformedException e) {
                    partial = null;
                    if (number == 0 && !chunk.continues()) {
                        // Others rely on the packet that the chunk begins with.
                        skipDamaged(chunk, 0);
                        break;
                    }
                    addDamaged(1);
                }
                done = number + 1;
            }
        }
        if (chunk.isComplete()) {
            current = chunk.id() + 1;
            done = 0;
        }
    }

    /**
     * Counts the packets of a chunk from {@code number} on as damaged, once each. A complete chunk
     * ends with an empty one.
     */
    private void skipDamaged(CommittedChunk chunk, int number) {
        int end = chunk.isComplete() ? chunk.count() - 1 : chunk.count();
        int first = Math.max(number == 0 && !chunk.continues() ? 1 : number, done);
        addDamaged(Math.max(0, end - first));
        done = Math.max(done, chunk.count());
    }

    private void addDamaged(int packets) {
        damaged += packets;
        messages += packets;
    }

    /**
     * Names the thread once more, in Perfetto's terms and in ours; and reports losses since the
     * last chunk.
     */
    void end(Losses.Pending losses) throws IOException {
        if (thread.length == 0) {
            return;
        }
        try {
            ProtoWriter descriptor = new ProtoWriter().varint(1, pid);
            ProtoReader info = new ProtoReader(thread);
            while (info.next()) {
                switch (info.field()) {
                    case 2 -> descriptor.varint(2, info.varint());
                    case 3 -> descriptor.bytes(5, info.bytes());
                    default -> info.skip();
                }
            }
            ProtoWriter packet = new ProtoWriter().varint(13, 1).message(44, descriptor).bytes(1000, thread);
            losses.write(packet);
            losses.addTo(reported);
            if (damaged > reportedDamage) {
                Losses.Count loss = new Losses.Count(0, LossCause.WRITE_FAILED, damaged - reportedDamage);
                loss.write(packet);
                loss.addTo(reported);
                reportedDamage = damaged;
            }
            out.packet(sequence, packet.done());
        } catch (ProtoReader.MalformedException e) {
            throw new IOException(e);
        }
    }

    /** Reports losses where the sequence is now. */
    void report(Losses.Pending losses) throws IOException {
        ProtoWriter packet = new ProtoWriter();
        losses.write(packet);
        losses.addTo(reported);
        out.packet(sequence, packet.done());
    }

    private void part(CommittedChunk chunk, int number, byte[] bytes) throws IOException, ProtoReader.MalformedException {
        boolean continues = number == 0 && chunk.continues();
        if (continues && partial == null) {
            return;
        }
        byte[] whole = bytes;
        if (continues) {
            whole = Arrays.copyOf(partial, partial.length + bytes.length);
            System.arraycopy(bytes, 0, whole, partial.length, bytes.length);
        }
        if (number + 1 == chunk.count() && chunk.isContinued()) {
            partialAt = continues ? partialAt : position(chunk.id(), number);
            partial = whole;
            return;
        }
        if (whole.length > 0) {
            packet(whole, 0, whole.length);
        }
        // Not before: after an error out of memory the packet is read again.
        partial = null;
    }

    private void packet(byte[] bytes, int from, int to) throws IOException, ProtoReader.MalformedException {
        if (isOnlyMessage(bytes, from, to)) {
            if (followsState || isStale) {
                writeStaleState();
                time += varint(bytes, from + 1);
            }
            write(bytes, from, to, true, idOf(bytes, from), reported);
            return;
        }
        SequencePacket packet = SequencePacket.read(bytes, from, to);
        Losses known = reported;
        if (!packet.losses().isEmpty()) {
            known = reported.copy();
            for (Losses.Count loss : packet.losses()) {
                loss.addTo(known);
            }
        }
        if (packet.info() != null) {
            begin(packet.info(), packet.clock());
            isStale = false;
            isStateUnknown = false;
            clear(packet);
        } else if (followsState || isStale) {
            writeStaleState();
            follow(packet);
        }
        write(bytes, from, to, packet.isMessage(), packet.message(), known);
    }

    /** Takes the state from a packet that was passed on before. */
    private void follow(byte[] bytes, int from, int to) {
        try {
            SequencePacket packet = SequencePacket.read(bytes, from, to);
            if (packet.info() != null) {
                clear(packet);
            } else {
                follow(packet);
            }
        } catch (ProtoReader.MalformedException e) {
            // Counted before.
        }
    }

    /** Begins the state anew with a packet that sets it up. */
    private void clear(SequencePacket packet) {
        interned.clear();
        request = null;
        time = packet.clock();
    }

    private void follow(SequencePacket packet) {
        time += packet.delta();
        request = packet.request() != null ? packet.request() : request;
        if (packet.strings() != null) {
            interned.raw(packet.strings(), 0, packet.strings().length);
        }
    }

    /**
     * Passes a packet on, with which the trace reports {@code losses}. It is counted last: after an
     * error out of memory it is read again.
     */
    private void write(byte[] bytes, int from, int to, boolean isMessage, long message, Losses losses) throws IOException {
        long[] of = isMessage ? counts.of(message) : null;
        long before = out.packetBytes();
        out.packet(sequence, bytes, from, to - from);
        long size = out.packetBytes() - before;
        // Nothing is called from here on.
        reported = losses;
        if (of != null) {
            of[0]++;
            of[1] += size;
            messages++;
            recorded++;
        }
    }

    /** Writes the state of the chunk once more, for a file that has its rest. */
    private void writeStaleState() throws IOException {
        if (!isStale) {
            return;
        }
        isStale = false;
        isStateUnknown = false;
        ProtoWriter state = SequenceState.begin(time).bytes(1000, thread);
        if (interned.size() > 0) {
            state.message(12, interned);
        }
        out.packet(sequence, state.done());
        if (request != null) {
            out.packet(sequence, new ProtoWriter().bytes(RequestMark.REQUEST, request).done());
        }
    }

    private static long varint(byte[] bytes, int at) {
        long value = 0;
        for (int shift = 0;; shift += 7) {
            value |= (long) (bytes[at] & 0x7f) << shift;
            if (bytes[at++] >= 0) {
                return value;
            }
        }
    }

    /** The id of a message that {@link #isOnlyMessage} is true of. */
    private static long idOf(byte[] bytes, int from) {
        int at = from + 1;
        while (bytes[at] < 0) {
            at++;
        }
        at += 3;
        while (bytes[at] < 0) {
            at++;
        }
        return (long) ID.get(bytes, at + 2);
    }

    /**
     * True of most packets: they are a time and a message without new strings, as
     * {@link TraceWriter} begins them.
     */
    private static boolean isOnlyMessage(byte[] bytes, int from, int to) {
        int at = from + 1;
        while (at < to && bytes[at] < 0) {
            at++;
        }
        // The message begins with its id.
        int message = at + 4;
        while (message < to && bytes[message - 1] < 0) {
            message++;
        }
        return bytes[from] == 0x40 && message + Long.BYTES < to && bytes[at + 1] == (byte) 0xc2 && bytes[at + 2] == 0x06
                && bytes[message] == 0x09;
    }

    /** Notes the thread, and reports messages that are missing before. */
    private void begin(byte[] info, long time) throws ProtoReader.MalformedException, IOException {
        ProtoWriter names = new ProtoWriter();
        long before = -1;
        ProtoReader fields = new ProtoReader(info);
        while (fields.next()) {
            switch (fields.field()) {
                case 1, 2 -> names.varint(fields.field(), fields.varint());
                case 3 -> names.bytes(3, fields.bytes());
                case 4 -> before = fields.varint();
                default -> fields.skip();
            }
        }
        thread = names.done();
        if (before > messages) {
            ProtoWriter gap = new ProtoWriter().varint(8, time).varint(13, 1).varint(42, 1).bytes(1000, thread);
            new Losses.Count(0, LossCause.OVERWRITTEN, before - messages).write(gap);
            out.packet(sequence, gap.done());
            messages = before;
        }
    }
}
