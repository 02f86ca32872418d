package dev.protolog.internal.session;

import dev.protolog.internal.groups.Filter;
import dev.protolog.internal.process.RuntimeClasses;
import dev.protolog.internal.proto.ProtoWriter;
import dev.protolog.internal.text.LogPrinter;
import dev.protolog.internal.write.CommittedChunk;
import dev.protolog.internal.write.FillPolicy;
import dev.protolog.internal.write.LossCause;
import dev.protolog.internal.write.Losses;
import dev.protolog.internal.write.Sequence;
import dev.protolog.internal.write.SharedBuffer;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * A session whose chunks another part of the process passes on as they are, in place of a file: the
 * forwarder, which has a thread of its own. To its writers it is a session like any other: filter,
 * buffer, losses.
 *
 * <p>Invariants: only the forwarder's thread takes chunks. The dictionary of a message is given
 * before the message, if {@link #newEntries} is asked between {@link #count} and the chunk. A loss
 * is reported once. Whoever ends the session but the forwarder asks it to ({@link #mustEnd}).
 */
public final class ForwardedSession implements ExitingSession {
    private static final int BUFFER = 4 << 20;
    private static final int PAGE = 4096;
    private static final int MAX_STRING = 4096;
    /** The longest that threads within a message are waited for at the end, in nanoseconds. */
    private static final long LONGEST_CALL = 100_000_000;
    private static final long POLL = 1_000_000;
    /**
     * The time in which a call that has begun is likely to be in the session that it has begun for,
     * in nanoseconds.
     */
    private static final long BEGUN_CALL = 5_000_000;
    /** The longest that the end of the JVM waits for a service, in nanoseconds. */
    private static final long LONGEST_EXIT = 30_000_000_000L;

    private final SessionCore core;
    private final Thread forwarder;
    /** The bytes that were passed on. */
    private final LongSupplier progress;
    private final ForwardedDictionary dictionary;
    private final SessionStats.Written counts;
    private final Map<Integer, SequenceReader> readers = new TreeMap<>();
    /** Those of sequences that can't be passed on. */
    private final Map<Integer, SequenceReader> lost = new TreeMap<>();
    private final LostMessages lostMessages;
    private final CountedPackets counted = new CountedPackets();
    /** Losses that packets of the session itself report. */
    private final Losses reported = new Losses();
    private final SharedBuffer.Claim claim = new SharedBuffer.Claim();
    /** The session's own packets that the dictionary has taken. */
    private int ownPackets;
    private volatile boolean mustEnd;
    private boolean isOver;
    /** The messages that are with the forwarder, and that nobody has yet. */
    private volatile LongSupplier unsent = () -> 0;

    /** Counts messages that are passed on, and says which they are. */
    private static final class PassedMessages extends SessionStats.Written {
        private final ForwardedDictionary dictionary;

        PassedMessages(SessionCore core, ForwardedDictionary dictionary) {
            super(core.dictionary());
            this.dictionary = dictionary;
        }

        @Override
        void announce(long message) {
            dictionary.use(message);
        }

        @Override
        long[] find(long message, int slot) {
            announce(message);
            return super.find(message, slot);
        }
    }

    /** Counts packets, and keeps the last one when it is asked to. */
    private static final class CountedPackets implements PacketOutput {
        private long bytes;
        private boolean keeps;
        private byte[] kept;

        @Override
        public void packet(int sequence, byte[] packet, int from, int length) {
            bytes += length;
            if (keeps) {
                kept = new ProtoWriter(length).raw(packet, from, length).done();
            }
        }

        @Override
        public long packetBytes() {
            return bytes;
        }
    }

    private ForwardedSession(SessionCore core, Thread forwarder, LongSupplier progress) {
        this.core = core;
        this.forwarder = forwarder;
        this.progress = progress;
        dictionary = new ForwardedDictionary(core.filter());
        counts = new PassedMessages(core, dictionary);
        lostMessages = new LostMessages(core);
    }

    /**
     * Starts a session.
     *
     * @param waitNanos the longest that a message waits for room; 0 for not at all
     * @param forwarder the thread to wake when the buffer fills
     * @param progress the bytes that it has passed on, of all sessions
     * @param kept a session that {@link #keep} started, in whose place it is; null for none
     * @throws IOException if there is no memory for it
     */
    public static ForwardedSession start(Filter filter, long waitNanos, Thread forwarder, LongSupplier progress, ForwardedSession kept)
            throws IOException {
        ForwardedSession session = new ForwardedSession(core(filter, waitNanos, BUFFER), forwarder, progress);
        SessionCore core = session.core;
        try {
            RuntimeClasses.load();
            core.dictionary().addKnown();
            core.setDrainThread(forwarder);
            core.setStats(session::stats);
            // Before anybody logs to it: the program may end at once.
            AtExit.add(session);
            if (kept == null) {
                Sessions.add(core);
            } else {
                Sessions.replace(kept.core, core);
            }
            // Messages that became known between the two.
            core.dictionary().addKnown();
        } catch (RuntimeException | Error e) {
            if (kept != null) {
                kept.resume(session);
            }
            session.finish();
            throw e;
        }
        return session;
    }

    /**
     * Starts a session that keeps the first messages, for another one. Nobody waits for its end.
     *
     * @param bytes the size of its buffer, at most {@link SettingRange#MAX_BUFFER}
     * @throws IOException if there is no memory for it
     */
    public static ForwardedSession keep(Filter filter, int bytes) throws IOException {
        int pages = (bytes + PAGE - 1) / PAGE;
        ForwardedSession session = new ForwardedSession(core(filter, 0, pages * PAGE), null, () -> 0);
        SessionCore core = session.core;
        try {
            RuntimeClasses.load();
            core.dictionary().addKnown();
            core.setStats(session::stats);
            Sessions.add(core);
            core.dictionary().addKnown();
        } catch (RuntimeException | Error e) {
            session.finish();
            throw e;
        }
        return session;
    }

    private static SessionCore core(Filter filter, long waitNanos, int bufferBytes) throws IOException {
        byte[] id = new byte[16];
        new SecureRandom().nextBytes(id);
        SessionConfig config = new SessionConfig(null, null, filter, FillPolicy.STREAM, bufferBytes, MAX_STRING, false, waitNanos, 0,
                Segments.Limits.NONE, EarlierRuns.Earlier.DEFAULT, EndReport.NONE, List.of(), null, null, null);
        try {
            return new SessionCore(config, id);
        } catch (OutOfMemoryError e) {
            throw new IOException("no memory for a session's buffer", e);
        }
    }

    /** Keeps messages on, in the place of {@code session}, which can't start. */
    public void resume(ForwardedSession session) {
        Sessions.replace(session.core, core);
    }

    /**
     * The messages that {@code kept} has, of which this one has taken the place: those that this
     * one records. Later ones are counted: see {@link #report(KeptMessages)}.
     */
    public synchronized KeptMessages take(ForwardedSession kept) {
        for (long begun = System.nanoTime(); System.nanoTime() - begun < BEGUN_CALL;) {
            LockSupport.parkNanos(POLL);
        }
        kept.core.beginEnd();
        kept.stopWriters();
        follow();
        return new KeptMessages(kept.core, dictionary.excluded(), counts);
    }

    /** Has the session ask for the messages that are with the forwarder, and nobody has yet. */
    public void setUnsent(LongSupplier source) {
        unsent = source;
    }

    /** A packet with the losses of messages that were kept and that none reports; null for none. */
    public synchronized byte[] report(KeptMessages kept) {
        List<Losses.Count> losses = kept.takeLosses();
        core.addLosses(losses);
        return report(losses);
    }

    /** True if chunks should be taken soon: half of the buffer is in use. */
    public boolean isScarce() {
        return core.buffer().isScarce();
    }

    /** Completes the chunks of threads that have ended. */
    public void sweep() {
        core.sweep();
    }

    /** The chunks to pass on, those of each writer in order. */
    public List<CommittedChunk> find(boolean unfinishedToo) {
        List<CommittedChunk> chunks = core.buffer().findAll(unfinishedToo);
        int any = chunks.isEmpty() ? 0 : chunks.get(0).id();
        chunks.sort(Comparator.comparingInt(CommittedChunk::writer).thenComparingInt(chunk -> chunk.id() - any));
        return chunks;
    }

    /** The bytes of a chunk that was found, behind its header. */
    public byte[] bytes(CommittedChunk chunk) {
        return core.buffer().copy(chunk);
    }

    /**
     * Counts what is new of a chunk, before it is passed on. It may be given again, as after an
     * error out of memory. Returns the number of messages.
     */
    public synchronized long count(CommittedChunk chunk, byte[] bytes) throws IOException {
        SequenceReader reader = readers.get(chunk.writer());
        if (reader == null) {
            reader = new SequenceReader(chunk.writer(), core.pid(), counted, counts, false);
            readers.put(chunk.writer(), reader);
        }
        if (reader.hasRead(chunk)) {
            return 0;
        }
        long before = reader.recorded();
        reader.read(chunk, bytes);
        return reader.recorded() - before;
    }

    /** As {@link #count}, of a chunk that can't be passed on: its messages are lost. */
    public synchronized void lose(CommittedChunk chunk, byte[] bytes) throws IOException {
        SequenceReader reader = lost.get(chunk.writer());
        if (reader == null) {
            reader = new SequenceReader(chunk.writer(), core.pid(), new CountedPackets(), lostMessages, false);
            lost.put(chunk.writer(), reader);
        }
        try {
            if (!reader.hasRead(chunk)) {
                reader.read(chunk, bytes);
            }
        } finally {
            lostMessages.report();
        }
    }

    /** Frees a complete chunk, which was passed on. */
    public void free(CommittedChunk chunk) {
        claim.chunk = chunk.chunk();
        core.buffer().free(claim);
    }

    /** The packet that names process and session, with the filter. */
    public byte[] description() {
        return core.packets().get(0);
    }

    /** The dictionary in full, as packets. */
    public synchronized List<byte[]> entries() {
        follow();
        return dictionary.all();
    }

    /**
     * The entries of the dictionary that were in no packet before. Of a large dictionary they are
     * those of messages that were counted.
     */
    public synchronized List<byte[]> newEntries() {
        follow();
        return dictionary.fresh();
    }

    /** An instant, which names a moment of the session. */
    public byte[] instant(String name) {
        return TracePackets.instant(core.pid(), core.clock().moment().boottime(), name);
    }

    /**
     * A packet with the losses of sequences that no packet reports yet; null for none. Those of
     * threads without a sequence come at the end.
     */
    public synchronized byte[] newLosses() {
        Losses all = new Losses();
        for (Sequence sequence : core.sequences()) {
            Losses.Pending pending = sequence.losses.newPending();
            sequence.losses.take(pending);
            pending.addTo(all);
            if (sequence.unreported() != null) {
                Losses.Pending heldBack = sequence.unreported().newPending();
                sequence.unreported().takeButRepeats(heldBack);
                heldBack.addTo(all);
            }
        }
        return report(all.all());
    }

    /** A packet of a sequence with its repeats that no packet reports yet; null for none. */
    public synchronized byte[] newRepeats(int writer) throws IOException {
        SequenceReader reader = readers.get(writer);
        Sequence sequence = core.sequencesById().get(writer);
        Losses unreported = sequence == null ? null : sequence.unreported();
        if (reader == null || unreported == null || unreported.isEmpty()) {
            return null;
        }
        Losses.Pending pending = unreported.newPending();
        unreported.take(pending);
        return keepLast(() -> reader.report(pending));
    }

    /** The last packet of a sequence: its thread, and losses; null where it has no packets. */
    public synchronized byte[] sequenceEnd(int writer) throws IOException {
        SequenceReader reader = readers.get(writer);
        Sequence sequence = core.sequencesById().get(writer);
        if (reader == null) {
            return null;
        }
        Losses.Pending last = Losses.Pending.of(sequence == null ? List.of() : sequence.takeLast());
        return keepLast(() -> reader.end(last));
    }

    private interface PacketSource {
        void write() throws IOException;
    }

    /** The packet that a reader passes on. */
    private byte[] keepLast(PacketSource of) throws IOException {
        counted.kept = null;
        counted.keeps = true;
        try {
            of.write();
        } finally {
            counted.keeps = false;
        }
        return counted.kept;
    }

    /**
     * A packet with all losses that none reports; null for none. After the ends of sequences, and
     * from then on as often as the caller likes.
     */
    public synchronized byte[] lastLosses() {
        return report(core.total().without(known()));
    }

    /**
     * The messages that nobody took: those in the buffer, and those that were dropped and that no
     * packet reports. While threads write, a moment behind.
     */
    public synchronized long missing() {
        long passed = Stream.of(readers, lost).flatMap(all -> all.values().stream()).mapToLong(SequenceReader::recorded).sum();
        long dropped = core.total().without(known()).stream()
                .filter(count -> count.cause().isLost())
                .mapToLong(Losses.Count::count)
                .sum();
        return Math.max(0, core.messages() - passed) + dropped;
    }

    /** Losses that packets report. */
    private Losses known() {
        Losses known = reported.copy();
        readers.values().forEach(reader -> reader.reported().all().forEach(count -> count.addTo(known)));
        return known;
    }

    private byte[] report(List<Losses.Count> losses) {
        if (losses.isEmpty()) {
            return null;
        }
        ProtoWriter packet = new ProtoWriter().varint(8, core.clock().now());
        losses.forEach(count -> count.write(packet));
        losses.forEach(count -> count.addTo(reported));
        return packet.done();
    }

    /** The messages that were passed on, and those that are lost. */
    synchronized SessionStats stats() {
        return counts.stats(core.total().all(), 0, counted.bytes);
    }

    /** True once the process asks for the end of the session. */
    public boolean mustEnd() {
        return mustEnd;
    }

    /**
     * Ends the session for its writers, which may finish the message that they are at. What they
     * wrote is still to be passed on. If the program is ending, later messages are counted.
     */
    public void stopWriters() {
        if (!core.isEnding()) {
            Sessions.remove(core);
        }
        long begun = System.nanoTime();
        while (core.isWriting() && System.nanoTime() - begun < LONGEST_CALL) {
            LockSupport.parkNanos(POLL);
        }
        core.stop();
        core.sweep();
    }

    /** Has no thread wait for the session any more: everything was passed on that can be. */
    public void complete() {
        synchronized (this) {
            isOver = true;
            notifyAll();
        }
        AtExit.remove(this);
    }

    /** Ends the session, wherever it stands. */
    public void finish() {
        Sessions.remove(core);
        core.stop();
        complete();
    }

    @Override
    public long messages() {
        return core.messages();
    }

    @Override
    public void beginEnd() {
        core.beginEnd();
    }

    @Override
    public boolean isWriting() {
        return core.isWriting();
    }

    @Override
    public void stopAtExit() {
        mustEnd = true;
        LockSupport.unpark(forwarder);
        long begun = System.nanoTime();
        synchronized (this) {
            while (!isOver && System.nanoTime() - begun < LONGEST_EXIT) {
                try {
                    wait(POLL / 1_000_000);
                } catch (InterruptedException e) {
                    // Nobody who means it interrupts this thread.
                }
            }
        }
    }

    @Override
    public long progress() {
        return progress.getAsLong();
    }

    @Override
    public void reportStuck() {
        String lacks = "its trace lacks " + (missing() + unsent.getAsLong()) + " messages";
        LogPrinter.problem("can't complete the log for Perfetto's service, which takes nothing any more: " + lacks, "look if `traced` runs");
    }

    private void follow() {
        for (byte[] packet : core.packets(ownPackets)) {
            dictionary.add(packet);
            ownPackets++;
        }
    }
}
