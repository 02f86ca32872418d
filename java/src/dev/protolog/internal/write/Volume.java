package dev.protolog.internal.write;

import dev.protolog.internal.proto.Utf8;
import dev.protolog.internal.text.Arguments;

/**
 * The size of a message, by which bytes are sampled: about that of its packet where each of its
 * texts is new. As {@code protolog-core/src/volume.rs}; {@code volumes.tsv} in
 * {@code protolog-core/testdata} has vectors for both.
 */
final class Volume {
    /** The size of a message without arguments. */
    static final long MESSAGE = 18;
    /** The size of a text beside its bytes. */
    private static final long AROUND_TEXT = 12;
    private static final int FLOAT = 9;
    private static final int BITS = 7;

    private Volume() {}

    static long of(Call call) {
        long bytes = MESSAGE;
        for (int i = 0; i < call.count; i++) {
            bytes += switch (call.kind(i)) {
                case Arguments.INTEGER -> ofInteger(call.words[i]);
                case Arguments.FLOATING -> FLOAT;
                case Arguments.BOOL -> 2;
                default -> ofText(call.texts[i]);
            };
        }
        return bytes;
    }

    /** A tag, and the bytes of seven bits each. */
    static long ofInteger(long number) {
        long zigzag = number << 1 ^ number >> Long.SIZE - 1;
        int bits = Long.SIZE - Long.numberOfLeadingZeros(zigzag | 1);
        return 1 + (bits + BITS - 1) / BITS;
    }

    static long ofText(String text) {
        return AROUND_TEXT + Utf8.length(text);
    }
}
