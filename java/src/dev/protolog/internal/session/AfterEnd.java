package dev.protolog.internal.session;

import dev.protolog.internal.files.OutputFile;
import dev.protolog.internal.proto.ProtoWriter;
import dev.protolog.internal.write.Losses;
import java.io.IOException;

/**
 * The messages that come after a trace was written to its end, while the program ends: they are
 * counted in the file, in one packet after all others, which each of them writes anew. So the count
 * is right whenever the JVM ends.
 */
final class AfterEnd {
    private static final int PACKET = 1;
    private static final int SEQUENCE_ID = 10;
    private static final int TIME = 8;

    private final SessionCore session;
    private final OutputFile file;
    /** The size of the complete trace. */
    private final long end;
    /** The losses that it reports. */
    private final Losses reported;

    AfterEnd(SessionCore session, OutputFile file, Losses reported) throws IOException {
        this.session = session;
        this.file = file;
        this.reported = reported;
        end = file.size();
    }

    /** Writes the losses that the trace lacks. */
    synchronized void report() throws IOException {
        ProtoWriter packet = new ProtoWriter().varint(TIME, session.clock().now());
        int head = packet.size();
        session.total().without(reported).forEach(count -> count.write(packet));
        if (packet.size() > head) {
            byte[] bytes = new ProtoWriter().message(PACKET, packet.varint(SEQUENCE_ID, TraceOutput.OWN)).done();
            file.writeAt(end, bytes, 0, bytes.length);
        }
    }
}
