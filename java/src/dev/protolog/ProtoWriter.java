package dev.protolog;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Writes protobuf into an array that grows. {@code packet.message(6, new ProtoWriter().varint(1, 64))}
 *
 * <p>Invariant: fields are whole; what was written before never changes.
 */
final class ProtoWriter {
    /** The most bytes of a varint. */
    static final int MAX_VARINT = 10;

    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private byte[] bytes;
    private int size;

    ProtoWriter() {
        this(64);
    }

    ProtoWriter(int capacity) {
        bytes = new byte[capacity];
    }

    /** The number of bytes that {@code value} takes as a varint. */
    static int sizeOf(long value) {
        return (9 * (64 - Long.numberOfLeadingZeros(value | 1)) + 64) >>> 6;
    }

    /** Writes {@code value} as a varint to {@code at}, and gives the offset after it. */
    static int putVarint(byte[] to, int at, long value) {
        while ((value & ~0x7fL) != 0) {
            to[at++] = (byte) (value | 0x80);
            value >>>= 7;
        }
        to[at++] = (byte) value;
        return at;
    }

    /** Writes {@code value} as a varint of four bytes. */
    static void putVarint4(byte[] to, int at, int value) {
        for (int i = 0; i < 4; i++) {
            to[at + i] = (byte) (value >>> 7 * i & 0x7f | (i < 3 ? 0x80 : 0));
        }
    }

    ProtoWriter varint(int field, long value) {
        ensure(2 * MAX_VARINT);
        size = putVarint(bytes, size, (long) field << 3);
        size = putVarint(bytes, size, value);
        return this;
    }

    ProtoWriter fixed64(int field, long value) {
        ensure(MAX_VARINT + 8);
        size = putVarint(bytes, size, (long) field << 3 | 1);
        LONG.set(bytes, size, value);
        size += 8;
        return this;
    }

    ProtoWriter string(int field, String text) {
        return bytes(field, text.getBytes(StandardCharsets.UTF_8));
    }

    ProtoWriter bytes(int field, byte[] value) {
        return bytes(field, value, 0, value.length);
    }

    ProtoWriter bytes(int field, byte[] from, int at, int length) {
        ensure(2 * MAX_VARINT + length);
        size = putVarint(bytes, size, (long) field << 3 | 2);
        size = putVarint(bytes, size, length);
        System.arraycopy(from, at, bytes, size, length);
        size += length;
        return this;
    }

    ProtoWriter message(int field, ProtoWriter message) {
        return bytes(field, message.bytes, 0, message.size);
    }

    /** Appends fields that are written already. */
    ProtoWriter raw(byte[] from, int at, int length) {
        ensure(length);
        System.arraycopy(from, at, bytes, size, length);
        size += length;
        return this;
    }

    int size() {
        return size;
    }

    /** The bytes, of which {@link #size} count. */
    byte[] array() {
        return bytes;
    }

    byte[] done() {
        return Arrays.copyOf(bytes, size);
    }

    ProtoWriter clear() {
        size = 0;
        return this;
    }

    private void ensure(int more) {
        if (size + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, size + more));
        }
    }
}
