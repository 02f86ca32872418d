package dev.protolog.internal.session;

import dev.protolog.internal.write.CommittedChunk;
import dev.protolog.internal.write.PageLayout;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The chunks of a session that keeps its messages, as they were found at one time, for a trace.
 *
 * <p>While threads log, a ring overwrites its oldest chunks. So some are copied at once, the newest
 * of each thread first, and all others when they are written: a ring of any size takes little of
 * the heap, and threads wait for one chunk to be copied at most.
 */
final class KeptChunks implements ChunkSource {
    /** The most bytes that are copied at once. */
    private static final long MAX_COPIED = 16 << 20;
    /** The part of the heap that copies may take. */
    private static final int HEAP_PART = 16;

    private final SessionCore session;
    private final Map<Integer, List<CommittedChunk>> byWriter = new TreeMap<>();
    private final Map<CommittedChunk, byte[]> copies = new HashMap<>();

    KeptChunks(SessionCore session) throws IOException {
        this.session = session;
        for (CommittedChunk chunk : session.readBuffer(this::find)) {
            byWriter.computeIfAbsent(chunk.writer(), id -> new ArrayList<>()).add(chunk);
        }
        for (List<CommittedChunk> chunks : byWriter.values()) {
            // Ids count up and may wrap.
            int any = chunks.get(0).id();
            chunks.sort(Comparator.comparingInt(chunk -> chunk.id() - any));
        }
        if (!session.isStopped()) {
            copySome();
        }
    }

    @Override
    public Map<Integer, List<CommittedChunk>> byWriter() {
        return byWriter;
    }

    @Override
    public byte[] bytes(CommittedChunk chunk) throws IOException {
        byte[] copy = copies.remove(chunk);
        return copy != null ? copy : session.readBuffer(() -> copyIfThere(chunk));
    }

    /** As above, of a chunk whose bytes are asked for again later. */
    byte[] look(CommittedChunk chunk) throws IOException {
        byte[] copy = copies.get(chunk);
        return copy != null ? copy : session.readBuffer(() -> copyIfThere(chunk));
    }

    /** True if a writer is one of the pinned messages of a session; null for none. */
    static boolean isPinned(SessionCore session, int writer) {
        return session != null && session.pinned() != null && writer >= PageLayout.FIRST_PINNED_WRITER_ID;
    }

    /** Those of both of its rings. */
    private List<CommittedChunk> find() {
        List<CommittedChunk> found = session.buffer().findAll(true);
        if (session.pinned() != null) {
            found.addAll(session.pinned().buffer().findAll(true));
        }
        return found;
    }

    private byte[] copyIfThere(CommittedChunk chunk) {
        SessionCore ring = isPinned(session, chunk.writer()) ? session.pinned() : session;
        return ring.buffer().copyIfThere(chunk);
    }

    private void copySome() throws IOException {
        long left = Math.min(MAX_COPIED, Runtime.getRuntime().maxMemory() / HEAP_PART);
        boolean isAny = true;
        for (int age = 1; isAny && left > 0; age++) {
            isAny = false;
            for (List<CommittedChunk> chunks : byWriter.values()) {
                if (age > chunks.size() || left <= 0) {
                    continue;
                }
                CommittedChunk chunk = chunks.get(chunks.size() - age);
                byte[] bytes = session.readBuffer(() -> copyIfThere(chunk));
                if (bytes != null) {
                    copies.put(chunk, bytes);
                }
                left -= chunk.size();
                isAny = true;
            }
        }
    }
}
