package dev.protolog.internal.proto;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Writes protobuf into an array that grows.
 * {@code packet.message(6, new ProtoWriter().varint(1, 64))}
 *
 * <p>Invariant: fields are whole; bytes written before never change.
 */
public final class ProtoWriter {
    /** The most bytes of a varint. */
    public static final int MAX_VARINT = 10;
    /** The room that an interned string takes beside its own bytes while it is written. */
    public static final int AROUND_INTERNED = 32;

    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private byte[] bytes;
    private int size;

    public ProtoWriter() {
        this(64);
    }

    public ProtoWriter(int capacity) {
        bytes = new byte[capacity];
    }

    /** The number of bytes that {@code value} takes as a varint. */
    public static int sizeOf(long value) {
        return (9 * (64 - Long.numberOfLeadingZeros(value | 1)) + 64) >>> 6;
    }

    /** The bytes of a varint of {@code size} bytes, seven at most, in a word. */
    public static long spread(long value, int size) {
        long x = value & 0xfffffffL | (value & 0x1fffff0000000L) << 4;
        x = x & 0x3fff00003fffL | (x & 0xfffc0000fffc000L) << 2;
        x = x & 0x7f007f007f007fL | (x & 0x3f803f803f803f80L) << 1;
        return x | 0x80808080808080L & (1L << 8 * size - 8) - 1;
    }

    /** Writes {@code value} as a varint to {@code at}, and gives the offset after it. */
    public static int putVarint(byte[] to, int at, long value) {
        while ((value & ~0x7fL) != 0) {
            to[at++] = (byte) (value | 0x80);
            value >>>= 7;
        }
        to[at++] = (byte) value;
        return at;
    }

    /**
     * Writes an interned string, with a tag of two bytes, to {@code at}: its id, and the first
     * {@code kept} bytes of {@code text}. Gives the offset after it.
     */
    public static int putInterned(byte[] to, int at, int tag, int iid, String text, int kept, boolean isCut) {
        // The text after the longest head, then moved to where its head ends.
        int from = at + AROUND_INTERNED / 2;
        int size = Utf8.put(text, to, from, kept, isCut);
        int next = at;
        to[next++] = (byte) tag;
        to[next++] = (byte) (tag >>> 8);
        next = putVarint(to, next, 1 + sizeOf(iid) + 1 + sizeOf(size) + size);
        to[next++] = 0x08;
        next = putVarint(to, next, iid);
        to[next++] = 0x12;
        next = putVarint(to, next, size);
        System.arraycopy(to, from, to, next, size);
        return next + size;
    }

    /** The varint of {@code value} in four bytes, as a word. */
    public static int varint4(int value) {
        return value & 0x7f | (value & 0x3f80) << 1 | (value & 0x1fc000) << 2 | (value & 0xfe00000) << 3 | 0x808080;
    }

    /**
     * Writes a field with a varint and a tag of one byte, with stores that may reach eight bytes
     * beyond it, and gives the offset after it.
     */
    public static int putTagged(ByteBuffer to, int at, int tag, long value) {
        int size = sizeOf(value);
        if (size < Long.BYTES) {
            to.putLong(at, tag | spread(value, size) << 8);
            return at + 1 + size;
        }
        to.put(at++, (byte) tag);
        while ((value & ~0x7fL) != 0) {
            to.put(at++, (byte) (value | 0x80));
            value >>>= 7;
        }
        to.put(at, (byte) value);
        return at + 1;
    }

    public ProtoWriter varint(int field, long value) {
        ensure(2 * MAX_VARINT);
        size = putVarint(bytes, size, (long) field << 3);
        size = putVarint(bytes, size, value);
        return this;
    }

    public ProtoWriter fixed64(int field, long value) {
        ensure(MAX_VARINT + 8);
        size = putVarint(bytes, size, (long) field << 3 | 1);
        LONG.set(bytes, size, value);
        size += 8;
        return this;
    }

    public ProtoWriter string(int field, String text) {
        return bytes(field, text.getBytes(StandardCharsets.UTF_8));
    }

    public ProtoWriter bytes(int field, byte[] value) {
        return bytes(field, value, 0, value.length);
    }

    public ProtoWriter bytes(int field, byte[] from, int at, int length) {
        ensure(2 * MAX_VARINT + length);
        size = putVarint(bytes, size, (long) field << 3 | 2);
        size = putVarint(bytes, size, length);
        System.arraycopy(from, at, bytes, size, length);
        size += length;
        return this;
    }

    /** Begins a message of {@code length} bytes, which its fields make up. */
    public ProtoWriter length(int field, int length) {
        ensure(2 * MAX_VARINT);
        size = putVarint(bytes, size, (long) field << 3 | 2);
        size = putVarint(bytes, size, length);
        return this;
    }

    public ProtoWriter message(int field, ProtoWriter message) {
        return bytes(field, message.bytes, 0, message.size);
    }

    /** Appends a varint that is no field. */
    public ProtoWriter value(long value) {
        ensure(MAX_VARINT);
        size = putVarint(bytes, size, value);
        return this;
    }

    /** Appends fields that are written already. */
    public ProtoWriter raw(byte[] from, int at, int length) {
        ensure(length);
        System.arraycopy(from, at, bytes, size, length);
        size += length;
        return this;
    }

    public int size() {
        return size;
    }

    /** The bytes, of which {@link #size} count. */
    public byte[] array() {
        return bytes;
    }

    public byte[] done() {
        return Arrays.copyOf(bytes, size);
    }

    public ProtoWriter clear() {
        size = 0;
        return this;
    }

    private void ensure(int more) {
        if (size + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, size + more));
        }
    }
}
