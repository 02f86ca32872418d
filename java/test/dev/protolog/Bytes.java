package dev.protolog;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** Writes protobuf for tests: fields in any order, malformed where a test wants it. */
public final class Bytes {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    public Bytes varint(int field, long value) {
        raw((long) field << 3);
        return raw(value);
    }

    public Bytes fixed64(int field, long value) {
        raw((long) field << 3 | 1);
        for (int i = 0; i < 8; i++) {
            out.write((int) (value >>> 8 * i));
        }
        return this;
    }

    public Bytes fixed32(int field, int value) {
        raw((long) field << 3 | 5);
        for (int i = 0; i < 4; i++) {
            out.write(value >>> 8 * i);
        }
        return this;
    }

    public Bytes string(int field, String text) {
        return bytes(field, text.getBytes(StandardCharsets.UTF_8));
    }

    public Bytes message(int field, Bytes message) {
        return bytes(field, message.done());
    }

    /** One varint, without a field. */
    public Bytes raw(long value) {
        for (; value >>> 7 != 0; value >>>= 7) {
            out.write((int) value & 0x7f | 0x80);
        }
        out.write((int) value);
        return this;
    }

    public Bytes octets(int octet, int times) {
        for (int i = 0; i < times; i++) {
            out.write(octet);
        }
        return this;
    }

    public Bytes octets(byte[] octets) {
        out.writeBytes(octets);
        return this;
    }

    public byte[] done() {
        return out.toByteArray();
    }

    private Bytes bytes(int field, byte[] bytes) {
        raw((long) field << 3 | 2);
        raw(bytes.length);
        out.writeBytes(bytes);
        return this;
    }
}
