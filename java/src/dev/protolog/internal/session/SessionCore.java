package dev.protolog.internal.session;

import dev.protolog.internal.dictionary.SessionDictionary;
import dev.protolog.internal.process.PassingErrors;
import dev.protolog.internal.rules.ByteLimit;
import dev.protolog.internal.write.Causes;
import dev.protolog.internal.write.FillPolicy;
import dev.protolog.internal.write.LossCause;
import dev.protolog.internal.write.Losses;
import dev.protolog.internal.write.PageLayout;
import dev.protolog.internal.write.Sequence;
import dev.protolog.internal.write.SharedBuffer;
import dev.protolog.internal.write.TraceWriter;
import dev.protolog.internal.write.WriterOwner;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * The part of a session that writers use: filter, buffer, clock, sequences, losses. A session that
 * pins messages has a second one for these. The two share all but buffer and writers, whose ids
 * are of different ranges: so a trace takes the chunks of both as those of one buffer.
 *
 * <p>Invariant: a loss is counted once, in the recording at once.
 */
public final class SessionCore extends WriterOwner {
    /** Null for none. */
    private final Path file;
    private final SharedBuffer buffer;
    /** That of the messages that are pinned; null for none. */
    private final SessionCore pinned;
    private final PinnedMessages pins;
    /** The limit of bytes that the program has set; null for none. */
    private final ByteLimit ownLimit;
    /** The session, if this is that of its pinned messages; else null. */
    private final SessionCore session;
    /** Null where the buffer ends with the process. */
    private final Recording recording;
    private final FillPolicy policy;
    /** The longest time that a message waits for a chunk, in nanoseconds. */
    private final long waitNanos;
    private final int maxStringBytes;
    private final SessionDictionary dictionary;
    /** The session's own packets so far; of a recording they are in the file, too. */
    private final List<byte[]> packets = new ArrayList<>();

    private final SessionWriters writers;
    /** All losses of the session. */
    private final Losses total;
    /** The thread to wake up when the buffer fills; null for none. */
    private volatile Thread drainThread;
    /**
     * The chunks that had been freed when a message waited in vain: others don't wait until there
     * are more. -1 where none did.
     */
    private volatile long stuckAt = -1;
    private volatile Callable<SessionStats> stats;
    /** True once the program ends: messages are counted only. */
    private volatile boolean isEnding;
    private volatile boolean isStopped;
    /** Counts messages after the end of the trace; null before, and where nothing counts them. */
    private volatile AfterEnd afterEnd;
    private volatile Throwable failure;

    SessionCore(SessionConfig config, byte[] id) throws IOException {
        super(config.filter(), config.triggers() == null ? null : new Causes(config.triggers().causes(), config.triggers().family()));
        file = config.file();
        policy = config.policy();
        waitNanos = config.waitNanos();
        maxStringBytes = config.maxStringBytes();
        dictionary = new SessionDictionary(this::addPacket, config.hasLocations());
        recording = record(config, id);
        buffer = new SharedBuffer(recording != null ? recording.ring() : memory(config.bufferBytes()), policy);
        total = new Losses();
        session = null;
        pins = config.pinned();
        pinned = pins == null ? null : new SessionCore(this);
        ownLimit = config.byteLimit();
        bytes().setLimit(ownLimit);
        writers = new SessionWriters(this, 0, pins == null ? PageLayout.MAX_WRITER_ID : PageLayout.FIRST_PINNED_WRITER_ID - 1);
        String set = config.limits().areAny() ? String.valueOf(file.getFileName()) : null;
        addPacket(TracePackets.process(pid(), id, filter(), set));
        prepareForErrors();
    }

    /** That of the messages that {@code session} pins. */
    private SessionCore(SessionCore session) {
        super(session);
        this.session = session;
        file = session.file;
        policy = session.policy;
        waitNanos = session.waitNanos;
        maxStringBytes = session.maxStringBytes;
        dictionary = session.dictionary;
        recording = session.recording;
        total = session.total;
        pins = session.pins;
        ownLimit = null;
        pinned = null;
        buffer = new SharedBuffer(recording != null ? recording.pinnedRing() : memory(pins.bytes()), policy);
        writers = new SessionWriters(this, PageLayout.FIRST_PINNED_WRITER_ID - 1, PageLayout.MAX_WRITER_ID);
    }

    private static ByteBuffer memory(int bytes) {
        return ByteBuffer.allocateDirect(bytes + 8).alignedSlice(8).slice(0, bytes);
    }

    /**
     * Has the JVM initialize and link the code that handles errors and counts losses: when the
     * first one comes, there may be no memory for that.
     */
    private void prepareForErrors() {
        PassingErrors.prepare();
        total.add(0, LossCause.BUFFER_FULL, 0);
        if (recording != null) {
            recording.linkLosses();
        }
    }

    /** The file of the buffer; null for none. */
    private Recording record(SessionConfig config, byte[] id) throws IOException {
        if (!config.isStream() || config.file() == null) {
            return config.recording() == null ? null : Recording.create(config.recording(), config, id, clock().moment());
        }
        // The buffer outlives the process, so that `recover` completes the trace: where there is no
        // memory that does, it is beside the trace. Where that can't be, the trace is all there is.
        for (Path place : List.of(Recording.DIRECTORY, config.file().getParent())) {
            try {
                return Recording.create(place, config, id, clock().moment());
            } catch (IOException e) {
                continue;
            }
        }
        return null;
    }

    /** Makes the recording readable. It has the packets added before. */
    void open() {
        if (recording != null) {
            recording.open();
        }
    }

    void setDrainThread(Thread thread) {
        drainThread = thread;
    }

    void wakeDrain() {
        LockSupport.unpark(drainThread);
    }

    /** Reads from the buffer. An error if the file that has it is not whole any more. */
    <T> T readBuffer(Supplier<T> read) throws IOException {
        if (failure != null) {
            throw failure();
        }
        try {
            if (recording != null) {
                recording.checkSize();
            }
            return read.get();
        } catch (InternalError e) {
            if (PassingErrors.isOne(e)) {
                throw e;
            }
            throw new IOException("its buffer can't be read", e);
        }
    }

    /** The trace that it writes, now or in the end; {@code -} for none. */
    public String file() {
        return file == null ? "-" : file.toString();
    }

    /** The fill policy, as operators call it. */
    public String policy() {
        return policy.text();
    }

    void setStats(Callable<SessionStats> source) {
        stats = source;
    }

    /** The messages so far, and those that are lost. */
    public SessionStats stats() throws IOException {
        try {
            return stats.call();
        } catch (IOException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException(e);
        }
    }

    /** Sets a limit, or that of the program; not of messages that go to a tracing service. */
    void limitBytes(ByteLimit limit, boolean isOwn) {
        if (file != null || policy != FillPolicy.STREAM) {
            bytes().setLimit(isOwn ? ownLimit : limit);
        }
    }

    @Override
    public SharedBuffer buffer() {
        return buffer;
    }

    @Override
    public SessionCore pinned() {
        return pinned;
    }

    @Override
    public SessionCore usual() {
        return session == null ? this : session;
    }

    @Override
    public int pinnedLevels(String group) {
        return pins == null ? 0 : pins.of(group);
    }

    @Override
    public SessionDictionary dictionary() {
        return dictionary;
    }

    Recording recording() {
        return recording;
    }

    @Override
    public boolean keepsMessages() {
        return policy != FillPolicy.STREAM;
    }

    @Override
    public int maxStringBytes() {
        return maxStringBytes;
    }

    @Override
    public long waitNanos() {
        return waitNanos;
    }

    @Override
    public boolean isStopped() {
        return isStopped;
    }

    @Override
    public boolean isOver() {
        return isStopped && !isEnding;
    }

    /** The error that ended the session early; null for none. */
    IOException failure() {
        if (failure == null) {
            return null;
        }
        String reason = failure instanceof IOException ? ": " + failure.getMessage() : "";
        return new IOException("the session's file can't be used any more" + reason, failure);
    }

    @Override
    public void fail(Throwable error) {
        if (session != null) {
            session.fail(error);
            return;
        }
        if (failure == null) {
            failure = error;
        }
        stop();
        Sessions.remove(this);
    }

    void stop() {
        isStopped = true;
        large().close();
        buffer.close();
        wakeDrain();
        if (pinned != null) {
            pinned.stop();
        }
    }

    /** Has messages counted instead of recorded, since the program ends. */
    void beginEnd() {
        isEnding = true;
        if (pinned != null) {
            pinned.beginEnd();
        }
    }

    @Override
    public boolean isEnding() {
        return isEnding;
    }

    /** Has messages counted in the file from now on, which is complete. */
    void countAfter(AfterEnd end) {
        afterEnd = end;
        if (pinned != null) {
            pinned.afterEnd = end;
        }
        // Those that came before this.
        reportAfterEnd(end);
    }

    /** True while a thread is within a message, as far as this one can see. */
    boolean isWriting() {
        return writers.areWriting() || pinned != null && pinned.isWriting();
    }

    /** The messages of all threads, a moment behind. */
    long messages() {
        return writers.messages() + (pinned == null ? 0 : pinned.messages());
    }

    @Override
    public TraceWriter newWriter(boolean isShared) {
        return writers.newWriter(isShared);
    }

    @Override
    public int acquire(TraceWriter writer, int previous, int layout, int payload) {
        if (policy == FillPolicy.STREAM && buffer.isFull(layout, payload) && (waitNanos == 0 || stuckAt == buffer.freed())) {
            // Whoever found it so has woken its reader.
            return SharedBuffer.NONE;
        }
        SharedBuffer.Claim claim = writer.claim;
        int chunk = buffer.acquire(claim, previous, layout, payload);
        Thread drain = drainThread;
        if (drain != null && (chunk == SharedBuffer.NONE || buffer.isScarce())) {
            LockSupport.unpark(drain);
        }
        if (chunk == SharedBuffer.NONE && !isStopped && policy != FillPolicy.DISCARD) {
            sweep();
            chunk = buffer.acquire(claim, previous, layout, payload);
        }
        long stuck = stuckAt;
        if (chunk == SharedBuffer.NONE && waitNanos > 0 && !isStopped && (stuck < 0 || stuck != buffer.freed())) {
            chunk = buffer.await(claim, previous, layout, payload, System.nanoTime() + waitNanos, drain);
            stuckAt = chunk == SharedBuffer.NONE ? buffer.freed() : -1;
        }
        return chunk;
    }

    @Override
    public void lose(Sequence sequence, int group, LossCause cause) {
        if (isOver()) {
            return;
        }
        total.add(group, cause, 1);
        try {
            // While the program ends, the last count of the file is of the total alone.
            if (keepLoss(group, cause) && sequence != null && !keepsMessages() && !isEnding) {
                sequence.losses.add(group, cause, 1);
            }
        } catch (StackOverflowError | LinkageError e) {
            // It is counted, and reported at the end; who calls this again would count it twice.
        }
    }

    @Override
    public void holdBack(Sequence sequence, int group, LossCause cause, long time, long message) {
        if (isOver()) {
            return;
        }
        // While the program ends, the last count of the file is of the total alone.
        boolean isReported = !isEnding && (message != 0 || !keepsMessages());
        if (sequence == null || !sequence.holdBack(group, cause, time, message, isReported)) {
            total.add(group, cause, 1);
        }
        keepLoss(group, cause);
    }

    /**
     * Counts a loss where it outlives the process; false after the end of the trace, which reports
     * it then.
     */
    private boolean keepLoss(int group, LossCause cause) {
        AfterEnd after = afterEnd;
        if (after != null) {
            reportAfterEnd(after);
            return false;
        }
        try {
            if (recording != null) {
                recording.addLoss(group, cause);
            }
        } catch (OutOfMemoryError | StackOverflowError | LinkageError | InternalError e) {
            if (e instanceof InternalError && !PassingErrors.isOne(e)) {
                fail(e);
            }
            // The JVM links the operation when it first runs. The trace has the loss all the same.
        }
        return true;
    }

    private static void reportAfterEnd(AfterEnd after) {
        try {
            after.report();
        } catch (IOException | RuntimeException | Error e) {
            // The program is ending. The next caller counts this message, too.
        }
    }

    /** A copy of all losses so far. */
    public Losses total() {
        Losses all = total.copy();
        sequences().forEach(sequence -> sequence.addHeldBackTo(all));
        return all;
    }

    /** The losses so far, and as more come, without messages that rules hold back. */
    Losses losses() {
        return total;
    }

    /** Counts losses of messages that were for this session, and that another one was to keep. */
    void addLosses(List<Losses.Count> losses) {
        losses.forEach(count -> count.addTo(total));
    }

    @Override
    public void countMessages(Sequence sequence) {
        if (recording != null && keepsMessages()) {
            recording.countMessages(sequence.id, sequence.messages - sequence.counted, sequence.messages);
        }
        sequence.counted = sequence.messages;
    }

    /**
     * The messages of all writers so far; of those that are writing, up to their last chunk or
     * message.
     */
    public List<Sequence> sequences() {
        List<Sequence> all = writers.sequences();
        if (pinned != null) {
            all.addAll(pinned.sequences());
        }
        return all;
    }

    /** As above, by their ids. */
    Map<Integer, Sequence> sequencesById() {
        Map<Integer, Sequence> sequences = new HashMap<>();
        sequences().forEach(sequence -> sequences.put(sequence.id, sequence));
        return sequences;
    }

    /** The session's own packets so far. */
    List<byte[]> packets() {
        return packets(0);
    }

    /** As above, without the first ones. */
    synchronized List<byte[]> packets(int without) {
        return List.copyOf(packets.subList(without, packets.size()));
    }

    private synchronized void addPacket(byte[] packet) {
        packets.add(packet);
        try {
            if (recording != null) {
                recording.append(packet);
            }
        } catch (IOException e) {
            // Others wait for the locks that are held here, so the routes of groups stay: a thread
            // that logs finds the session stopped.
            failure = failure == null ? e : failure;
            stop();
        }
    }

    /** Completes the chunks of threads that have ended, and takes their sequences back. */
    public void sweep() {
        writers.sweep();
        if (pinned != null) {
            pinned.sweep();
        }
    }

    @Override
    public void remove(TraceWriter writer) {
        writers.remove(writer);
    }
}
