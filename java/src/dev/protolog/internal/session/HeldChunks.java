package dev.protolog.internal.session;

import dev.protolog.internal.write.CommittedChunk;
import dev.protolog.internal.write.SharedBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Complete chunks that a stream has read: those that the file may lack, and those with a last
 * packet that goes on in one not there yet.
 *
 * <p>Invariant: a chunk is freed once, and only after the file has it and the packet that it ends
 * with.
 */
final class HeldChunks {
    private final List<Held> held = new ArrayList<>();
    /** The bytes of those that the file may lack. */
    private int bytes;

    /**
     * A complete chunk, and the reader of its sequence. The claim has the chunk until it is free.
     */
    private record Held(CommittedChunk chunk, SharedBuffer.Claim claim, SequenceReader reader) {}

    /** The chunks of a time. */
    record Mark(int size, int bytes) {}

    void add(CommittedChunk chunk, SequenceReader reader) {
        SharedBuffer.Claim claim = new SharedBuffer.Claim();
        claim.chunk = chunk.chunk();
        held.add(new Held(chunk, claim, reader));
        bytes += chunk.size();
    }

    boolean has(CommittedChunk chunk) {
        return held.stream().anyMatch(known -> known.claim.chunk == chunk.chunk());
    }

    int bytes() {
        return bytes;
    }

    Mark mark() {
        return new Mark(held.size(), bytes);
    }

    /** Forgets chunks that came after a time. */
    void rewind(Mark to) {
        while (held.size() > to.size) {
            held.remove(held.size() - 1);
        }
        bytes = to.bytes;
    }

    /**
     * Frees the chunks, all of which are in the file; those with the beginning of a packet wait for
     * its end.
     */
    void free(SharedBuffer buffer) {
        bytes = 0;
        for (int i = held.size() - 1; i >= 0; i--) {
            Held each = held.get(i);
            int next = (int) (each.reader.position() >>> 32);
            if (each.chunk.id() - next < 0) {
                // After an error in between, the next time finds it free already.
                if (each.claim.chunk != SharedBuffer.NONE) {
                    buffer.free(each.claim);
                }
                held.set(i, held.get(held.size() - 1));
                held.remove(held.size() - 1);
            }
        }
    }
}
