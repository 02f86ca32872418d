package dev.protolog.internal.write;

import dev.protolog.internal.proto.ProtoWriter;
import dev.protolog.internal.proto.Utf8;
import dev.protolog.internal.rules.RuledCall;
import dev.protolog.internal.text.Arguments;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Encodes the messages of one thread that {@link TraceWriter} can't store straight into the chunk:
 * those with new strings, stack traces, rates or little room. First {@link #measure} interns the
 * strings, then {@link #encode} puts the content together, then {@link #putHead} and {@link #join}
 * make a packet.
 *
 * <p>Invariant: after an error of the JVM, the table may have strings that no chunk has; the next
 * user clears it.
 */
final class MessageEncoder {
    /** Room before the content of a message, for fields that are known after it. */
    static final int HEAD = 32;
    /** The most bytes of an argument that is no string: its tag and itself. */
    static final int MAX_ARGUMENT = 11;
    /**
     * The most bytes of a packet that a writer stores straight into its chunk: its sizes are one
     * byte each.
     */
    static final int SHORT_PACKET = 127;
    /**
     * The longest time since the packet before it, in nanoseconds: four bytes, a quarter of a
     * second.
     */
    static final long SHORT_DELTA = (1 << 28) - 1;
    /**
     * The most bytes of such a packet without arguments, and those by which a store may reach
     * beyond it.
     */
    static final int MAX_FAST_HEAD = 2 + 4 + 4 + Long.BYTES + Long.BYTES;
    /** The tags of interned strings and stack traces. */
    private static final int STRING = 0x02a2;
    private static final int STACK = 0x02aa;
    /** The tags of a rate: one of so many, or more. */
    private static final int RATE_OF = 1001 << 3;
    private static final int RATE_KEPT = 1002 << 3;
    /** The tag of the argument that decides. */
    private static final int RATE_BY = 1003 << 3;
    /** The most bytes of a rate. */
    private static final int MAX_RATE = 3 * (2 + 5);
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private static final int FIRST_SIZE = 256;
    /** The most bytes of an array that is kept for the next message. */
    private static final int MAX_KEPT = 16 << 10;

    /** The strings that the chunk has. */
    final StringTable strings = new StringTable();
    /** The message, from {@link #HEAD} on. */
    final byte[] content = new byte[HEAD + 16 + (Arguments.MAX + 1) * MAX_ARGUMENT + MAX_RATE];

    private final int maxStringBytes;
    /** The new strings of the message. */
    private byte[] interned = new byte[FIRST_SIZE];
    private int internedSize;
    /** The packet of a message with new strings. */
    private byte[] joined = new byte[FIRST_SIZE];
    /** The id of the message's stack trace, if it has one. */
    private int stackIid;
    /** Truncated strings of the message. */
    private int cut;

    /** {@code maxStringBytes}: longer strings are truncated. */
    MessageEncoder(int maxStringBytes) {
        this.maxStringBytes = maxStringBytes;
    }

    /** The bytes of the new strings of the message that was measured last. */
    int internedSize() {
        return internedSize;
    }

    /** True if the message that was measured last has truncated strings. */
    boolean isCut() {
        return cut > 0;
    }

    /** The packet that was joined last. */
    byte[] joined() {
        return joined;
    }

    /**
     * Returns the size of the message but for its head. Strings are put into words as their ids,
     * new ones encoded into {@link #interned}.
     */
    int measure(Call call, boolean isRemembered) {
        internedSize = 0;
        cut = 0;
        int length = 1 + Long.BYTES;
        long kinds = call.kinds;
        for (int i = 0; i < call.count; i++, kinds >>>= 2) {
            long word = call.words[i];
            switch ((int) kinds & 3) {
                case Arguments.INTEGER -> length += 1 + ProtoWriter.sizeOf(word << 1 ^ word >> 63);
                case Arguments.FLOATING -> length += 1 + Long.BYTES;
                case Arguments.BOOL -> length += 2;
                default -> {
                    int iid = intern(STRING, call.texts[i], isRemembered);
                    call.words[i] = iid;
                    length += 1 + ProtoWriter.sizeOf(iid);
                }
            }
        }
        length += sizeOfRate(call.rate);
        if (call.stack != null) {
            stackIid = intern(STACK, call.stack, false);
            length += 1 + ProtoWriter.sizeOf(stackIid);
        }
        return length;
    }

    /**
     * Encodes a message that was measured, but for its head, into {@link #content}, and gives its
     * size.
     */
    int encode(Call call) {
        byte[] to = content;
        int at = HEAD;
        to[at++] = 0x09;
        LONG.set(to, at, call.id);
        at += 8;
        long kinds = call.kinds;
        for (int i = 0; i < call.count; i++, kinds >>>= 2) {
            long word = call.words[i];
            switch ((int) kinds & 3) {
                case Arguments.INTEGER -> {
                    to[at++] = 0x18;
                    at = ProtoWriter.putVarint(to, at, word << 1 ^ word >> 63);
                }
                case Arguments.FLOATING -> {
                    to[at++] = 0x21;
                    LONG.set(to, at, word);
                    at += 8;
                }
                case Arguments.BOOL -> {
                    to[at++] = 0x28;
                    to[at++] = (byte) word;
                }
                default -> {
                    to[at++] = 0x10;
                    at = ProtoWriter.putVarint(to, at, word);
                }
            }
        }
        if (call.rate != 0) {
            at = putRate(to, at, call.rate);
        }
        if (call.stack != null) {
            to[at++] = 0x30;
            at = ProtoWriter.putVarint(to, at, stackIid);
        }
        return at - HEAD;
    }

    /**
     * Puts the head of the packet before its content, and gives where it begins. Without strings
     * the packet is in one piece.
     */
    int putHead(long delta, int length) {
        int tail = 2 + ProtoWriter.sizeOf(length);
        int at = HEAD - tail;
        content[at] = (byte) 0xc2;
        content[at + 1] = 0x06;
        ProtoWriter.putVarint(content, at + 2, length);
        if (internedSize > 0) {
            at -= 2;
            content[at] = 0x68;
            content[at + 1] = 0x02;
            return at;
        }
        at -= 1 + ProtoWriter.sizeOf(delta);
        content[at] = 0x40;
        ProtoWriter.putVarint(content, at + 1, delta);
        return at;
    }

    /** Makes the packet of a message with new strings in {@link #joined}, and gives its size. */
    int join(long delta, int from, int end) {
        int strings = 1 + ProtoWriter.sizeOf(internedSize);
        int length = 1 + ProtoWriter.sizeOf(delta) + strings + internedSize + end - from;
        if (length > joined.length) {
            joined = new byte[2 * length];
        }
        byte[] packet = joined;
        packet[0] = 0x40;
        int at = ProtoWriter.putVarint(packet, 1, delta);
        packet[at++] = 0x62;
        at = ProtoWriter.putVarint(packet, at, internedSize);
        System.arraycopy(interned, 0, packet, at, internedSize);
        System.arraycopy(content, from, packet, at + internedSize, end - from);
        return length;
    }

    /** Forgets arrays of a long message, so that idle threads keep little. */
    void trim() {
        if (interned.length > MAX_KEPT) {
            interned = new byte[FIRST_SIZE];
        }
        if (joined.length > MAX_KEPT) {
            joined = new byte[FIRST_SIZE];
        }
    }

    /** The fields of a rate, as {@code protolog-rt/src/writer/sampled.rs} writes them. */
    private static int putRate(byte[] to, int from, long rate) {
        int at = ProtoWriter.putVarint(to, from, RATE_OF);
        at = ProtoWriter.putVarint(to, at, RuledCall.of(rate));
        int kept = RuledCall.kept(rate);
        if (kept != 1) {
            at = ProtoWriter.putVarint(to, at, RATE_KEPT);
            at = ProtoWriter.putVarint(to, at, kept);
        }
        int by = RuledCall.by(rate);
        if (by != 0) {
            at = ProtoWriter.putVarint(to, at, RATE_BY);
            at = ProtoWriter.putVarint(to, at, by);
        }
        return at;
    }

    private static int sizeOfRate(long rate) {
        int kept = RuledCall.kept(rate);
        int by = RuledCall.by(rate);
        return rate == 0 ? 0 : 2 + ProtoWriter.sizeOf(RuledCall.of(rate)) + (kept == 1 ? 0 : 2 + ProtoWriter.sizeOf(kept))
                + (by == 0 ? 0 : 2 + ProtoWriter.sizeOf(by));
    }

    private int intern(int tag, String text, boolean isRemembered) {
        int known = isRemembered ? strings.find(text) : 0;
        if (known != 0) {
            return known;
        }
        int iid = strings.add(text, isRemembered);
        int length = Utf8.length(text);
        int kept = Math.min(length, maxStringBytes);
        cut += kept < length ? 1 : 0;
        int most = internedSize + kept + ProtoWriter.AROUND_INTERNED;
        if (most > interned.length) {
            interned = Arrays.copyOf(interned, 2 * most);
        }
        internedSize = ProtoWriter.putInterned(interned, internedSize, tag, iid, text, kept, kept < length);
        return iid;
    }
}
