package dev.protolog;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;

/**
 * The trace file of a session that streams, and the thread that writes it: each second, and when half of the buffer is in use.
 *
 * <p>The buffer is in a recording, which is told how far the file has come before chunks are freed. So the two together have each message
 * once, whenever the process dies.
 *
 * <p>Invariants: the dictionary of a message is in the file before it. A chunk is freed once its packets are in the file. An error
 * of the file ends the session, and is that of {@link #finish}; the recording stays then.
 */
final class Stream implements Runnable {
    private static final long POLL_NANOS = 1_000_000_000;
    /** A change of the distance between wall clock and BOOTTIME by which the wall clock counts as set, in nanoseconds. */
    private static final long MIN_CLOCK_STEP = 100_000_000;

    /** Memory that is there when writing begins, in bytes, and the size of its parts. */
    private static final int RESERVE = 512 << 10;
    private static final int RESERVE_PART = 16 << 10;
    /** Room for the end of a trace, in bytes, for each sequence in it, and for what a packet grows by on its way. */
    private static final int TRAILER = 1024;
    private static final int SEQUENCE_TRAILER = 160;
    private static final int GROWTH = 6;
    /** The part of the buffer whose chunks are freed together, once the file has them: threads find room while the rest is written. */
    private static final int FREED_PART = 8;

    private final SessionCore session;
    /** Null for a trace in one file. */
    private final Segments segments;
    private TraceFile file;
    private TraceOutput out;
    /** The bytes of the files before. */
    private long earlierBytes;
    /** The sequences that are in the file. */
    private final Set<Integer> inFile = new TreeSet<>();
    private final Map<Integer, SequenceReader> readers = new TreeMap<>();
    private final SessionStats.Written counts;
    /** Positions that one of the copies in the recording lacks. */
    private Map<Integer, Long> changed = new HashMap<>();
    private Map<Integer, Long> changedBefore = new HashMap<>();
    /** Complete chunks that were read: those that the file may lack, and those whose last packet goes on in one that was not there yet. */
    private final List<SharedBuffer.Copy> held = new ArrayList<>();
    /** The bytes of those that the file may lack. */
    private int heldBytes;
    private int ownPackets;
    private long wallDistance;
    private IOException failure;
    /** The failure where there is no memory for another one. */
    private final IOException noMemory = new IOException("no memory was left to write the trace");
    private final Thread thread = new Thread(this, "protolog drain");

    Stream(SessionCore session, SessionConfig config, BootClock.Moment started) throws IOException {
        this.session = session;
        counts = new SessionStats.Written(session.dictionary());
        segments = config.limits().areAny() ? Segments.of(config.file(), config.limits(), config.compression()) : null;
        try {
            file = segments == null ? TraceFile.create(config.file(), config.compression()) : segments.open();
            begin(started, "protolog session started");
        } catch (IOException e) {
            closeSegments();
            throw e;
        }
        thread.setDaemon(true);
    }

    void start() {
        session.setDrainThread(thread);
        thread.start();
    }

    @Override
    public void run() {
        long next = System.nanoTime() + POLL_NANOS;
        while (!session.isStopped()) {
            long left = next - System.nanoTime();
            LockSupport.parkNanos(this, Math.max(1, segments == null ? left : Math.min(left, segments.left())));
            boolean isDue = next - System.nanoTime() <= 0 || segments != null && segments.left() <= 0;
            if (isDue) {
                next = System.nanoTime() + POLL_NANOS;
            }
            try {
                drain(isDue);
                rotateIfOld();
            } catch (OutOfMemoryError e) {
                // There may be some memory the next time.
            }
        }
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

    /** Writes the rest and the end. */
    Summary finish() throws IOException {
        LockSupport.unpark(thread);
        synchronized (this) {
            boolean isDrained = drain(true);
            boolean isComplete = false;
            try {
                if (failure != null) {
                    throw failure;
                }
                if (!isDrained) {
                    throw new IOException("no memory is left to complete the trace");
                }
                endSequences();
                end("protolog session ended");
                commit();
                isComplete = true;
            } finally {
                file.close(isComplete);
                out.end();
                closeSegments();
            }
            long messages = readers.values().stream().mapToLong(SequenceReader::recorded).sum();
            return new Summary(file.name(), messages, lost(), earlierBytes + out.written());
        }
    }

    /** The messages that the file has, and those that it lacks. */
    synchronized SessionStats stats() {
        return counts.stats(session.total().all(), 0, earlierBytes + out.written());
    }

    /** Writes what is there, of chunks that are being written only if {@code unfinishedToo}. False where there is no memory for a copy of it now; nothing has changed then. */
    private synchronized boolean drain(boolean unfinishedToo) {
        if (failure != null) {
            return true;
        }
        List<SharedBuffer.Copy> chunks;
        try {
            checkMemory();
            chunks = session.copyChunks(unfinishedToo);
        } catch (OutOfMemoryError e) {
            return false;
        } catch (IOException | RuntimeException | InternalError e) {
            fail(e);
            return true;
        }
        try {
            int any = chunks.isEmpty() ? 0 : chunks.get(0).id();
            chunks.sort(Comparator.comparingInt(SharedBuffer.Copy::writer).thenComparingInt(chunk -> chunk.id() - any));
            writeOwnPackets();
            BootClock.Moment now = session.clock().moment();
            if (Math.abs(now.realtime() - now.boottime() - wallDistance) > MIN_CLOCK_STEP) {
                writeClocks(now);
            }
            chunks.removeIf(chunk -> held.stream().anyMatch(known -> known.chunk() == chunk.chunk()));
            for (SharedBuffer.Copy chunk : chunks) {
                SequenceReader reader = readers.computeIfAbsent(chunk.writer(),
                        id -> new SequenceReader(id, session.pid(), out, counts, segments != null));
                if (!hasRoom(chunk, reader)) {
                    rotate();
                }
                long before = reader.position();
                reader.read(chunk);
                if (reader.position() != before) {
                    changed.put(chunk.writer(), reader.position());
                    inFile.add(chunk.writer());
                }
                hold(chunk);
            }
            commit();
            free();
        } catch (IOException | InternalError | OutOfMemoryError | StackOverflowError e) {
            fail(e);
        }
        return true;
    }

    /** Has the error of a full heap come now, where nothing has changed yet: writing takes no more than this. */
    private static void checkMemory() {
        byte[][] parts = new byte[RESERVE / RESERVE_PART][];
        for (int i = 0; i < parts.length; i++) {
            parts[i] = new byte[RESERVE_PART];
        }
    }

    /** Ends the session. The recording has what the file lacks. */
    private void fail(Throwable error) {
        failure = noMemory;
        try {
            failure = error instanceof IOException io ? io : new IOException("the session's buffer can't be used any more", error);
        } finally {
            session.fail(error);
        }
    }

    /** Keeps a complete chunk until the file has it. */
    private void hold(SharedBuffer.Copy chunk) throws IOException {
        if (!chunk.isComplete()) {
            return;
        }
        held.add(chunk);
        heldBytes += chunk.bytes().length;
        if (heldBytes >= session.buffer().size() / FREED_PART) {
            commit();
            free();
        }
    }

    /** Frees the chunks that are in the file; those with the beginning of a packet wait for its end. */
    private void free() {
        heldBytes = 0;
        held.removeIf(chunk -> {
            int next = (int) (readers.get(chunk.writer()).position() >>> 32);
            boolean isWritten = chunk.id() - next < 0;
            if (isWritten) {
                session.buffer().free(chunk.chunk());
            }
            return isWritten;
        });
    }

    /** True unless the file would become too long by a chunk. A file has one at least. */
    private boolean hasRoom(SharedBuffer.Copy chunk, SequenceReader reader) throws IOException {
        if (segments == null || file.isEmpty()) {
            return true;
        }
        long more = chunk.bytes().length + chunk.count() * GROWTH + reader.pendingSize() + TRAILER + (inFile.size() + 1) * SEQUENCE_TRAILER;
        if (segments.hasRoom(out.size(), more)) {
            return true;
        }
        // The buffered packets may be few bytes once they are compressed.
        out.flush();
        return segments.hasRoom(out.size(), more);
    }

    private synchronized void rotateIfOld() {
        if (segments == null || failure != null || session.isStopped() || segments.left() > 0) {
            return;
        }
        if (inFile.isEmpty()) {
            segments.restartAge();
            return;
        }
        try {
            rotate();
        } catch (IOException | InternalError | OutOfMemoryError | StackOverflowError e) {
            fail(e);
        }
    }

    /** Ends the file, and begins the next one. The recording is told of that before the old one gets its name. */
    private void rotate() throws IOException {
        TraceFile old = file;
        Map<Integer, Sequence> sequences = sequences();
        for (int writer : inFile) {
            Sequence sequence = sequences.get(writer);
            readers.get(writer).end(sequence == null ? new Losses().take() : sequence.losses.take());
        }
        end("protolog session goes on");
        out.flush();
        earlierBytes += out.written();
        out.end();
        file = segments.open();
        begin(session.clock().moment(), "protolog session goes on");
        old.close(true);
    }

    /** Writes all that comes before the first message of a file. */
    private void begin(BootClock.Moment moment, String name) throws IOException {
        out = file.out();
        inFile.clear();
        ownPackets = 0;
        writeClocks(moment);
        writeOwnPackets();
        out.own(TracePackets.instant(session.pid(), moment.boottime(), name));
        Losses reported = new Losses();
        readers.forEach((writer, reader) -> {
            reader.continueIn(out);
            reader.reported().all().forEach(count -> count.addTo(reported));
            changed.put(writer, reader.position());
        });
        if (session.recording() != null) {
            session.recording().setTrace(file.path().toRealPath(), reported.all());
        }
        commit();
        file.setBegun();
    }

    /** Ends the sequences of the file, and reports the losses of others. */
    private void endSequences() throws IOException {
        Map<Integer, Sequence> sequences = sequences();
        for (Map.Entry<Integer, SequenceReader> each : readers.entrySet()) {
            if (inFile.contains(each.getKey())) {
                Sequence sequence = sequences.remove(each.getKey());
                each.getValue().end(sequence == null ? new Losses().take() : sequence.losses.take());
            }
        }
        ProtoWriter losses = new ProtoWriter().varint(8, session.clock().now());
        int size = losses.size();
        session.unattributed().all().forEach(count -> count.write(losses));
        // Of threads that found no chunk any more.
        sequences.values().forEach(sequence -> sequence.losses.all().forEach(count -> count.write(losses)));
        if (losses.size() > size) {
            out.own(losses.done());
        }
    }

    private Map<Integer, Sequence> sequences() {
        Map<Integer, Sequence> sequences = new HashMap<>();
        session.sequences().forEach(sequence -> sequences.put(sequence.id, sequence));
        return sequences;
    }

    private void end(String name) throws IOException {
        out.own(TracePackets.stats(session.buffer().stats()));
        out.own(TracePackets.instant(session.pid(), session.clock().moment().boottime(), name));
    }

    private void closeSegments() {
        if (segments != null) {
            segments.close();
        }
    }

    private long lost() {
        return session.total().all().stream().filter(loss -> loss.cause() != LossCause.TRUNCATED)
                .mapToLong(Losses.Count::count).sum();
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
        out.flush();
        if (session.recording() != null) {
            changedBefore.putAll(changed);
            session.recording().commit(out.written(), changedBefore);
        }
        changedBefore = changed;
        changed = new HashMap<>();
    }
}
