package dev.protolog.internal.session;

import dev.protolog.Summary;
import dev.protolog.internal.files.Location;
import dev.protolog.internal.files.OutputFile;
import dev.protolog.internal.process.BootClock;
import dev.protolog.internal.process.PassingErrors;
import dev.protolog.internal.process.RuntimeThread;
import dev.protolog.internal.write.CommittedChunk;
import dev.protolog.internal.write.Losses;
import dev.protolog.internal.write.Sequence;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The trace file of a session that streams. {@link DrainLoop} has it written.
 *
 * <p>The buffer is in a recording, which is told how far the file has come before chunks are freed.
 * So the two together have each message once, whenever the process dies.
 *
 * <p>Invariants: the dictionary of a message is in the file before it. A chunk is freed once its
 * packets are in the file. An error of the file ends the session, and is that of {@link #finish};
 * the recording stays then. After one out of memory or stack, everything is as the recording has
 * it, and the next look at the buffer goes on from there. After {@link #finish} nothing is written
 * or closed: the thread of the session may be on its way to a look, and messages that come later
 * are counted in the file.
 */
final class Stream {
    /** The step of the wall clock beside BOOTTIME by which it counts as set, in nanoseconds. */
    private static final long MIN_CLOCK_STEP = 100_000_000;
    /** The part of the buffer that is freed at once, so that threads find room meanwhile. */
    private static final int FREED_PART = 8;

    private final SessionCore session;
    private final DrainLoop drain;
    /** Null for a trace in one file. */
    private final Segments segments;
    private volatile TraceFile file;
    private TraceOutput out;
    /** The bytes of the files before. */
    private long earlierBytes;
    /** A file that is complete and may lack its name; null for none. */
    private TraceFile ended;
    /** The sequences that are in the file. */
    private Set<Integer> inFile = new TreeSet<>();
    private final Map<Integer, SequenceReader> readers = new TreeMap<>();
    private final StreamLosses losses;
    /** Those of the chunks that are being written. */
    private final Set<SequenceReader> used = new HashSet<>();
    private final SessionStats.Written counts;
    /** Positions that one of the copies in the recording lacks. */
    private Map<Integer, Long> changed = new HashMap<>();
    private Map<Integer, Long> changedBefore = new HashMap<>();
    private final HeldChunks held = new HeldChunks();
    private int ownPackets;
    private long wallDistance;
    /** Losses that were taken to be reported since the checkpoint. */
    private final TakenLosses taken = new TakenLosses();
    /** Null where nothing has changed since the recording was told of the file. */
    private StreamCheckpoint checkpoint;
    private IOException failure;
    /** The remains of a file that somebody else has cut, until it has begun once more; or null. */
    private Remains remains;
    /** True once {@link #finish} has written the rest. */
    private boolean isFinished;
    /** The failure where there is no memory for another one. */
    private final IOException noMemory = new IOException("no memory was left to write the trace");

    Stream(SessionCore session, SessionConfig config, BootClock.Moment started) throws IOException {
        this.session = session;
        counts = new SessionStats.Written(session.dictionary());
        losses = new StreamLosses(session, readers);
        drain = new DrainLoop(session, this);
        // First, since there may be no thread to have, and files of earlier runs go when the file
        // is opened.
        Thread thread = RuntimeThread.daemon(drain, "protolog drain");
        session.setDrainThread(thread);
        RuntimeThread.start(thread);
        Location place = Location.of(config.file());
        segments = config.limits().areAny() ? Segments.of(place, config.limits(), config.compression()) : null;
        try {
            if (segments == null) {
                EarlierRuns.keep(place, null, config.earlier());
            }
            file = segments == null ? TraceFile.create(place, config.compression()) : segments.open();
            begin(started, "protolog session started", Remains.none(session.dictionary()));
        } catch (IOException | RuntimeException | Error e) {
            release();
            throw e;
        }
    }

    void start() {
        drain.begin();
        session.wakeDrain();
    }

    /** The nanoseconds until the file is old. */
    long left() {
        return segments == null ? Long.MAX_VALUE : segments.left();
    }

    /** Writes what is there, and ends an old file. False where there is no memory for that. */
    boolean write(boolean unfinishedToo) {
        return drain(unfinishedToo) && rotateIfOld();
    }

    /** Writes all packets that was logged so far. */
    synchronized void flush() throws IOException {
        boolean isDrained = drain(true);
        if (failure != null) {
            throw failure;
        }
        if (!isDrained) {
            throw new IOException("no memory is left to write the trace");
        }
    }

    /**
     * Writes the rest and the end. {@code staysOpen}: the program is ending, and messages that come
     * after the end are counted in the file.
     */
    Summary finish(boolean staysOpen) throws IOException {
        synchronized (this) {
            boolean isComplete = false;
            boolean isLeftOpen = false;
            // After an error of the JVM it is done again.
            isFinished = false;
            try {
                boolean isDrained = drain(true);
                if (failure != null) {
                    throw failure;
                }
                if (!isDrained) {
                    throw new IOException("no memory is left to complete the trace");
                }
                if (loseIfRemoved()) {
                    throw new NoSuchFileException(file.path().toString(), null, "the file was deleted meanwhile");
                }
                Losses total = session.total();
                endSequences();
                losses.write(out, losses.unreported(total));
                writeClocks(session.clock().moment());
                end("protolog session ended");
                commit();
                isComplete = true;
                isFinished = true;
                OutputFile left = staysOpen ? file.completeOpen() : null;
                if (left != null) {
                    isLeftOpen = true;
                    session.countAfter(new AfterEnd(session, left, total));
                }
            } catch (Error e) {
                if (PassingErrors.isOne(e)) {
                    throw noMemory;
                }
                throw e;
            } finally {
                try {
                    if (!isLeftOpen) {
                        file.close(isComplete);
                    }
                } finally {
                    out.end();
                    closeSegments();
                }
            }
            long messages = readers.values().stream().mapToLong(SequenceReader::recorded).sum();
            return new Summary(file.name(), messages, losses.lost(), earlierBytes + out.written(), stats().passedOver(), stats().repeated());
        }
    }

    /** The bytes of the file so far, without waiting for its writer. */
    long progress() {
        return file.written();
    }

    /** The messages that the file has, and those that it lacks. */
    synchronized SessionStats stats() {
        return counts.stats(losses.all(), 0, earlierBytes + out.written());
    }

    /**
     * Writes the buffer's messages, of chunks that are being written only if {@code unfinishedToo}.
     * False where there is no memory for that now; nothing has changed then.
     */
    private synchronized boolean drain(boolean unfinishedToo) {
        if (failure != null || isFinished) {
            return true;
        }
        return attempt(() -> {
            file.keepLock();
            followCut();
            List<CommittedChunk> chunks = session.readBuffer(() -> session.buffer().findAll(unfinishedToo));
            int any = chunks.isEmpty() ? 0 : chunks.get(0).id();
            chunks.sort(Comparator.comparingInt(CommittedChunk::writer).thenComparingInt(chunk -> chunk.id() - any));
            used.clear();
            for (CommittedChunk chunk : chunks) {
                used.add(readers.computeIfAbsent(chunk.writer(),
                        id -> new SequenceReader(id, session.pid(), out, counts, segments != null)));
            }
            List<Sequence> heldBack = unfinishedToo ? losses.heldBack(used) : List.of();
            setCheckpoint();
            writeOwnPackets();
            BootClock.Moment now = session.clock().moment();
            if (Math.abs(now.realtime() - now.boottime() - wallDistance) > MIN_CLOCK_STEP) {
                writeClocks(now);
            }
            chunks.removeIf(held::has);
            for (CommittedChunk chunk : chunks) {
                SequenceReader reader = readers.get(chunk.writer());
                // A file has one chunk at least.
                if (segments != null && !file.isEmpty() && !segments.hasRoom(out, chunk, reader, inFile.size())) {
                    rotate();
                }
                long before = reader.position();
                reader.read(chunk, session.readBuffer(() -> session.buffer().copy(chunk)));
                if (reader.position() != before) {
                    changed.put(chunk.writer(), reader.position());
                    inFile.add(chunk.writer());
                }
                hold(chunk, reader);
            }
            losses.reportHeldBack(heldBack, out, inFile, taken);
            commit();
            held.free(session.buffer());
        });
    }

    /**
     * Begins a trace once more, behind the remains, if somebody else has cut the file: later
     * packets could not be read otherwise. After an error it can be done again.
     */
    private void followCut() throws IOException {
        remains = remains == null ? file.remainsOfCut(session.dictionary()) : remains;
        if (remains == null) {
            return;
        }
        loseAllBut(remains, "emptied or cut");
        file.restart(remains.end());
        begin(session.clock().moment(), "protolog session goes on", remains);
        remains = null;
    }

    /** Counts the messages of the file as lost if it was deleted, and returns whether it was. */
    private boolean loseIfRemoved() {
        boolean isRemoved = file.isRemoved();
        if (isRemoved) {
            loseAllBut(Remains.none(session.dictionary()), "deleted");
        }
        return isRemoved;
    }

    private void loseAllBut(Remains left, String change) {
        long lost = losses.loseAllBut(left);
        counts.keepOnly(left.groups());
        losses.printChange(file.path(), change, lost);
    }

    /** A change of the file. */
    private interface Change {
        void make() throws IOException;
    }

    /**
     * Makes a change. False where there is no memory for it, or no stack: the next one begins at
     * the last commit.
     */
    private boolean attempt(Change change) {
        try {
            goBack();
            closeEnded();
            change.make();
        } catch (IOException | RuntimeException | Error e) {
            if (e instanceof Error && PassingErrors.isOne(e)) {
                return false;
            }
            fail(e);
        }
        return true;
    }

    /** Notes the state that the recording has. */
    private void setCheckpoint() {
        List<StreamCheckpoint.Saved> states = new ArrayList<>();
        // A file that begins changes all of them.
        for (SequenceReader reader : segments == null ? used : readers.values()) {
            states.add(new StreamCheckpoint.Saved(reader, reader.save()));
        }
        ByteBuffer trace = session.recording() == null ? null : session.recording().trace();
        checkpoint = new StreamCheckpoint(file, out.mark(), trace, earlierBytes, new TreeSet<>(inFile), states, counts.save(),
                losses.save(), new HashMap<>(changed), new HashMap<>(changedBefore), held.mark(), ownPackets, wallDistance);
    }

    /** Goes back to the checkpoint, if there is one. After an error it can be done again. */
    private void goBack() throws IOException {
        StreamCheckpoint to = checkpoint;
        if (to == null) {
            return;
        }
        if (file != to.file()) {
            segments.abandon(file);
        }
        if (segments != null) {
            segments.removeUnfinished();
        }
        file = to.file();
        ended = null;
        out = file.out();
        file.rewind(to.mark());
        earlierBytes = to.earlierBytes();
        inFile = to.inFile();
        for (int i = 0; i < to.readers().size(); i++) {
            to.readers().get(i).restore();
        }
        counts.restore(to.counts());
        losses.restore(to.losses());
        changed = to.changed();
        changedBefore = to.changedBefore();
        held.rewind(to.held());
        ownPackets = to.ownPackets();
        wallDistance = to.wallDistance();
        taken.giveBack();
        if (session.recording() != null) {
            session.recording().restoreTrace(to.trace());
        }
        checkpoint = null;
    }

    /** Ends the session. The recording has the packets that the file lacks. */
    private void fail(Throwable error) {
        failure = noMemory;
        try {
            failure = error instanceof IOException io ? io : new IOException("the session's buffer can't be used any more", error);
        } finally {
            session.fail(error);
        }
    }

    /** Keeps a complete chunk until the file has it. */
    private void hold(CommittedChunk chunk, SequenceReader reader) throws IOException {
        if (!chunk.isComplete()) {
            return;
        }
        held.add(chunk, reader);
        if (held.bytes() >= session.buffer().size() / FREED_PART) {
            commit();
            held.free(session.buffer());
            setCheckpoint();
        }
    }

    /** False where there is no memory for it now. */
    private synchronized boolean rotateIfOld() {
        if (segments == null || failure != null || isFinished || session.isStopped() || segments.left() > 0) {
            return true;
        }
        if (inFile.isEmpty()) {
            segments.restartAge();
            return true;
        }
        return attempt(() -> {
            setCheckpoint();
            rotate();
        });
    }

    /** Ends the file; the recording knows the next one before this one has its name. */
    private void rotate() throws IOException {
        TraceFile old = file;
        endSequences();
        end("protolog session goes on");
        out.flush();
        if (!loseIfRemoved()) {
            losses.beginFile();
        }
        earlierBytes += out.written();
        file = segments.open();
        ended = old;
        readers.values().forEach(SequenceReader::beginFile);
        counts.beginFile();
        begin(session.clock().moment(), "protolog session goes on", Remains.none(session.dictionary()));
        closeEnded();
        setCheckpoint();
    }

    /** Gives a complete file its name. */
    private void closeEnded() throws IOException {
        if (ended != null) {
            ended.out().end();
            segments.complete(ended);
            ended = null;
        }
    }

    /** Writes all that comes before the first message of a file, behind the remains in it. */
    private void begin(BootClock.Moment moment, String name, Remains left) throws IOException {
        out = file.out();
        inFile.clear();
        ownPackets = 0;
        writeClocks(moment);
        writeOwnPackets();
        out.own(TracePackets.instant(session.pid(), moment.boottime(), name));
        losses.write(out, losses.due(left));
        readers.forEach((writer, reader) -> {
            reader.continueIn(out);
            changed.put(writer, reader.position());
        });
        if (session.recording() != null) {
            session.recording().setTrace(file.realPath(), losses.reportedBefore());
        }
        commit();
        file.setBegun();
    }

    /** Ends the sequences of the file. */
    private void endSequences() throws IOException {
        Map<Integer, Sequence> sequences = session.sequencesById();
        for (int writer : inFile) {
            Sequence sequence = sequences.get(writer);
            readers.get(writer).end(sequence == null ? new Losses.Pending(0) : taken.take(sequence.losses));
        }
    }

    private void end(String name) throws IOException {
        out.own(TracePackets.stats(session.buffer().stats(), null));
        out.own(TracePackets.instant(session.pid(), session.clock().moment().boottime(), name));
    }

    /**
     * Gives up the files of a session that has failed: others may write them now, and the recording
     * can be recovered.
     */
    synchronized void releaseFailed() {
        try {
            if (session.failure() != null && !isFinished) {
                Sessions.remove(session);
                release();
                if (session.recording() != null) {
                    session.recording().close(false);
                }
            }
        } catch (IOException e) {
            // They are closed.
        }
    }

    void release() throws IOException {
        try {
            if (file != null) {
                file.close(false);
            }
        } finally {
            closeSegments();
        }
    }

    private void closeSegments() throws IOException {
        if (segments != null) {
            segments.close();
        }
    }

    private void writeClocks(BootClock.Moment moment) throws IOException {
        wallDistance = moment.realtime() - moment.boottime();
        out.own(TracePackets.clocks(moment));
    }

    private void writeOwnPackets() throws IOException {
        List<byte[]> packets = session.packets();
        for (byte[] packet : packets.subList(ownPackets, packets.size())) {
            out.own(packet);
        }
        ownPackets = packets.size();
    }

    private void commit() throws IOException {
        Map<Integer, Long> next = new HashMap<>();
        out.flush();
        if (session.recording() != null) {
            changedBefore.putAll(changed);
            session.recording().commit(out.written(), changedBefore);
        }
        // Nothing takes memory from here on.
        checkpoint = null;
        taken.clear();
        changedBefore = changed;
        changed = next;
    }
}
