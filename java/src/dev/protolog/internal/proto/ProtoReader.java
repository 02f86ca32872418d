package dev.protolog.internal.proto;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * Reads protobuf: fields one after the other, over bytes that it borrows.
 *
 * <p>Use: {@code while (reader.next()) switch (reader.field()) { … default -> reader.skip(); }};
 * each field is read or skipped exactly once. Invariant: takes any bytes; malformed ones are a
 * {@link MalformedException}, nothing else.
 */
public final class ProtoReader {
    private static final int VARINT = 0;
    private static final int FIXED64 = 1;
    private static final int LENGTH = 2;
    private static final int FIXED32 = 5;

    private final byte[] bytes;
    private final int end;
    private int at;
    private int field;
    private int wireType;

    public ProtoReader(byte[] bytes) {
        this(bytes, 0, bytes.length);
    }

    public ProtoReader(byte[] bytes, int from, int end) {
        this.bytes = bytes;
        this.at = from;
        this.end = end;
    }

    /** Goes to the next field; false at the end. */
    public boolean next() throws MalformedException {
        if (at == end) {
            return false;
        }
        long tag = rawVarint();
        wireType = (int) tag & 7;
        if (tag >>> 3 == 0 || tag >>> 32 != 0) {
            throw new MalformedException("field number out of range", at);
        }
        field = (int) (tag >>> 3);
        return true;
    }

    public int field() {
        return field;
    }

    /** Where the next field, or the value of this one, begins. */
    public int at() {
        return at;
    }

    public long fixed64() throws MalformedException {
        expect(FIXED64);
        long value = 0;
        int from = take(8);
        for (int i = 7; i >= 0; i--) {
            value = value << 8 | bytes[from + i] & 0xff;
        }
        return value;
    }

    public String string() throws MalformedException {
        expect(LENGTH);
        int length = length();
        return new String(bytes, take(length), length, StandardCharsets.UTF_8);
    }

    public byte[] bytes() throws MalformedException {
        expect(LENGTH);
        int length = length();
        int from = take(length);
        return Arrays.copyOfRange(bytes, from, from + length);
    }

    public long varint() throws MalformedException {
        expect(VARINT);
        return rawVarint();
    }

    /** Adds the values of a repeated field: the one that is here, or several that are packed. */
    public void addVarints(List<Long> values) throws MalformedException {
        if (wireType != LENGTH) {
            values.add(varint());
            return;
        }
        ProtoReader packed = message();
        while (packed.at < packed.end) {
            values.add(packed.rawVarint());
        }
    }

    public ProtoReader message() throws MalformedException {
        expect(LENGTH);
        int length = length();
        int from = take(length);
        return new ProtoReader(bytes, from, from + length);
    }

    public void skip() throws MalformedException {
        switch (wireType) {
            case VARINT -> rawVarint();
            case FIXED64 -> take(8);
            case LENGTH -> take(length());
            case FIXED32 -> take(4);
            default -> throw new MalformedException("wire type " + wireType, at);
        }
    }

    private void expect(int expected) throws MalformedException {
        if (wireType != expected) {
            throw new MalformedException("field " + field + " with wire type " + wireType, at);
        }
    }

    private int length() throws MalformedException {
        long length = rawVarint();
        if (length < 0 || length > end - at) {
            throw new MalformedException("a length beyond the end", at);
        }
        return (int) length;
    }

    private int take(int count) throws MalformedException {
        if (count > end - at) {
            throw new MalformedException("cut off", at);
        }
        int from = at;
        at += count;
        return from;
    }

    private long rawVarint() throws MalformedException {
        long value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            byte next = bytes[take(1)];
            value |= (long) (next & 0x7f) << shift;
            if (next >= 0) {
                return value;
            }
        }
        throw new MalformedException("a varint of more than ten bytes", at);
    }

    /** Bytes that are no protobuf, or no field of the expected type. */
    public static final class MalformedException extends Exception {
        private static final long serialVersionUID = 1;

        MalformedException(String what, int at) {
            super(what + " at byte " + at);
        }
    }
}
