package dev.protolog.internal.write;

import dev.protolog.internal.proto.ProtoWriter;
import dev.protolog.internal.proto.Utf8;
import dev.protolog.internal.proto.Xxh3;
import dev.protolog.internal.text.Arguments;
import dev.protolog.internal.text.Template;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The packet with which a span begins or ends: an event on the thread's track, the fields beside
 * it, and the time last, since a packet that begins with that is a message. Its bytes are those of
 * {@code protolog-rt/src/writer/slice.rs}. One thread uses it, for one packet after the other.
 *
 * <p>Invariant: a packet fits into the largest chunk.
 */
final class Slice {
    /** A call that writes this has such a rate, so that it is no plain message. */
    static final long RATE = -1;

    /** The description of a track that a chunk has already. */
    static final byte[] NO_TRACK = {};

    private static final int EVENT = 11;
    /** The tag of a timestamp. */
    private static final byte TIME = 0x40;
    private static final int DEPTH = 1003;
    private static final int MESSAGE = 1011;
    private static final int BEGIN = 1;
    private static final int END = 2;
    /** The most bytes of a name, and of all texts. */
    private static final int MAX_NAME = 200;
    private static final int MAX_TEXTS = 1400;
    /** The most bytes of names of arguments: those beyond are numbered, as ones without names. */
    private static final int MAX_NAMES = 800;

    private final ProtoWriter event = new ProtoWriter();
    private final ProtoWriter argument = new ProtoWriter();
    private final ProtoWriter packet = new ProtoWriter();
    /** The track of the thread; 0 before the first packet. */
    long track;
    /** True once the last one was shown to readers. */
    boolean isShown;

    /**
     * Encodes the begin of a span with the arguments of a call, but for its time; the template is
     * null if it is not known.
     */
    void begin(Call call, Template template, int depth) {
        startEvent(BEGIN, call);
        text(event, 22, call.group.fullName, MAX_NAME);
        if (template != null) {
            text(event, 23, template.spanName(), MAX_NAME);
        }
        int share = share(call);
        int left = MAX_NAMES;
        long kinds = call.kinds;
        for (int i = 0; i < call.count; i++, kinds >>>= 2) {
            String name = template == null ? null : template.argumentName(i);
            left -= name == null ? 0 : Utf8.length(name);
            argument.clear().string(10, name == null || left < 0 ? Integer.toString(i + 1) : name);
            switch ((int) kinds & 3) {
                case Arguments.INTEGER -> argument.varint(4, call.words[i]);
                case Arguments.FLOATING -> argument.fixed64(5, call.words[i]);
                case Arguments.BOOL -> argument.varint(2, call.words[i]);
                default -> text(argument, 6, call.texts[i], share);
            }
            event.message(4, argument);
        }
        packet.clear().message(EVENT, event).varint(DEPTH, depth).fixed64(MESSAGE, call.id);
    }

    /** Encodes the end of a span, but for its time. */
    void end(Call call, int depth) {
        startEvent(END, call);
        packet.clear().message(EVENT, event).varint(DEPTH, depth);
    }

    /** The packet with this time since the one before. */
    byte[] at(long delta) {
        int size = packet.size();
        byte[] whole = Arrays.copyOf(packet.array(), size + 1 + ProtoWriter.sizeOf(delta));
        whole[size] = TIME;
        ProtoWriter.putVarint(whole, size + 1, delta);
        return whole;
    }

    private void startEvent(int type, Call call) {
        if (track == 0) {
            track = track((int) ProcessHandle.current().pid(), call.threadId());
        }
        isShown = false;
        event.clear().varint(9, type).varint(11, track);
    }

    /** The track of a thread: any number that is not 0 and that no other thread's track has. */
    private static long track(int pid, int thread) {
        ByteBuffer ids = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        return Xxh3.hash(ids.putLong((long) pid << 32 | Integer.toUnsignedLong(thread)).array()) | 1;
    }

    /** The most bytes of each text: all of it where there is room, else an equal part. */
    private static int share(Call call) {
        int count = 0;
        long all = 0;
        for (int i = 0; i < call.count; i++) {
            if (call.kind(i) == Arguments.TEXT) {
                count++;
                all += Utf8.length(call.texts[i]);
            }
        }
        return all <= MAX_TEXTS ? MAX_TEXTS : MAX_TEXTS / count;
    }

    /** Appends a text of at most so many bytes, a longer one with a mark at its end. */
    private static void text(ProtoWriter to, int field, String text, int most) {
        int length = Utf8.length(text);
        if (length <= most) {
            to.string(field, text);
            return;
        }
        byte[] bytes = new byte[most];
        int kept = Utf8.put(text, bytes, 0, most, true);
        to.bytes(field, bytes, 0, kept);
    }
}
