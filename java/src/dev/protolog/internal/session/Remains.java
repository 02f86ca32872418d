package dev.protolog.internal.session;

import dev.protolog.internal.dictionary.SessionDictionary;
import dev.protolog.internal.proto.ProtoReader;
import dev.protolog.internal.write.Losses;
import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Map;

/**
 * The remains of a trace file that somebody else has cut: its whole packets, with their messages
 * and the losses that they report. As {@code protolog-rt/src/session/packets/remains.rs}.
 *
 * <p>Invariant: messages are left only if a reader finds them; those of bundles that can't be
 * inflated are not.
 */
final class Remains {
    private static final int PACKET = 0x0a;
    private static final int SEQUENCE_ID = 10;
    private static final int COMPRESSED_PACKETS = 50;
    private static final int MESSAGE = 104;
    private static final int BUFFER = 1 << 16;

    /** The messages of each sequence. */
    private final Map<Integer, Long> messages = new HashMap<>();
    private final Losses reported = new Losses();
    private final SessionStats.Written counts;
    private long end;

    private Remains(SessionDictionary dictionary) {
        counts = new SessionStats.Written(dictionary);
    }

    /** Nothing. */
    static Remains none(SessionDictionary dictionary) {
        return new Remains(dictionary);
    }

    /** Reads the whole packets among the first {@code length} bytes of a trace. */
    static Remains read(InputStream trace, long length, SessionDictionary dictionary) throws IOException {
        Remains remains = new Remains(dictionary);
        InputStream in = new BufferedInputStream(trace, BUFFER);
        while (true) {
            int size = remains.readPacket(in, length - remains.end, 0);
            if (size == 0) {
                return remains;
            }
            remains.end += size;
        }
    }

    /** The offset of the end of the last whole packet. */
    long end() {
        return end;
    }

    /** The messages of a sequence. */
    long messages(int sequence) {
        return messages.getOrDefault(sequence, 0L);
    }

    /** The losses that it reports. */
    Losses reported() {
        return reported;
    }

    /** Messages and their bytes, by group. */
    Map<String, long[]> groups() {
        return counts.groups();
    }

    /**
     * Reads a packet of at most {@code left} bytes with its tag. Its size; 0 at the end, within a
     * packet, or at bytes that are no packet.
     */
    private int readPacket(InputStream in, long left, int depth) throws IOException {
        if (in.read() != PACKET) {
            return 0;
        }
        long length = 0;
        int head = 1;
        for (int shift = 0, next = 0x80; next >= 0x80; shift += 7) {
            next = in.read();
            if (next < 0 || shift > 28) {
                return 0;
            }
            length |= (long) (next & 0x7f) << shift;
            head++;
        }
        if (length > left - head || length > Integer.MAX_VALUE - BUFFER) {
            return 0;
        }
        byte[] packet = in.readNBytes((int) length);
        if (packet.length < length) {
            return 0;
        }
        int size = head + packet.length;
        try {
            add(packet, size, depth);
        } catch (ProtoReader.MalformedException e) {
            // No reader finds a message in it.
        }
        return size;
    }

    private void add(byte[] packet, int size, int depth) throws IOException, ProtoReader.MalformedException {
        ProtoReader fields = new ProtoReader(packet);
        boolean isMessage = false;
        long message = 0;
        int sequence = 0;
        while (fields.next()) {
            switch (fields.field()) {
                case COMPRESSED_PACKETS -> {
                    byte[] bundle = fields.bytes();
                    if (depth == 0) {
                        byte[] packets = TraceSurvey.inflated(bundle);
                        InputStream in = new ByteArrayInputStream(packets);
                        while (readPacket(in, packets.length, 1) > 0) {
                            // It is added.
                        }
                    }
                }
                case MESSAGE -> {
                    ProtoReader of = fields.message();
                    isMessage = true;
                    message = of.next() && of.field() == 1 ? of.fixed64() : 0;
                }
                case Losses.LOSS, Losses.PASSED_OVER -> Losses.Count.read(fields.field(), fields.message()).addTo(reported);
                case SEQUENCE_ID -> sequence = (int) fields.varint();
                default -> fields.skip();
            }
        }
        if (isMessage && sequence != TraceOutput.OWN) {
            messages.merge(sequence, 1L, Long::sum);
            counts.add(message, size);
        }
    }
}
