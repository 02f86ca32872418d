package dev.protolog;

import static dev.protolog.PageLayout.CHUNK_HEADER;
import static dev.protolog.PageLayout.FRAGMENT_SIZE;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * One thread's packets in one session. A message's bytes are {@code protolog-rt/src/writer/layout.rs}: they are put together in an
 * array of the thread, copied into its chunk at once, and shown by one release store of the chunk's packet count.
 *
 * <p>Each chunk begins with a packet that sets up all that later ones rest on, so that it can be read alone: clock, thread, an empty
 * table of strings. A message that does not fit an empty chunk goes on in the next ones.
 *
 * <p>Invariants: only its thread writes, and nobody else completes its chunk while the thread lives and the session runs. The count includes
 * the packet that was started last, whose size is 0.
 */
final class TraceWriter {
    /** The layouts of a thread's first chunks; the last one stays. */
    private static final int[] GROWTH = {PageLayout.FOURTEEN, PageLayout.FOUR, PageLayout.ONE};
    /** The bytes that are left at the end of a chunk, for the size field of a fragment. */
    private static final int SLACK = FRAGMENT_SIZE;
    private static final int MAX_STATE = 128;
    /** Room before the content of a message, for what is known after it. */
    private static final int HEAD = 32;
    /** The most bytes of an argument that is no string: its tag and itself. */
    private static final int MAX_ARGUMENT = 11;
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    final WeakReference<Thread> thread = new WeakReference<>(Thread.currentThread());
    final Sequence sequence;

    private final SessionCore session;
    private final SharedBuffer buffer;
    private final ByteBuffer memory;
    private final BootClock clock;
    private final StringTable strings = new StringTable();
    private final ThreadIdentity identity = new ThreadIdentity();
    private final byte[] content = new byte[HEAD + 16 + Call.MAX * MAX_ARGUMENT];
    /** The new strings of the message. */
    private byte[] interned = new byte[256];
    private int internedSize;

    private int chunk = SharedBuffer.NONE;
    /** The chunk before, also when it was completed. */
    private int previous = SharedBuffer.NONE;
    private int grown;
    /** Where the packet that was started last has its size. */
    private int position;
    private int limit;
    private int countAt;
    private int packets;
    /** Truncated strings of the message. */
    private int cut;
    /** True within a message, and after one that ended in an error. */
    private boolean isWriting;

    TraceWriter(SessionCore session, Sequence sequence) {
        this.session = session;
        this.sequence = sequence;
        buffer = session.buffer();
        memory = buffer.memory();
        clock = session.clock();
    }

    SessionCore session() {
        return session;
    }

    /** Writes a message. False where the buffer has no room. */
    boolean write(Call call) {
        if (isWriting) {
            // The last message ended in an error, out of memory or of stack: its strings may be in the table and not in the chunk.
            complete();
        }
        isWriting = true;
        boolean isWritten = writeMessage(call);
        isWriting = false;
        return isWritten;
    }

    private boolean writeMessage(Call call) {
        long now = Math.max(clock.now(), sequence.time);
        if (chunk == SharedBuffer.NONE && !begin(0)) {
            return session.isStopped();
        }
        int length = encode(call, true);
        if (!append(now, length)) {
            // In an empty chunk, with all strings anew.
            complete();
            int size = HEAD + encode(call, false) + internedSize;
            if (!begin(size)) {
                return session.isStopped();
            }
            now = Math.max(now, sequence.time);
            length = encode(call, true);
            if (!append(now, length) && !appendSplit(now, length)) {
                return false;
            }
        }
        sequence.messages++;
        if (cut > 0) {
            session.lose(sequence, call.group.id, LossCause.TRUNCATED);
        }
        return true;
    }

    /** Completes the chunk. Called by the thread; by others once it has ended, or the session stopped. */
    void complete() {
        if (chunk != SharedBuffer.NONE) {
            previous = chunk;
            chunk = SharedBuffer.NONE;
            session.countMessages(sequence);
            buffer.complete(previous);
        }
    }

    /** Encodes the message but for its head into {@link #content}, and new strings into {@link #interned}. */
    private int encode(Call call, boolean isRemembered) {
        internedSize = 0;
        cut = 0;
        byte[] to = content;
        int at = HEAD;
        to[at++] = 0x09;
        LONG.set(to, at, call.id);
        at += 8;
        long kinds = call.kinds;
        for (int i = 0; i < call.count; i++, kinds >>>= 2) {
            long word = call.words[i];
            switch ((int) kinds & 3) {
                case Call.INTEGER -> {
                    to[at++] = 0x18;
                    at = ProtoWriter.putVarint(to, at, word << 1 ^ word >> 63);
                }
                case Call.FLOATING -> {
                    to[at++] = 0x21;
                    LONG.set(to, at, word);
                    at += 8;
                }
                case Call.BOOL -> {
                    to[at++] = 0x28;
                    to[at++] = (byte) word;
                }
                default -> {
                    to[at++] = 0x10;
                    at = ProtoWriter.putVarint(to, at, intern(call.texts[i], isRemembered));
                }
            }
        }
        return at - HEAD;
    }

    private int intern(String text, boolean isRemembered) {
        int known = isRemembered ? strings.find(text) : 0;
        if (known != 0) {
            return known;
        }
        int iid = strings.add(text, isRemembered);
        int length = Utf8.length(text);
        int kept = Math.min(length, session.maxStringBytes());
        cut += kept < length ? 1 : 0;
        int most = internedSize + kept + 32;
        if (most > interned.length) {
            interned = Arrays.copyOf(interned, 2 * most);
        }
        // The text after the longest head, then moved to where its head ends.
        int size = Utf8.put(text, interned, internedSize + 16, kept, kept < length);
        int inner = 1 + ProtoWriter.sizeOf(iid) + 1 + ProtoWriter.sizeOf(size) + size;
        int at = internedSize;
        int from = at + 16;
        interned[at++] = (byte) 0xa2;
        interned[at++] = 0x02;
        at = ProtoWriter.putVarint(interned, at, inner);
        interned[at++] = 0x08;
        at = ProtoWriter.putVarint(interned, at, iid);
        interned[at++] = 0x12;
        at = ProtoWriter.putVarint(interned, at, size);
        System.arraycopy(interned, from, interned, at, size);
        internedSize = at + size;
        return iid;
    }

    /** Puts the head of the packet before its content, and gives where it begins. Without strings the packet is in one piece. */
    private int putHead(long delta, int length) {
        int tail = 2 + ProtoWriter.sizeOf(length);
        int at = HEAD - tail;
        content[at] = (byte) 0xc2;
        content[at + 1] = 0x06;
        ProtoWriter.putVarint(content, at + 2, length);
        if (internedSize > 0) {
            at -= 2;
            content[at] = 0x68;
            content[at + 1] = 0x02;
            return at;
        }
        at -= 1 + ProtoWriter.sizeOf(delta);
        content[at] = 0x40;
        ProtoWriter.putVarint(content, at + 1, delta);
        return at;
    }

    /** Appends the message that was encoded last. False where the chunk has no room for it. */
    private boolean append(long now, int length) {
        long delta = now - sequence.time;
        int from = putHead(delta, length);
        int end = HEAD + length;
        if (internedSize > 0) {
            byte[] packet = join(delta, from, end);
            int at = position;
            if (at + ProtoWriter.sizeOf(packet.length) + packet.length > limit) {
                return false;
            }
            commit(packet, now);
            return true;
        }
        int size = end - from;
        int begin = from - ProtoWriter.sizeOf(size);
        if (position + end - begin > limit || isFull()) {
            return false;
        }
        ProtoWriter.putVarint(content, begin, size);
        memory.put(position, content, begin, end - begin);
        sequence.time = now;
        startNext(position + end - begin);
        return true;
    }

    /** The packet of a message with new strings. */
    private byte[] join(long delta, int from, int end) {
        int strings = 1 + ProtoWriter.sizeOf(internedSize);
        byte[] packet = new byte[1 + ProtoWriter.sizeOf(delta) + strings + internedSize + end - from];
        packet[0] = 0x40;
        int at = ProtoWriter.putVarint(packet, 1, delta);
        packet[at++] = 0x62;
        at = ProtoWriter.putVarint(packet, at, internedSize);
        System.arraycopy(interned, 0, packet, at, internedSize);
        System.arraycopy(content, from, packet, at + internedSize, end - from);
        return packet;
    }

    /** Appends a packet for which the chunk has room. */
    private void commit(byte[] packet, long now) {
        byte[] size = new byte[5];
        int length = ProtoWriter.putVarint(size, 0, packet.length);
        memory.put(position, size, 0, length);
        memory.put(position + length, packet);
        sequence.time = now;
        startNext(position + length + packet.length);
    }

    /** Appends a message that is larger than a chunk, from the present one on; false where the buffer is full. */
    private boolean appendSplit(long now, int length) {
        long delta = now - sequence.time;
        int from = putHead(delta, length);
        byte[] packet = join(delta, from, HEAD + length);
        int at = 0;
        while (true) {
            int left = packet.length - at;
            int size = ProtoWriter.sizeOf(left);
            if (position + size + left <= limit) {
                byte[] rest = Arrays.copyOfRange(packet, at, packet.length);
                commit(rest, now);
                break;
            }
            int take = Math.max(0, Math.min(left, limit - position - FRAGMENT_SIZE));
            byte[] head = new byte[FRAGMENT_SIZE];
            ProtoWriter.putVarint4(head, 0, take);
            memory.put(position + FRAGMENT_SIZE, packet, at, take);
            memory.put(position, head);
            int next = acquire(PageLayout.PAGE);
            if (next == SharedBuffer.NONE) {
                ProtoWriter.putVarint4(head, 0, PageLayout.DROPPED_PACKET_SIZE);
                memory.put(position, head);
                complete();
                return false;
            }
            buffer.publish(countAt, packets | PageLayout.CONTINUED);
            complete();
            open(next, PageLayout.CONTINUES);
            at += take;
        }
        // Later messages rely on no other chunk.
        sequence.messages++;
        if (!writeState()) {
            complete();
        }
        sequence.messages--;
        return true;
    }

    /** Takes a chunk with room for a packet of {@code need} bytes, or the largest there is, and sets it up. */
    private boolean begin(int need) {
        int taken = acquire(need + MAX_STATE);
        if (taken == SharedBuffer.NONE) {
            return false;
        }
        open(taken, 0);
        return writeState();
    }

    private int acquire(int need) {
        int wanted = grown;
        while (wanted < GROWTH.length - 1
                && PageLayout.chunkSize(GROWTH[wanted]) < need + CHUNK_HEADER + SLACK + FRAGMENT_SIZE) {
            wanted++;
        }
        int taken = session.acquire(this, chunk == SharedBuffer.NONE ? previous : chunk, GROWTH[wanted], MAX_STATE + 64);
        if (taken != SharedBuffer.NONE) {
            grown = Math.min(grown + 1, GROWTH.length - 1);
        }
        return taken;
    }

    private void open(int taken, int flags) {
        chunk = taken;
        int at = SharedBuffer.at(taken);
        buffer.begin(taken, sequence.id, sequence.nextChunk++);
        position = at + CHUNK_HEADER;
        limit = SharedBuffer.end(taken) - SLACK;
        countAt = at + PageLayout.PACKETS_AT;
        packets = flags;
        strings.clear();
        startNext(position);
    }

    /** Ends the started packet before {@code at}, and starts the next one there. */
    private void startNext(int at) {
        memory.put(at, (byte) 0);
        position = at;
        packets++;
        buffer.publish(countAt, packets);
        buffer.check(countAt, packets);
    }

    private boolean isFull() {
        return (packets & PageLayout.MAX_PACKETS) >= PageLayout.MAX_PACKETS - 2;
    }

    /** Writes the packet that a chunk begins with. False where there is no room for it. */
    private boolean writeState() {
        long now = Math.max(clock.follow(), sequence.time);
        ProtoWriter sequenceClock = new ProtoWriter().varint(1, 64).varint(2, now).varint(3, 1);
        ProtoWriter boottime = new ProtoWriter().varint(1, 6).varint(2, now);
        ProtoWriter state = new ProtoWriter(2 * MAX_STATE)
                .message(6, new ProtoWriter().message(1, sequenceClock).message(1, boottime))
                .varint(13, 1);
        Losses.Pending losses = session.takeLosses(sequence);
        if (losses.hasDropped()) {
            state.varint(42, 1);
        }
        state.message(59, new ProtoWriter().varint(58, 64));
        ProtoWriter info = identity.describe(session.pid());
        if (session.isRing()) {
            info.varint(4, sequence.messages);
        }
        state.message(1000, info);
        losses.write(state);
        byte[] packet = state.done();
        if (position + ProtoWriter.sizeOf(packet.length) + packet.length > limit) {
            losses.giveBack();
            return false;
        }
        strings.clear();
        commit(packet, now);
        return true;
    }
}
