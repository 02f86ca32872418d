package dev.protolog.internal.write;

import static dev.protolog.internal.write.PageLayout.CHUNK_HEADER;

/**
 * The packets that one chunk of a {@link SharedBuffer} has committed so far. {@code packets} is the
 * word of its header.
 */
public record CommittedChunk(int chunk, int writer, int id, int packets, boolean isComplete) {
    /** The number of whole packets. */
    public int count() {
        int started = packets & PageLayout.MAX_PACKETS;
        return isComplete ? started : Math.max(0, started - 1);
    }

    public boolean continues() {
        return (packets & PageLayout.CONTINUES) != 0;
    }

    public boolean isContinued() {
        return isComplete && (packets & PageLayout.CONTINUED) != 0;
    }

    /** The bytes of the chunk without its header. */
    public int size() {
        return SharedBuffer.end(chunk) - SharedBuffer.at(chunk) - CHUNK_HEADER;
    }
}
