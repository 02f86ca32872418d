package dev.protolog.internal.perfetto;

import dev.protolog.internal.proto.ProtoReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Puts frames together from bytes as they come. Invariant: it has no more bytes than a frame and
 * one read.
 */
final class FrameInput {
    private byte[] bytes = new byte[4096];
    private int from;
    private int end;

    /** Appends all that {@code read} has. */
    void add(ByteBuffer read) {
        int count = read.remaining();
        if (from > 0) {
            System.arraycopy(bytes, from, bytes, 0, end - from);
            end -= from;
            from = 0;
        }
        if (end + count > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, end + count));
        }
        read.get(bytes, end, count);
        end += count;
    }

    /** The next whole frame; null until more has come. An error for what is none. */
    Frame next() throws IOException {
        if (end - from < Frame.LENGTH) {
            return null;
        }
        long length = 0;
        for (int i = Frame.LENGTH - 1; i >= 0; i--) {
            length = length << 8 | bytes[from + i] & 0xff;
        }
        if (length > Frame.MAX) {
            throw new IOException("the service sent a frame of " + length + " bytes, more than " + Frame.MAX);
        }
        int begin = from + Frame.LENGTH;
        if (end - begin < length) {
            return null;
        }
        from = begin + (int) length;
        try {
            return Frame.decode(bytes, begin, from);
        } catch (ProtoReader.MalformedException e) {
            throw new IOException("the service sent a malformed frame: " + e.getMessage(), e);
        }
    }
}
