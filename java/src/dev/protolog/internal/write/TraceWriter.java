package dev.protolog.internal.write;

import static dev.protolog.internal.write.MessageEncoder.HEAD;
import static dev.protolog.internal.write.MessageEncoder.MAX_FAST_HEAD;
import static dev.protolog.internal.write.MessageEncoder.SHORT_DELTA;
import static dev.protolog.internal.write.MessageEncoder.SHORT_PACKET;
import static dev.protolog.internal.write.PageLayout.CHUNK_HEADER;
import static dev.protolog.internal.write.PageLayout.FRAGMENT_SIZE;

import dev.protolog.internal.process.BootClock;
import dev.protolog.internal.process.Origin;
import dev.protolog.internal.process.PassingErrors;
import dev.protolog.internal.process.ThreadIdentity;
import dev.protolog.internal.proto.ProtoWriter;
import dev.protolog.internal.text.Arguments;
import java.lang.ref.WeakReference;

/**
 * One thread's packets in one session. A message's bytes are
 * {@code protolog-rt/src/writer/layout.rs}: they are put together in an array of the thread, copied
 * into its chunk at once, and shown by one release store of the chunk's packet count.
 *
 * <p>Each chunk begins with a packet that sets up all that later ones rest on, so that it can be
 * read alone: clock, thread, an empty table of strings. It comes again where the thread has another
 * name, or is another one. A message that does not fit an empty chunk goes on in the next ones.
 *
 * <p>Invariant: only its thread writes, and nobody else completes its chunk while the thread lives
 * and the session runs.
 */
public final class TraceWriter extends OpenChunk {
    /** The bytes left at the end of a chunk, for the size field of a fragment. */
    private static final int SLACK = FRAGMENT_SIZE;
    /** The size of a packet that was given up. */
    private static final int GIVEN_UP = ProtoWriter.varint4(PageLayout.DROPPED_PACKET_SIZE);
    /** The time without a message after which a thread is one that logs rarely, in nanoseconds. */
    private static final long RARE = 2_000_000;
    /** The end of arguments of which the chunk lacks a string; no packet is that long. */
    private static final int NEW = Integer.MAX_VALUE;

    /** The thread that has the writer; null for one that virtual threads share by turns. */
    private final WeakReference<Thread> thread;
    private final WriterOwner session;
    private final BootClock clock;
    private final ThreadIdentity identity;
    private final MessageEncoder encoder;
    private final StringTable strings;
    private final StatePackets states = new StatePackets();
    final ChunkBytes bytes;
    /** The chunk that was taken last, until it is {@link #chunk}. */
    public final SharedBuffer.Claim claim = new SharedBuffer.Claim();
    private int chunk = SharedBuffer.NONE;
    /** The chunk before, also when it was completed. */
    private int previous = SharedBuffer.NONE;
    private int grown;
    /**
     * The thread and the time of the message, where it is an event of another thread or time; else
     * null.
     */
    private Origin origin;
    /** The moment at which all of several sessions get the message; 0 where there is one. */
    private long moment;
    /** True within a message, and after one that ended in an error. */
    private boolean isWriting;
    /** The track that the chunk describes, of the slices in it; 0 for none. */
    private long track;
    /** The request of the messages that come next; null for none. The chunk says so. */
    private RequestMark request;

    public TraceWriter(WriterOwner session, Sequence sequence, boolean isShared) {
        super(session.buffer(), sequence);
        this.session = session;
        identity = new ThreadIdentity(isShared);
        thread = isShared ? null : new WeakReference<>(Thread.currentThread());
        clock = session.clock();
        bytes = new ChunkBytes(session);
        encoder = new MessageEncoder(session.maxStringBytes());
        strings = encoder.strings;
    }

    /** True once nobody can use the writer any more. */
    public boolean isOver() {
        Thread user = thread == null ? null : thread.get();
        return thread != null && (user == null || !user.isAlive());
    }

    WriterOwner session() {
        return session;
    }

    /**
     * True within a message, as far as another thread can see; also after one that ended in an
     * error.
     */
    public boolean isWriting() {
        return isWriting;
    }

    /**
     * Writes a message, or a slice. False where the buffer has no room. An error, out of memory or
     * of stack, says that it is not there.
     */
    public boolean write(Call call) {
        long messages = sequence.messages;
        try {
            if (isWriting) {
                // The last message ended in an error: its strings may be in the table and not in
                // the chunk.
                finish();
            }
            isWriting = true;
            origin = call.origin;
            moment = call.moment;
            long before = sequence.time;
            boolean isWritten = writeMessage(call);
            if (buffer.isCrowded(sequence.time - before > RARE)) {
                complete();
                grown = 0;
            }
            isWriting = false;
            return isWritten;
        } catch (OutOfMemoryError | StackOverflowError | LinkageError | InternalError e) {
            boolean isShown = call.slice != null ? call.slice.isShown : sequence.messages != messages;
            if (!isShown || e instanceof InternalError && !PassingErrors.isOne(e)) {
                throw e;
            }
            // The error came after the message was shown. The next one does the remaining steps.
            return true;
        }
    }

    private boolean writeMessage(Call call) {
        if (call.request != request || chunk != SharedBuffer.NONE && !identity.isCurrent(origin)) {
            describe(call.request);
        }
        boolean isNew = chunk == SharedBuffer.NONE;
        if (isNew && !begin(0, false)) {
            return session.isOver();
        }
        long now = Math.max(moment != 0 ? moment : origin == null ? clock.now() : clock.at(origin.time()), sequence.time);
        return writeFast(call, now) || writeSlow(call, now, isNew);
    }

    /** Has the chunk, if there is one, say whose the next message is: its thread and request. */
    private void describe(RequestMark next) {
        request = next;
        if (chunk != SharedBuffer.NONE && (isFull() || !(identity.isCurrent(origin) ? writeRequest() : writeState()))) {
            complete();
        }
    }

    private boolean writeSlow(Call call, long from, boolean isNew) {
        if (call.slice != null) {
            return writeSlice(call.slice, from);
        }
        long now = from;
        encoder.measure(call, true);
        if (!append(now, encoder.encode(call))) {
            // In an empty chunk, with all strings anew.
            complete();
            int size = HEAD + encoder.measure(call, false) + encoder.internedSize();
            if (!begin(size, isNew)) {
                return session.isOver();
            }
            now = Math.max(now, sequence.time);
            encoder.measure(call, true);
            int length = encoder.encode(call);
            if (!append(now, length) && !appendSplitInTurn(now, length)) {
                return false;
            }
        }
        if (encoder.isCut()) {
            session.lose(sequence, call.group.id, LossCause.TRUNCATED);
        }
        encoder.trim();
        return true;
    }

    /**
     * Writes the begin or end of a slice, behind a description of its track where the chunk lacks
     * that.
     */
    private boolean writeSlice(Slice slice, long from) {
        long now = from;
        for (boolean isLarge = false;; isLarge = true) {
            byte[] described = track == slice.track ? Slice.NO_TRACK : identity.describeTrack(slice.track, session.pid());
            byte[] packet = slice.at(now - sequence.time);
            if (!isFull() && position + described.length + packet.length + 2 * FRAGMENT_SIZE <= limit) {
                if (described.length > 0) {
                    commit(described, 0, described.length, sequence.time, 0);
                    track = slice.track;
                }
                slice.isShown = true;
                commit(packet, 0, packet.length, now, 0);
                return true;
            }
            complete();
            if (isLarge || !begin(packet.length + 2 * StatePackets.MAX, false)) {
                return session.isOver();
            }
            now = Math.max(now, sequence.time);
        }
    }

    /**
     * Gives back all that the writer has, wherever an error ended its last message. Called by the
     * thread; by others once it has ended.
     */
    public void finish() {
        session.large().end(sequence.id);
        states.losses.giveBack(sequence.losses);
        if (claim.chunk != SharedBuffer.NONE) {
            buffer.giveBack(claim);
        }
        if (chunk != SharedBuffer.NONE) {
            // The packet that was started is none: its message counts as lost. Where it goes on
            // from the chunk before, it is given up.
            boolean isRest = (packets & PageLayout.MAX_PACKETS) == 1 && (packets & PageLayout.CONTINUES) != 0;
            wire.putInt(position, isRest ? GIVEN_UP : 0);
            complete();
        }
    }

    private void complete() {
        if (chunk != SharedBuffer.NONE) {
            session.countMessages(sequence);
            buffer.complete(chunk);
            previous = chunk;
            chunk = SharedBuffer.NONE;
            bytes.giveBack(limit - position);
        }
    }

    /**
     * Encodes a short message straight into the chunk. False where it has a stack trace, a rate or
     * new strings, or little room is left: then nothing has changed but bytes behind the packets.
     * There are stores only: reading bytes in words that were just written one by one would stall.
     */
    private boolean writeFast(Call call, long now) {
        long delta = now - sequence.time;
        int at = position;
        if (at + MAX_FAST_HEAD + call.count * MessageEncoder.MAX_ARGUMENT > limit || delta > SHORT_DELTA || call.stack != null || call.rate != 0
                || isFull()) {
            return false;
        }
        int deltaSize = ProtoWriter.sizeOf(delta);
        int message = at + 2 + deltaSize;
        int next = putArguments(call, message + 4 + Long.BYTES);
        int size = next - at - 1;
        if (size > SHORT_PACKET) {
            return false;
        }
        // Each store may reach into the bytes that the next one writes.
        wire.putLong(at, size | 0x4000 | ProtoWriter.spread(delta, deltaSize) << 16);
        wire.putInt(message, 0x090006c2 | next - message - 3 << 16);
        wire.putLong(message + 4, call.id);
        sequence.time = now;
        commit(next, 1);
        return true;
    }

    /**
     * Writes the arguments, with stores that may reach eight bytes beyond them, and gives the
     * offset after them; of new strings {@link #NEW}.
     */
    private int putArguments(Call call, int from) {
        int at = from;
        long kinds = call.kinds;
        for (int i = 0; i < call.count; i++, kinds >>>= 2) {
            long word = call.words[i];
            switch ((int) kinds & 3) {
                case Arguments.INTEGER -> at = ProtoWriter.putTagged(wire, at, 0x18, word << 1 ^ word >> 63);
                case Arguments.FLOATING -> {
                    wire.put(at, (byte) 0x21);
                    wire.putLong(at + 1, word);
                    at += 1 + Long.BYTES;
                }
                case Arguments.BOOL -> {
                    wire.putShort(at, (short) (0x28 | word << 8));
                    at += 2;
                }
                default -> {
                    int iid = strings.find(call.texts[i]);
                    if (iid == 0) {
                        return NEW;
                    }
                    at = ProtoWriter.putTagged(wire, at, 0x10, iid);
                }
            }
        }
        return at;
    }

    /** Appends the message that was encoded last. False where the chunk has no room for it. */
    private boolean append(long now, int length) {
        long delta = now - sequence.time;
        int from = encoder.putHead(delta, length);
        int end = HEAD + length;
        if (encoder.internedSize() > 0) {
            int whole = encoder.join(delta, from, end);
            if (position + ProtoWriter.sizeOf(whole) + whole > limit) {
                return false;
            }
            commit(encoder.joined(), 0, whole, now, 1);
            return true;
        }
        int size = end - from;
        int begin = from - ProtoWriter.sizeOf(size);
        if (position + end - begin > limit || isFull()) {
            return false;
        }
        ProtoWriter.putVarint(encoder.content, begin, size);
        memory.put(position, encoder.content, begin, end - begin);
        sequence.time = now;
        commit(position + end - begin, 1);
        return true;
    }

    /** As {@link #appendSplit}; in a session that waits for room, one thread after the other. */
    private boolean appendSplitInTurn(long now, int length) {
        if (session.waitNanos() == 0) {
            return appendSplit(now, length);
        }
        if (!session.large().begin(sequence.id, System.nanoTime() + session.waitNanos())) {
            return false;
        }
        boolean isAppended = appendSplit(now, length);
        session.large().end(sequence.id);
        return isAppended;
    }

    /**
     * Appends a message that is larger than a chunk, from the present one on; false where the
     * buffer is full.
     */
    private boolean appendSplit(long now, int length) {
        long delta = now - sequence.time;
        int whole = encoder.join(delta, encoder.putHead(delta, length), HEAD + length);
        byte[] joined = encoder.joined();
        int at = 0;
        while (true) {
            int left = whole - at;
            int size = ProtoWriter.sizeOf(left);
            if (position + size + left <= limit) {
                commit(joined, at, left, now, 1);
                break;
            }
            int take = Math.max(0, Math.min(left, limit - position - FRAGMENT_SIZE));
            memory.put(position + FRAGMENT_SIZE, joined, at, take);
            wire.putInt(position, ProtoWriter.varint4(take));
            int next = acquire(PageLayout.PAGE);
            if (next == SharedBuffer.NONE) {
                wire.putInt(position, GIVEN_UP);
                complete();
                return false;
            }
            buffer.publish(countAt, packets | PageLayout.CONTINUED);
            // Nothing is left of it.
            position = limit;
            complete();
            open(next, PageLayout.CONTINUES);
            at += take;
        }
        // Later messages rely on no other chunk.
        if (!writeState()) {
            complete();
        }
        return true;
    }

    /**
     * Takes a chunk with room for a packet of {@code need} bytes, or the largest there is, and sets
     * it up. {@code isMore}: the message has had a smaller one, for which there were bytes.
     */
    private boolean begin(int need, boolean isMore) {
        int size = need + StatePackets.MAX + (request == null ? 0 : 1 + RequestMark.MAX_PACKET);
        int asked = isMore ? 0 : Math.max(need, PageLayout.chunkSize(layout(size)));
        int taken = bytes.refuses(asked) ? SharedBuffer.NONE : acquire(size);
        if (taken == SharedBuffer.NONE) {
            return false;
        }
        open(taken, 0);
        if (writeState()) {
            return true;
        }
        // Messages rely on that packet.
        complete();
        return false;
    }

    private int acquire(int need) {
        int taken = session.acquire(this, chunk == SharedBuffer.NONE ? previous : chunk, layout(need), StatePackets.MAX + 64);
        if (taken != SharedBuffer.NONE) {
            grown = Math.min(grown + 1, PageLayout.MOST_GROWN);
        }
        return taken;
    }

    private int layout(int need) {
        return PageLayout.layoutAfter(grown, need + CHUNK_HEADER + SLACK + FRAGMENT_SIZE);
    }

    private void open(int taken, int flags) {
        buffer.begin(taken, sequence.id, sequence.nextChunk);
        position = SharedBuffer.at(taken) + CHUNK_HEADER;
        limit = SharedBuffer.end(taken) - SLACK;
        bytes.take(limit - position);
        countAt = SharedBuffer.at(taken) + PageLayout.PACKETS_AT;
        packets = flags;
        strings.clear();
        track = 0;
        commit(position, 0);
        chunk = taken;
        claim.chunk = SharedBuffer.NONE;
        sequence.nextChunk++;
    }

    /**
     * Writes the packet that a chunk begins with, or that names another thread, and that of the
     * request. False where there is no room for them.
     */
    private boolean writeState() {
        long now = Math.max(moment != 0 ? moment : origin == null ? clock.follow() : clock.at(origin.time()), sequence.time);
        int shown = packets;
        try {
            ProtoWriter state = states.encode(session, sequence, identity, origin, now);
            if (position + ProtoWriter.sizeOf(state.size()) + state.size() > limit) {
                return false;
            }
            strings.clear();
            commit(state.array(), 0, state.size(), now, 0);
        } finally {
            if (packets != shown) {
                // Reported. No call, for which there may be no stack.
                states.losses.end = 0;
            } else {
                // No room, or an error before the packet was shown.
                states.losses.giveBack(sequence.losses);
            }
        }
        return request == null || writeRequest();
    }

    /** Writes the packet that names the request. False where there is no room for it. */
    private boolean writeRequest() {
        byte[] packet = RequestMark.packet(request);
        boolean hasRoom = hasRoom(packet);
        if (hasRoom) {
            commit(packet, 0, packet.length, sequence.time, 0);
        }
        return hasRoom;
    }

    /**
     * Writes a short packet without a message, of this request. False where there is no room for
     * it.
     */
    boolean append(byte[] packet, RequestMark of) {
        boolean isTried = false;
        int shown = 0;
        try {
            if (isWriting) {
                finish();
            }
            isWriting = true;
            if (of != request) {
                describe(of);
            }
            if (chunk == SharedBuffer.NONE || !hasRoom(packet)) {
                complete();
                begin(packet.length, false);
            }
            if (chunk != SharedBuffer.NONE && hasRoom(packet)) {
                shown = packets;
                isTried = true;
                commit(packet, 0, packet.length, sequence.time, 0);
            }
            isWriting = false;
        } catch (OutOfMemoryError | StackOverflowError | LinkageError e) {
            // The next message does the remaining steps.
        }
        return isTried && packets != shown;
    }
}
