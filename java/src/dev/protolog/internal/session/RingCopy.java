package dev.protolog.internal.session;

import dev.protolog.internal.proto.ProtoReader;
import dev.protolog.internal.write.CommittedChunk;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * A copy of what a ring had at one time, as far back as a trigger's file goes: the ring is
 * overwritten while the file goes on.
 *
 * <p>Invariant: it takes no more than a part of the heap; of a ring that is larger the newest
 * chunks are copied, and the others are there if the ring still has them when the file is written.
 */
final class RingCopy implements ChunkSource {
    /** The part of the heap that one may take. */
    private static final int HEAP_PART = 16;
    /** The packets at the beginning of a chunk of which one has the time. */
    private static final int FIRST = 2;

    /** That of a ring that could not be copied. */
    static final RingCopy NONE = new RingCopy(null);

    private final Map<Integer, List<CommittedChunk>> byWriter = new TreeMap<>();
    private final Map<CommittedChunk, byte[]> copies = new HashMap<>();

    /** Null for none. */
    private final SessionCore session;

    private RingCopy(SessionCore session) {
        this.session = session;
    }

    /** Copies the chunks that have a message since {@code since}, in nanoseconds of BOOTTIME. */
    static RingCopy of(SessionCore session, long since) throws IOException {
        RingCopy copy = new RingCopy(session);
        KeptChunks found = new KeptChunks(session);
        long left = Runtime.getRuntime().maxMemory() / HEAP_PART;
        Map<Integer, Long> nextBegins = new HashMap<>();
        Map<Integer, List<CommittedChunk>> newestFirst = new TreeMap<>();
        int longest = found.byWriter().values().stream().mapToInt(List::size).max().orElse(0);
        for (int age = 1; age <= longest && left > 0; age++) {
            for (Map.Entry<Integer, List<CommittedChunk>> each : found.byWriter().entrySet()) {
                int at = each.getValue().size() - age;
                if (at < 0 || nextBegins.getOrDefault(each.getKey(), Long.MAX_VALUE) < since) {
                    continue;
                }
                CommittedChunk chunk = each.getValue().get(at);
                byte[] bytes = found.bytes(chunk);
                if (bytes != null) {
                    copy.copies.put(chunk, bytes);
                    newestFirst.computeIfAbsent(each.getKey(), it -> new ArrayList<>()).add(chunk);
                    long begins = time(chunk, bytes);
                    if (begins > 0) {
                        nextBegins.put(each.getKey(), begins);
                    }
                    left -= bytes.length;
                }
            }
        }
        newestFirst.forEach((writer, chunks) -> copy.byWriter.put(writer, reversed(chunks)));
        return copy;
    }

    /**
     * The chunks that a ring has now, since {@code since}, and those that an earlier copy has
     * beside.
     */
    static ChunkSource now(SessionCore session, long since, RingCopy earlier) throws IOException {
        KeptChunks found = new KeptChunks(session);
        Map<Integer, List<CommittedChunk>> all = new TreeMap<>();
        Map<CommittedChunk, byte[]> kept = new HashMap<>();
        Set<Integer> writers = new HashSet<>(found.byWriter().keySet());
        writers.addAll(earlier.byWriter.keySet());
        for (int writer : writers) {
            List<CommittedChunk> before = earlier.byWriter.getOrDefault(writer, List.of());
            List<CommittedChunk> chunks = new ArrayList<>();
            Map<Integer, CommittedChunk> byId = new HashMap<>();
            before.forEach(chunk -> byId.put(chunk.id(), chunk));
            long nextBegins = Long.MAX_VALUE;
            List<CommittedChunk> inRing = found.byWriter().getOrDefault(writer, List.of());
            for (int at = inRing.size() - 1; at >= 0 && nextBegins >= since; at--) {
                CommittedChunk chunk = inRing.get(at);
                CommittedChunk old = byId.get(chunk.id());
                boolean isKept = old != null && old.isComplete();
                byte[] bytes = isKept ? earlier.copies.get(old) : found.look(chunk);
                if (bytes == null) {
                    // Overwritten since a moment ago. The earlier copy may have its beginning.
                    continue;
                }
                byId.remove(chunk.id());
                CommittedChunk taken = isKept ? old : chunk;
                chunks.add(taken);
                if (isKept) {
                    kept.put(taken, bytes);
                }
                long begins = time(taken, bytes);
                nextBegins = begins > 0 ? begins : nextBegins;
            }
            byId.values().forEach(chunk -> {
                chunks.add(chunk);
                kept.put(chunk, earlier.copies.get(chunk));
            });
            if (!chunks.isEmpty()) {
                // Ids count up and may wrap.
                int any = chunks.get(0).id();
                chunks.sort((one, other) -> Integer.compare(one.id() - any, other.id() - any));
                all.put(writer, chunks);
            }
        }
        return new ChunkSource() {
            @Override
            public Map<Integer, List<CommittedChunk>> byWriter() {
                return all;
            }

            @Override
            public byte[] bytes(CommittedChunk chunk) throws IOException {
                byte[] copy = kept.get(chunk);
                return copy != null ? copy : found.bytes(chunk);
            }
        };
    }

    @Override
    public Map<Integer, List<CommittedChunk>> byWriter() {
        return byWriter;
    }

    @Override
    public byte[] bytes(CommittedChunk chunk) {
        return copies.get(chunk);
    }

    /**
     * Keeps the newest chunks, of all writers but those of pinned messages, that have at most so
     * many bytes together, and at least the newest one. Returns the time since which all are there.
     */
    long limit(long most) {
        record Begun(long time, CommittedChunk chunk) {}
        List<Begun> all = new ArrayList<>();
        for (Map.Entry<Integer, List<CommittedChunk>> each : byWriter.entrySet()) {
            long begun = 0;
            for (CommittedChunk chunk : KeptChunks.isPinned(session, each.getKey()) ? List.<CommittedChunk>of() : each.getValue()) {
                // One that has only a part of a packet has the time of the one before.
                long begins = time(chunk, copies.get(chunk));
                begun = begins > 0 ? begins : begun;
                all.add(new Begun(begun, chunk));
            }
        }
        all.sort((one, other) -> Long.compare(other.time, one.time));
        long sum = 0;
        long since = 0;
        for (int at = 0; at < all.size(); at++) {
            sum += all.get(at).chunk.size();
            if (sum > most && at > 0) {
                break;
            }
            since = all.get(at).time;
        }
        for (Begun each : all) {
            if (each.time < since) {
                byWriter.get(each.chunk.writer()).remove(each.chunk);
                copies.remove(each.chunk);
            }
        }
        return since;
    }

    private static List<CommittedChunk> reversed(List<CommittedChunk> chunks) {
        List<CommittedChunk> reversed = new ArrayList<>(chunks);
        Collections.reverse(reversed);
        return reversed;
    }

    /** The time at which a chunk begins; 0 if it has only a part of a packet. */
    private static long time(CommittedChunk chunk, byte[] bytes) {
        int at = 0;
        for (int number = 0; number < Math.min(FIRST, chunk.count()); number++) {
            int size = 0;
            int shift = 0;
            byte next = -1;
            while (next < 0 && shift < 28 && at < bytes.length) {
                next = bytes[at++];
                size |= (next & 0x7f) << shift;
                shift += 7;
            }
            if (size <= 0 || size > bytes.length - at) {
                return 0;
            }
            try {
                SequencePacket packet = SequencePacket.read(bytes, at, at + size);
                if (packet.info() != null) {
                    return packet.clock();
                }
            } catch (ProtoReader.MalformedException e) {
                // The end of a packet that came in pieces.
            }
            at += size;
        }
        return 0;
    }
}
