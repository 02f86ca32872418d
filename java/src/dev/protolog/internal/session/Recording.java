package dev.protolog.internal.session;

import dev.protolog.internal.files.Claims;
import dev.protolog.internal.files.FileStatus;
import dev.protolog.internal.files.Location;
import dev.protolog.internal.files.OpenDirectory;
import dev.protolog.internal.files.OpenFiles;
import dev.protolog.internal.files.OutputFile;
import dev.protolog.internal.files.Outputs;
import dev.protolog.internal.process.BootClock;
import dev.protolog.internal.process.RunningProgram;
import dev.protolog.internal.proto.Xxh3;
import dev.protolog.internal.write.LossCause;
import dev.protolog.internal.write.Losses;
import dev.protolog.internal.write.PageLayout;
import dev.protolog.internal.write.TruncatedFile;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * A file that a session maps and logs into, so that its messages outlive the process. Its layout is
 * that of {@code protolog-core/src/recorder.rs}, and {@code protologtool recover} makes a trace of
 * it.
 *
 * <p>The lock on the file says that its process lives.
 *
 * <p>Invariants: the file is written in full before it is mapped, so that a store never finds a
 * disk full. The magic is stored last. A metadata record is written before the header counts it.
 */
public final class Recording {
    /** The default directory: memory that the kernel keeps until the machine is shut down. */
    public static final Path DIRECTORY = Path.of("/dev/shm");

    private static final ByteOrder ORDER = ByteOrder.nativeOrder();
    private static final VarHandle LONG = MethodHandles.byteBufferViewVarHandle(long[].class, ORDER);
    private static final long MAGIC =
            ByteBuffer.wrap("protorec".getBytes(StandardCharsets.US_ASCII)).order(ORDER).getLong();
    private static final int VERSION = 2;
    private static final int BYTE_ORDER = 0x0a0b0c0d;
    private static final int KERNEL_CLOCK = 1;
    private static final int HEADER = 4096;
    private static final int RING_AT = 64 * 1024;
    private static final int METADATA_USED_AT = 128;
    private static final int METADATA_LOST_AT = 136;
    private static final int OTHER_MESSAGE_COUNT_AT = 144;
    private static final int GENERATION_AT = 152;
    private static final int TRACE_BYTES_AT = 160;
    private static final int POSITIONS_AT_AT = 176;
    private static final int SESSION_ID_AT = 184;
    private static final int REMOVED_AT = 200;
    private static final int LIMITED_AT = 208;
    private static final int PASSED_OVER_AT = 216;
    private static final int REPEATED_AT = 224;
    private static final int LOSSES_AT = 256;
    private static final int LOSSES = 64;
    private static final int OTHER_LOSSES_AT = LOSSES_AT + 16 * LOSSES;
    private static final int MESSAGE_COUNTS_AT = OTHER_LOSSES_AT + 8 * 8;
    private static final int MESSAGE_COUNTS = (HEADER - MESSAGE_COUNTS_AT) / 8;
    private static final long LOSS_USED = 1L << 63;
    private static final int TRACE_FILE_AT = HEADER;
    private static final int TRACE_FILE_SIZE = 4096;
    private static final int REPORTED_LOSS_SIZE = 16;
    private static final int POSITIONS = 32768;
    private static final int PINNED_RING_AT = 20480;
    private static final int PINNED_COUNTS_AT = 24576;
    private static final int PINNED_COUNTS = 512;
    /** The most numbers that are tried: each takes as long as an attempt to open a file. */
    private static final int MAX_NAMES = 100;

    private final OutputFile file;
    private final MappedByteBuffer header;
    private final MappedByteBuffer ring;
    /** The ring of pinned messages; null for none. */
    private final MappedByteBuffer pinnedRing;
    /** 0 if the session does not stream. */
    private final long positionsAt;
    private final long metadataAt;
    private long metadataUsed;
    private volatile boolean isOpen;
    private long generation;
    /** The description of the trace file in a generation, and the copies that lack it. */
    private ByteBuffer traceEntry;
    private final boolean[] lacksTrace = new boolean[2];

    private Recording(OutputFile file, int ringBytes, int pinnedBytes, boolean isStream) throws IOException {
        this.file = file;
        // Counters of the pinned ring's writers lie behind what is there of a trace file.
        header = file.map(0, pinnedBytes == 0 ? HEADER : RING_AT);
        header.order(ORDER);
        ring = file.map(RING_AT, ringBytes);
        long ringEnd = (long) RING_AT + ringBytes;
        pinnedRing = pinnedBytes == 0 ? null : file.map(ringEnd, pinnedBytes);
        positionsAt = isStream ? ringEnd : 0;
        metadataAt = ringEnd + pinnedBytes + (isStream ? 2 * 8 * POSITIONS : 0);
    }

    /**
     * True if there is a recording of the session with this id, in the default directory or beside
     * its trace.
     */
    static boolean isThere(byte[] sessionId, Location trace) {
        for (Path directory : List.of(DIRECTORY, trace.real().getParent())) {
            try (OpenDirectory open = OpenDirectory.open(directory)) {
                for (String name : open.names("*.rec")) {
                    if (sessionId.length > 0 && Arrays.equals(sessionIdOf(open, name), sessionId)) {
                        return true;
                    }
                }
            } catch (IOException e) {
                // Nor is it found there.
            }
        }
        return false;
    }

    /** The id of a recording's session; empty of other files, and of those of others. */
    private static byte[] sessionIdOf(OpenDirectory directory, String name) {
        try {
            FileStatus found = directory.status(name);
            boolean isOwn = found != null && found.isRegular() && found.owner() == RunningProgram.user();
            // One that this process has is not even opened: to close it would release its lock.
            if (!isOwn || Claims.has(found) || OpenFiles.isLocked(found.key())) {
                return new byte[0];
            }
            try (InputStream recording = directory.reader(name, found.key())) {
                byte[] header = recording.readNBytes(SESSION_ID_AT + 16);
                return header.length < SESSION_ID_AT + 16 ? new byte[0] : Arrays.copyOfRange(header, SESSION_ID_AT, SESSION_ID_AT + 16);
            }
        } catch (IOException e) {
            return new byte[0];
        }
    }

    /** Creates a recording at {@code path}, or with a name of its own if that is a directory. */
    static Recording create(Path path, SessionConfig config, byte[] sessionId, BootClock.Moment now) throws IOException {
        OutputFile file = path.equals(DIRECTORY) || Files.isDirectory(path) ? inDirectory(path) : at(path);
        try {
            long size = RING_AT + (long) config.bufferBytes() + config.pinnedBytes() + (config.isStream() ? 2 * 8 * POSITIONS : 0);
            byte[] zeros = new byte[RING_AT];
            for (long at = 0; at < size; at += zeros.length) {
                file.writeAt(at, zeros, 0, (int) Math.min(zeros.length, size - at));
            }
            Recording recording = new Recording(file, config.bufferBytes(), config.pinnedBytes(), config.isStream());
            file.lock();
            recording.fillHeader(config, sessionId, now);
            return recording;
        } catch (IOException | RuntimeException | Error e) {
            file.removeAndClose();
            throw e;
        }
    }

    ByteBuffer ring() {
        return ring;
    }

    /** The ring of pinned messages; null for none. */
    ByteBuffer pinnedRing() {
        return pinnedRing;
    }

    Path path() {
        return file.path();
    }

    /** Makes the file one that can be recovered. */
    void open() {
        store(0, MAGIC);
        isOpen = true;
    }

    /**
     * Appends a packet to the metadata, or counts it as lost where there is no room.
     *
     * @throws IOException if the file is not whole any more
     */
    synchronized void append(byte[] packet) throws IOException {
        ByteBuffer record = ByteBuffer.allocate(8 + packet.length).order(ORDER);
        record.putInt(packet.length).putInt((int) Xxh3.hash(packet)).put(packet);
        // A write behind the end of a truncated file would make it as long as it was, and hide
        // that.
        checkSize();
        try {
            file.writeAt(metadataAt + metadataUsed, record.array(), 0, record.capacity());
            metadataUsed += record.capacity();
            store(METADATA_USED_AT, metadataUsed);
        } catch (IOException e) {
            add(METADATA_LOST_AT, 1);
        }
    }

    /**
     * From the next generation on, a stream is written to this file; earlier files report losses.
     * Those for which there is no room are left out.
     */
    void setTrace(Path trace, List<Losses.Count> reported) {
        byte[] name = trace.toString().getBytes(StandardCharsets.UTF_8);
        ByteBuffer entry = ByteBuffer.allocate(TRACE_FILE_SIZE).order(ORDER);
        if (name.length + 4 <= TRACE_FILE_SIZE) {
            entry.putShort((short) name.length).put(name);
        } else {
            entry.putShort((short) 0);
        }
        int records = Math.min(reported.size(), (entry.remaining() - 2) / REPORTED_LOSS_SIZE);
        entry.putShort((short) records);
        for (Losses.Count loss : reported.subList(0, records)) {
            entry.putInt(loss.group()).putInt(loss.cause().wire()).putLong(loss.count());
        }
        restoreTrace(entry);
    }

    /**
     * Makes a new generation count: the trace has {@code bytes} valid bytes, and the packets before
     * these positions of writers, as {@code chunk << 32 | packets}. The copy that does not count is
     * written first.
     */
    void commit(long bytes, Map<Integer, Long> positions) throws IOException {
        int copy = (int) ((generation + 1) % 2);
        if (lacksTrace[copy]) {
            write(TRACE_FILE_AT + (long) copy * TRACE_FILE_SIZE, traceEntry);
            lacksTrace[copy] = false;
        }
        ByteBuffer word = ByteBuffer.allocate(8).order(ORDER);
        for (Map.Entry<Integer, Long> position : positions.entrySet()) {
            word.putLong(0, position.getValue());
            write(positionsAt + 8L * (copy * POSITIONS + position.getKey()), word);
        }
        store(TRACE_BYTES_AT + 8 * copy, bytes);
        store(GENERATION_AT, generation + 1);
        generation++;
    }

    /** The description of the trace file in the generations to come. */
    ByteBuffer trace() {
        return traceEntry;
    }

    /** Goes back to a description: that of the generation that counts. */
    void restoreTrace(ByteBuffer entry) {
        traceEntry = entry;
        lacksTrace[0] = true;
        lacksTrace[1] = true;
    }

    /**
     * Counts messages of a chunk that writer {@code id} completed: those in it, and all of the
     * writer.
     */
    void countMessages(int id, long added, long all) {
        boolean isPinned = id >= PageLayout.FIRST_PINNED_WRITER_ID;
        int at = isPinned && pinnedRing == null ? 0 : messageCountAt(id);
        if (at != 0) {
            store(at, all);
        } else {
            synchronized (this) {
                add(OTHER_MESSAGE_COUNT_AT, added);
            }
        }
    }

    /**
     * The place of the message counter of a writer, in a recording with a pinned ring; 0 if it has
     * none of its own.
     */
    static int messageCountAt(int id) {
        int pinned = id - PageLayout.FIRST_PINNED_WRITER_ID;
        if (pinned >= 0 && pinned < PINNED_COUNTS) {
            return PINNED_COUNTS_AT + 8 * pinned;
        }
        return id <= MESSAGE_COUNTS ? MESSAGE_COUNTS_AT + 8 * (id - 1) : 0;
    }

    /**
     * Changes nothing, with the operations of {@link #addLoss}, which the JVM links when they first
     * run.
     */
    synchronized void linkLosses() {
        add(OTHER_LOSSES_AT, 0);
        int place = placeOf(0, LossCause.BUFFER_FULL, false);
        increase(place == 0 ? OTHER_LOSSES_AT : place, 0);
    }

    /** Counts a loss. Threads that count one more of the same take no lock. */
    void addLoss(int group, LossCause cause) {
        int place = placeOf(group, cause, false);
        increase(place != 0 ? place : claimPlace(group, cause), 1);
    }

    private synchronized int claimPlace(int group, LossCause cause) {
        return placeOf(group, cause, true);
    }

    /**
     * The place of a counter; 0 where it has none yet, unless {@code isClaimed}, by the one thread
     * that may.
     */
    private int placeOf(int group, LossCause cause, boolean isClaimed) {
        long key = LOSS_USED | Integer.toUnsignedLong(group) << 8 | cause.wire();
        for (int slot = 0; slot < LOSSES; slot++) {
            int at = LOSSES_AT + 16 * slot;
            long known = get(at);
            if (known == 0 && isClaimed) {
                store(at, key);
            }
            if (known == key || known == 0 && isClaimed) {
                return at + 8;
            } else if (known == 0) {
                return 0;
            }
        }
        // What came later has a place of its own.
        return cause.isPassedOver() ? PASSED_OVER_AT : switch (cause) {
            case LIMITED -> LIMITED_AT;
            case REPEATED -> REPEATED_AT;
            default -> OTHER_LOSSES_AT + 8 * (cause.wire() - 1);
        };
    }

    /** Notes the number of messages that another program has removed from the trace file. */
    synchronized void setRemoved(long messages) {
        store(REMOVED_AT, messages);
    }

    private long get(int at) {
        return (long) LONG.getAcquire(header, at);
    }

    /**
     * Stores a word after all that was stored before. By a fence and a plain store: the JVM does
     * not survive releasing stores, nor atomic operations, in memory of a truncated file, where it
     * interprets them.
     */
    private void store(int at, long word) {
        VarHandle.releaseFence();
        LONG.set(header, at, word);
    }

    /** Adds to a counter of losses, as other threads may at the same time. */
    private void increase(int at, long count) {
        long sum = (long) LONG.getAndAdd(header, at, count) + count;
        if (get(at) < sum) {
            TruncatedFile.fail();
        }
    }

    /** Adds to a counter. */
    private void add(int at, long count) {
        long sum = get(at) + count;
        store(at, sum);
        if (get(at) != sum) {
            TruncatedFile.fail();
        }
    }

    /**
     * Checks that nobody has truncated the file, since a read of mapped memory beyond its end is an
     * error of the JVM; nor truncated it and made it long again, which leaves zeros.
     *
     * @throws IOException if somebody has
     */
    synchronized void checkSize() throws IOException {
        boolean isShort = file.size() < metadataAt + metadataUsed;
        if (isShort || isOpen && get(0) != MAGIC) {
            throw new IOException("another process has truncated `" + path() + "`");
        }
    }

    /** Waits until all that was logged so far is on the disk, if the file is on one. */
    void sync() throws IOException {
        ring.force();
        if (pinnedRing != null) {
            pinnedRing.force();
        }
        header.force();
        file.sync();
    }

    /** Leaves the file for recovery, or removes it. */
    void close(boolean isRemoved) throws IOException {
        // The lock goes with it. Mappings stay as long as a writer has them.
        if (isRemoved) {
            file.removeAndClose();
        } else {
            file.close();
        }
    }

    private void fillHeader(SessionConfig config, byte[] sessionId, BootClock.Moment now) {
        header.putInt(8, VERSION);
        header.putInt(12, BYTE_ORDER);
        header.putInt(16, (int) ProcessHandle.current().pid());
        header.putInt(20, PageLayout.PAGE);
        header.putInt(24, config.bufferBytes() / PageLayout.PAGE);
        header.putInt(28, KERNEL_CLOCK);
        header.putLong(32, RING_AT);
        header.putLong(40, metadataAt);
        header.putLong(48, now.realtime());
        header.putLong(56, now.monotonic());
        header.putLong(64, now.boottime());
        header.put(72, TracePackets.bootId());
        header.putLong(POSITIONS_AT_AT, positionsAt);
        header.put(SESSION_ID_AT, sessionId);
        if (pinnedRing != null) {
            header.putLong(PINNED_RING_AT, (long) RING_AT + config.bufferBytes());
            header.putInt(PINNED_RING_AT + 8, config.pinnedBytes() / PageLayout.PAGE);
        }
    }

    private void write(long at, ByteBuffer bytes) throws IOException {
        checkSize();
        file.writeAt(at, bytes.array(), 0, bytes.capacity());
    }

    private static OutputFile inDirectory(Path directory) throws IOException {
        String name = RunningProgram.name().replaceAll("[^A-Za-z0-9._-]", "_");
        String prefix = "protolog-" + name.substring(0, Math.min(name.length(), 64)) + "-" + ProcessHandle.current().pid();
        Location first = Location.of(directory.resolve(prefix));
        for (int number = 0; number <= MAX_NAMES; number++) {
            // A user who may make files there can have taken all of these names, but not one that
            // nobody knows in advance.
            long last = number < MAX_NAMES ? number : new SecureRandom().nextLong() & Long.MAX_VALUE;
            try {
                return Outputs.create(first.sibling(prefix + "-" + last + ".rec"));
            } catch (FileAlreadyExistsException e) {
                // Of an earlier session.
            }
        }
        throw new FileAlreadyExistsException(directory.resolve(prefix + "-*.rec").toString());
    }

    /**
     * Creates the file. An existing one, of an earlier run, is renamed, unless a process records to
     * it.
     */
    private static OutputFile at(Path path) throws IOException {
        Location place = Location.of(path);
        try (OutputFile old = Outputs.hold(place, null)) {
            if (old != null) {
                old.moveTo(place.name() + ".old");
            }
        }
        return Outputs.create(place);
    }
}
