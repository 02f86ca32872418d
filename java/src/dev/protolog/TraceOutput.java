package dev.protolog;

import java.io.IOException;
import java.io.OutputStream;

/**
 * Writes packets as fields of a trace, each with the id of its sequence.
 *
 * <p>Invariant: the stream has whole packets, and all of them after {@link #flush}.
 */
final class TraceOutput {
    /** The session's own sequence. Those of writers follow. */
    static final int OWN = 1;

    private static final int TRACE_PACKET = 0x0a;
    private static final int SEQUENCE_ID = 0x50;

    /** The most bytes around a packet. */
    private static final int AROUND = 2 * (1 + ProtoWriter.MAX_VARINT);

    private final OutputStream out;
    private final byte[] buffer = new byte[1 << 16];
    private int used;
    private long written;

    TraceOutput(OutputStream out) {
        this.out = out;
    }

    void packet(int sequence, byte[] packet) throws IOException {
        packet(sequence, packet, 0, packet.length);
    }

    /** Writes the packet that is a part of {@code bytes}. */
    void packet(int sequence, byte[] bytes, int from, int length) throws IOException {
        if (used + length + AROUND > buffer.length) {
            flush();
        }
        int start = used;
        buffer[used++] = TRACE_PACKET;
        used = ProtoWriter.putVarint(buffer, used, length + 1 + ProtoWriter.sizeOf(sequence));
        written += used - start + length;
        if (length + AROUND > buffer.length) {
            flush();
            out.write(bytes, from, length);
        } else {
            System.arraycopy(bytes, from, buffer, used, length);
            used += length;
        }
        start = used;
        buffer[used++] = SEQUENCE_ID;
        used = ProtoWriter.putVarint(buffer, used, sequence);
        written += used - start;
    }

    /** Passes on what is buffered. */
    void flush() throws IOException {
        int length = used;
        used = 0;
        out.write(buffer, 0, length);
        out.flush();
    }

    void own(byte[] packet) throws IOException {
        packet(OWN, packet);
    }

    long written() {
        return written;
    }
}
