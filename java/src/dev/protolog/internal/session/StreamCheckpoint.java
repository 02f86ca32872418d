package dev.protolog.internal.session;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * All that changes in a {@link Stream} between two generations of its recording, as the recording
 * has it: after an error of the JVM the stream goes back to it.
 */
record StreamCheckpoint(TraceFile file, TraceOutput.Mark mark, ByteBuffer trace, long earlierBytes, Set<Integer> inFile,
        List<Saved> readers, SessionStats.Written.State counts, StreamLosses.State losses, Map<Integer, Long> changed,
        Map<Integer, Long> changedBefore, HeldChunks.Mark held, int ownPackets, long wallDistance) {
    /** A reader, and its state. */
    record Saved(SequenceReader reader, SequenceReader.State state) {
        void restore() {
            reader.restore(state);
        }
    }
}
