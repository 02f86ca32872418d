package dev.protolog;

import java.io.IOException;
import java.io.OutputStream;

/** Writes packets as fields of a trace, each with the id of its sequence. */
final class TraceOutput {
    /** The session's own sequence. Those of writers follow. */
    static final int OWN = 1;

    private static final int TRACE_PACKET = 0x0a;
    private static final int SEQUENCE_ID = 0x50;

    private final OutputStream out;
    private long written;

    TraceOutput(OutputStream out) {
        this.out = out;
    }

    void packet(int sequence, byte[] packet) throws IOException {
        byte[] head = new byte[1 + ProtoWriter.MAX_VARINT];
        byte[] tail = new byte[1 + ProtoWriter.MAX_VARINT];
        tail[0] = SEQUENCE_ID;
        int tailSize = ProtoWriter.putVarint(tail, 1, sequence);
        head[0] = TRACE_PACKET;
        int headSize = ProtoWriter.putVarint(head, 1, packet.length + tailSize);
        out.write(head, 0, headSize);
        out.write(packet);
        out.write(tail, 0, tailSize);
        written += headSize + packet.length + tailSize;
    }

    void own(byte[] packet) throws IOException {
        packet(OWN, packet);
    }

    long written() {
        return written;
    }
}
