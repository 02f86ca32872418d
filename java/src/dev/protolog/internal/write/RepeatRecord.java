package dev.protolog.internal.write;

import dev.protolog.internal.process.PassingErrors;
import dev.protolog.internal.proto.ProtoWriter;

/**
 * Records of how often a message was repeated, among the messages of a chunk. As
 * {@code protolog-rt/src/writer/repeat_record.rs}.
 *
 * <p>Invariants: repeats are reported once: here, or by the session's thread. A session that keeps
 * its messages knows the number of all, as chunks may be overwritten.
 */
final class RepeatRecord {
    private RepeatRecord() {}

    /**
     * Writes how often a message was repeated; where the buffer is full, or the session over, that
     * is left to whoever reports what was counted. It lies among the messages of their request.
     */
    static void report(TraceWriter writer, int group, long message, RequestMark request) {
        Losses unreported = writer.sequence.unreported();
        WriterOwner session = writer.session();
        if (unreported == null || unreported.isEmpty() || session.isStopped() || session.isEnding()) {
            return;
        }
        Losses.Count repeats = unreported.takeRepeats(group, message);
        if (repeats == null) {
            return;
        }
        boolean isWritten = false;
        try {
            ProtoWriter packet = new ProtoWriter();
            repeats.write(packet);
            isWritten = writer.append(packet.done(), request);
        } catch (InternalError e) {
            if (PassingErrors.isOne(e)) {
                throw e;
            }
            // The file that is mapped was truncated, or its disk is full.
            session.fail(e);
        } finally {
            if (!isWritten) {
                unreported.giveBack(repeats);
            }
        }
    }
}
