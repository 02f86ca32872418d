package dev.protolog.internal.session;

import dev.protolog.internal.proto.ProtoWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.zip.Deflater;

/**
 * Writes packets as fields of a trace, each with the id of its sequence. Compressed ones are in
 * bundles of {@value #BUNDLE} bytes, each a zlib stream in a packet of its own,
 * {@code TracePacket.compressed_packets}, that can be read alone.
 *
 * <p>Invariant: the stream has whole packets, and all of them after {@link #flush}.
 */
final class TraceOutput implements PacketOutput {
    /** The session's own sequence. Those of writers follow. */
    static final int OWN = 1;

    private static final int TRACE_PACKET = 0x0a;
    private static final int SEQUENCE_ID = 0x50;
    private static final int COMPRESSED_PACKETS = 50;
    private static final int BUFFER = 1 << 16;
    private static final int BUNDLE = 1 << 18;

    /** The most bytes around a packet. */
    private static final int AROUND = 2 * (1 + ProtoWriter.MAX_VARINT);

    private final OutputStream out;
    /** Null for a trace that is not compressed. */
    private final Deflater deflater;
    private byte[] buffer;
    private int used;
    private long written;
    /** True while bytes are passed on, and after an error meanwhile: the stream may have them. */
    private boolean isInDoubt;
    private long packetBytes;

    /** A place between two packets. */
    record Mark(long written, long packetBytes) {}

    /** {@code compression} is zlib's level, 0 for none. */
    TraceOutput(OutputStream out, int compression) {
        this.out = out;
        deflater = compression == 0 ? null : new Deflater(compression);
        buffer = new byte[compression == 0 ? BUFFER : BUNDLE];
    }

    @Override
    public void packet(int sequence, byte[] bytes, int from, int length) throws IOException {
        if (used + length + AROUND > buffer.length) {
            flush();
            if (length + AROUND > buffer.length) {
                buffer = new byte[length + AROUND];
            }
        }
        int start = used;
        buffer[used++] = TRACE_PACKET;
        used = ProtoWriter.putVarint(buffer, used, length + 1 + ProtoWriter.sizeOf(sequence));
        System.arraycopy(bytes, from, buffer, used, length);
        used += length;
        buffer[used++] = SEQUENCE_ID;
        used = ProtoWriter.putVarint(buffer, used, sequence);
        packetBytes += used - start;
    }

    /** Passes on the buffered bytes. */
    void flush() throws IOException {
        int length = used;
        used = 0;
        if (length == 0) {
            return;
        } else if (deflater == null) {
            write(buffer, length);
        } else {
            byte[] bundle = bundle(length);
            write(bundle, bundle.length);
        }
    }

    private void write(byte[] bytes, int length) throws IOException {
        isInDoubt = true;
        out.write(bytes, 0, length);
        out.flush();
        written += length;
        isInDoubt = false;
    }

    void own(byte[] packet) throws IOException {
        packet(OWN, packet);
    }

    /** The bytes that were passed on. */
    long written() {
        return written;
    }

    /** The same, with those that are buffered, which may become fewer. */
    long size() {
        return written + used;
    }

    @Override
    public long packetBytes() {
        return packetBytes;
    }

    /** True if the stream has bytes, or may have them, that came after {@code mark}. */
    boolean hasMore(Mark mark) {
        return isInDoubt || written != mark.written;
    }

    /** Where nothing is buffered. */
    Mark mark() {
        return new Mark(written, packetBytes);
    }

    /** Forgets the bytes after {@code mark}, of which the stream has nothing any more. */
    void rewind(Mark mark) {
        used = 0;
        isInDoubt = false;
        written = mark.written;
        packetBytes = mark.packetBytes;
    }

    /** Frees the memory of the compressor. Nothing is written any more. */
    void end() {
        if (deflater != null) {
            deflater.end();
        }
    }

    /** The first {@code length} bytes of the buffer as a packet of compressed ones. */
    private byte[] bundle(int length) {
        deflater.reset();
        deflater.setInput(buffer, 0, length);
        deflater.finish();
        byte[] stream = new byte[length / 2 + 64];
        int size = 0;
        while (!deflater.finished()) {
            if (size == stream.length) {
                stream = Arrays.copyOf(stream, 2 * size);
            }
            size += deflater.deflate(stream, size, stream.length - size);
        }
        ProtoWriter packets = new ProtoWriter(size + AROUND).bytes(COMPRESSED_PACKETS, stream, 0, size);
        return new ProtoWriter(size + 2 * AROUND).message(1, packets).done();
    }
}
