package dev.protolog.internal.write;

import dev.protolog.internal.proto.ProtoWriter;
import dev.protolog.internal.proto.Utf8;
import dev.protolog.internal.proto.Xxh3;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A request, as the packets between messages name it: those that follow belong to it, until the
 * next one. Its bytes are those of {@code protolog-rt/src/writer/request.rs}.
 *
 * <p>Invariant: no other request of this runtime has its number, but that of the same name where
 * events of other loggers name it: they know the id alone.
 */
public final class RequestMark {
    /** The field of a packet. */
    public static final int REQUEST = 1012;
    /** The fields of a request. */
    public static final int NUMBER = 1;
    private static final int ID = 2;
    /** The most bytes of an id. */
    static final int MAX_ID = 64;
    /** The most bytes of a packet: field, number, id. */
    static final int MAX_PACKET = 3 + 11 + 2 + MAX_ID;
    /** The packet of no request. */
    private static final byte[] NONE = new ProtoWriter().message(REQUEST, new ProtoWriter()).done();
    private static final AtomicLong NEWEST = new AtomicLong();

    /** From 1. */
    public final long number;
    public final String id;
    private final byte[] packet;

    /** A new request; an id of more than {@value #MAX_ID} bytes is cut. */
    public RequestMark(String id) {
        this(NEWEST.incrementAndGet(), cut(id, MAX_ID));
    }

    RequestMark(long number, String id) {
        this.number = number;
        this.id = id;
        packet = new ProtoWriter().message(REQUEST, new ProtoWriter().varint(NUMBER, number).string(ID, id)).done();
    }

    /** The request that events of other loggers name so. */
    static RequestMark named(String id) {
        String kept = cut(id, MAX_ID);
        return new RequestMark(numberOf(kept), kept);
    }

    /** Its number, which is none that is counted. */
    public static long numberOf(String id) {
        return 1L << 62 | Xxh3.hash(id.getBytes(StandardCharsets.UTF_8)) >>> 2;
    }

    /** True if it has this id. */
    boolean isOf(String other) {
        return id.equals(other) || id.endsWith("…") && id.equals(cut(other, MAX_ID));
    }

    /** The packet of a request; null stands for none. */
    static byte[] packet(RequestMark request) {
        return request == null ? NONE : request.packet;
    }

    /** A text of at most so many bytes; a longer one ends with an ellipsis. */
    public static String cut(String text, int most) {
        if (Utf8.length(text) <= most) {
            return text;
        }
        byte[] bytes = new byte[most];
        return new String(Arrays.copyOf(bytes, Utf8.put(text, bytes, 0, most, true)), StandardCharsets.UTF_8);
    }
}
