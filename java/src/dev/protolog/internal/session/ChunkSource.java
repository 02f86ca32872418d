package dev.protolog.internal.session;

import dev.protolog.internal.write.CommittedChunk;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/** The chunks of which a trace of kept messages is made. */
interface ChunkSource {
    /** Those of each writer, the oldest first. */
    Map<Integer, List<CommittedChunk>> byWriter();

    /** The bytes of a chunk; null if they are overwritten by now. */
    byte[] bytes(CommittedChunk chunk) throws IOException;
}
