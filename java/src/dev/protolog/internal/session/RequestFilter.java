package dev.protolog.internal.session;

import dev.protolog.internal.proto.ProtoWriter;
import dev.protolog.internal.write.FailedRequest;
import dev.protolog.internal.write.RequestMark;
import java.util.List;
import java.util.Set;
import java.util.function.LongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The requests whose messages a trace has, and the number of messages that it leaves out. */
final class RequestFilter {
    private static final int FILTERED = 1013;

    private final Set<Long> wanted;
    private final LongFunction<byte[]> note;
    private long leftOut;

    /** {@code note} makes the message about so many others. */
    RequestFilter(List<FailedRequest> wanted, LongFunction<byte[]> note) {
        // Events of other loggers name a request by its id.
        this.wanted = wanted.stream().flatMap(it -> Stream.of(it.number(), RequestMark.numberOf(it.id()))).collect(Collectors.toSet());
        this.note = note;
    }

    boolean isWanted(long request) {
        return wanted.contains(request);
    }

    void leaveOut() {
        leftOut++;
    }

    /** Messages of other requests, and of none. */
    long leftOut() {
        return leftOut;
    }

    /** The packet that says how many were left out. */
    byte[] report() {
        return new ProtoWriter().message(FILTERED, new ProtoWriter().varint(1, leftOut)).done();
    }

    /** The message that says so. */
    byte[] note() {
        return note.apply(leftOut);
    }
}
