package dev.protolog.internal.rules;

import dev.protolog.internal.proto.Xxh3;
import java.nio.charset.StandardCharsets;

/**
 * The 56 bits by which messages with one value of an argument are kept or passed over together, in
 * each program, language and reader, as {@code protolog-core/src/randomness.rs} has it: the last
 * ones of a trace id of W3C's Trace Context, alone or in a {@code traceparent}; of each other value
 * the last ones of the XXH3-64 of its text. {@code randomness.tsv} in
 * {@code protolog-core/testdata} has vectors for both.
 */
public final class Randomness {
    private static final long MASK = (1L << 56) - 1;
    /** Digits of a trace id. */
    private static final int TRACE_ID = 32;
    private static final int TRACE_PARENT = 55;
    /** The place of the parent's id in a {@code traceparent}, and of the flags. */
    private static final int PARENT = 36;
    private static final int FLAGS = 53;

    private Randomness() {}

    public static long of(String text) {
        int length = text.length();
        if (length == TRACE_ID && areDigits(text, 0, TRACE_ID)) {
            return Long.parseUnsignedLong(text, TRACE_ID / 2, TRACE_ID, 16) & MASK;
        }
        boolean isParent = length == TRACE_PARENT && text.charAt(2) == '-' && text.charAt(PARENT - 1) == '-' && text.charAt(FLAGS - 1) == '-';
        if (isParent && areDigits(text, 3, PARENT - 1) && areDigits(text, PARENT, FLAGS - 1)) {
            return Long.parseUnsignedLong(text, 3 + TRACE_ID / 2, PARENT - 1, 16) & MASK;
        }
        return of(text.getBytes(StandardCharsets.UTF_8));
    }

    public static long of(long number) {
        return of(Long.toString(number).getBytes(StandardCharsets.ISO_8859_1));
    }

    /** That of a number with these bits. */
    public static long ofBits(long bits) {
        byte[] bytes = new byte[Long.BYTES];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (bits >>> Byte.SIZE * i);
        }
        return of(bytes);
    }

    public static long of(boolean value) {
        return of(Boolean.toString(value));
    }

    private static long of(byte[] bytes) {
        return Xxh3.hash(bytes) & MASK;
    }

    private static boolean areDigits(String text, int begin, int end) {
        for (int i = begin; i < end; i++) {
            char digit = text.charAt(i);
            if (!(digit >= '0' && digit <= '9' || digit >= 'a' && digit <= 'f' || digit >= 'A' && digit <= 'F')) {
                return false;
            }
        }
        return true;
    }
}
