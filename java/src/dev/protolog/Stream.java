package dev.protolog;

import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
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

    private final SessionCore session;
    private final FileChannel file;
    private final TraceOutput out;
    private final Map<Integer, SequenceReader> readers = new TreeMap<>();
    private final SessionStats.Written counts;
    /** Positions that one of the copies in the recording lacks. */
    private Map<Integer, Long> changed = new HashMap<>();
    private Map<Integer, Long> changedBefore = new HashMap<>();
    /** Chunks whose last packet goes on in one that was not there yet. */
    private List<SharedBuffer.Copy> held = new ArrayList<>();
    private int ownPackets;
    private long wallDistance;
    private IOException failure;
    private final Thread thread = new Thread(this, "protolog drain");

    Stream(SessionCore session, Path path, BootClock.Moment started) throws IOException {
        this.session = session;
        counts = new SessionStats.Written(session.dictionary());
        file = create(path);
        out = new TraceOutput(Channels.newOutputStream(file));
        writeClocks(started);
        writeOwnPackets();
        out.own(TracePackets.instant(session.pid(), started.boottime(), "protolog session started"));
        if (session.recording() != null) {
            session.recording().setTrace(path.toRealPath());
        }
        commit();
        thread.setDaemon(true);
    }

    void start() {
        session.setDrainThread(thread);
        thread.start();
    }

    @Override
    public void run() {
        while (!session.isStopped()) {
            LockSupport.parkNanos(this, POLL_NANOS);
            drain();
        }
    }

    /** Writes all that was logged so far. */
    synchronized void flush() throws IOException {
        boolean isDrained = drain();
        if (failure != null) {
            throw failure;
        }
        if (!isDrained) {
            throw new IOException("no memory is left to write the trace");
        }
    }

    /** Writes the rest and the end. */
    Summary finish(Path path) throws IOException {
        LockSupport.unpark(thread);
        synchronized (this) {
            boolean isDrained = drain();
            try (file) {
                if (failure != null) {
                    throw failure;
                }
                if (!isDrained) {
                    throw new IOException("no memory is left to complete the trace");
                }
                long messages = end();
                commit();
                return new Summary(path, messages, lost(), out.written());
            }
        }
    }

    /** The messages that the file has, and those that it lacks. */
    synchronized SessionStats stats() {
        return counts.stats(session.total().all(), 0, out.written());
    }

    /** Writes what is there. False where there is no memory for a copy of it now; nothing has changed then. */
    private synchronized boolean drain() {
        if (failure != null) {
            return true;
        }
        List<SharedBuffer.Copy> chunks;
        try {
            chunks = session.copyChunks();
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
                SequenceReader reader = readers.computeIfAbsent(chunk.writer(), id -> new SequenceReader(id, session.pid(), out, counts));
                long before = reader.position();
                reader.read(chunk);
                if (reader.position() != before) {
                    changed.put(chunk.writer(), reader.position());
                }
            }
            commit();
            free(chunks);
        } catch (IOException | InternalError | OutOfMemoryError | StackOverflowError e) {
            fail(e);
        }
        return true;
    }

    /** Ends the session. The recording has what the file lacks. */
    private void fail(Throwable error) {
        failure = error instanceof IOException io ? io : new IOException("the session's buffer can't be used any more", error);
        session.fail(error);
    }

    /** Frees the chunks that are in the file; those with the beginning of a packet wait for its end. */
    private void free(List<SharedBuffer.Copy> chunks) {
        List<SharedBuffer.Copy> complete = new ArrayList<>(held);
        chunks.stream().filter(SharedBuffer.Copy::isComplete).forEach(complete::add);
        held = new ArrayList<>();
        for (SharedBuffer.Copy chunk : complete) {
            int next = (int) (readers.get(chunk.writer()).position() >>> 32);
            if (chunk.id() - next < 0) {
                session.buffer().free(chunk.chunk());
            } else {
                held.add(chunk);
            }
        }
    }

    private long end() throws IOException {
        Map<Integer, Sequence> sequences = new HashMap<>();
        session.sequences().forEach(sequence -> sequences.put(sequence.id, sequence));
        long messages = 0;
        for (Map.Entry<Integer, SequenceReader> each : readers.entrySet()) {
            Sequence sequence = sequences.remove(each.getKey());
            each.getValue().end(sequence == null ? new Losses().take() : sequence.losses.take());
            messages += each.getValue().recorded();
        }
        ProtoWriter losses = new ProtoWriter().varint(8, session.clock().now());
        int size = losses.size();
        session.unattributed().all().forEach(count -> count.write(losses));
        // Of threads that never found a chunk.
        sequences.values().forEach(sequence -> sequence.losses.all().forEach(count -> count.write(losses)));
        if (losses.size() > size) {
            out.own(losses.done());
        }
        BootClock.Moment now = session.clock().moment();
        out.own(TracePackets.stats(session.buffer().stats()));
        out.own(TracePackets.instant(session.pid(), now.boottime(), "protolog session ended"));
        return messages;
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

    /** Creates the file. An existing one is replaced, unless a process writes it; what is no file is written as it is. */
    private static FileChannel create(Path path) throws IOException {
        if (Files.exists(path) && !Files.isRegularFile(path)) {
            return FileChannel.open(path, StandardOpenOption.WRITE);
        }
        if (Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
            try (FileChannel old = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                lock(old, path);
                Files.delete(path);
            }
        }
        Files.createFile(path, Recording.PRIVATE);
        FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE);
        lock(file, path);
        return file;
    }

    private static void lock(FileChannel file, Path path) throws IOException {
        try {
            if (file.tryLock() != null) {
                return;
            }
        } catch (OverlappingFileLockException e) {
            // Another session of this process has it.
        }
        throw new FileAlreadyExistsException(path.toString(), null, "another session writes it");
    }
}
