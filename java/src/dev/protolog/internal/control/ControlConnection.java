package dev.protolog.internal.control;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;

/**
 * One operator's connection: lines in, lines out, within limits. The same as
 * {@code protolog-rt/src/control/connection.rs}.
 *
 * <p>Invariants: a line has at most {@link #MAX_LINE} bytes; while more than {@link #MAX_UNSENT}
 * bytes of answers wait, no request is read; nothing here blocks.
 */
final class ControlConnection {
    static final int MAX_LINE = 8192;

    private static final int MAX_UNSENT = 64 << 10;
    /**
     * The limit for a first line, for the rest of a line, and for reading an answer, in
     * nanoseconds.
     */
    private static final long SLOW = 5_000_000_000L;
    /** The limit between requests. */
    private static final long IDLE = 60_000_000_000L;

    final SocketChannel channel;
    /** True once a whole request came. */
    boolean hasAsked;
    /** True once the version was agreed upon. */
    boolean hasGreeted;
    /** The time of the last progress, of {@link System#nanoTime}. */
    long progressed = System.nanoTime();

    private final byte[] input = new byte[MAX_LINE];
    private int used;
    private final ArrayDeque<ByteBuffer> output = new ArrayDeque<>();
    private long unsent;
    /** Nothing more is read: the connection ends when all is sent. */
    private boolean isEnding;

    ControlConnection(SocketChannel channel) {
        this.channel = channel;
    }

    /** The time at which the connection ends unless it makes progress. */
    long deadline() {
        boolean isIdle = hasAsked && used == 0 && output.isEmpty();
        return progressed + (isIdle ? IDLE : SLOW);
    }

    boolean isAnswering() {
        return !output.isEmpty();
    }

    /** True where a request may wait because there were too many at once. */
    boolean hasRequest() {
        return acceptsRequests() && lineEnd() >= 0;
    }

    boolean acceptsInput() {
        return acceptsRequests() && used < MAX_LINE;
    }

    /** Reads the bytes that have arrived. False where the connection is over. */
    boolean read() {
        if (!acceptsInput()) {
            return true;
        }
        try {
            int count = channel.read(ByteBuffer.wrap(input, used, MAX_LINE - used));
            if (count < 0) {
                // Requests that came before the peer closed its half are answered.
                isEnding = !hasRequest();
                return !isEnding || isAnswering();
            }
            used += count;
            // Part of a line is no progress.
            if (count > 0 && lineEnd() >= 0) {
                progressed = System.nanoTime();
            }
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** Takes the next line, without its end; null for none. */
    Line takeLine() {
        if (!acceptsRequests()) {
            return null;
        }
        int end = lineEnd();
        if (end < 0) {
            return used < MAX_LINE ? null : new Line(null, "the line is too long");
        }
        int length = end > 0 && input[end - 1] == '\r' ? end - 1 : end;
        byte[] line = Arrays.copyOf(input, length);
        System.arraycopy(input, end + 1, input, 0, used - end - 1);
        used -= end + 1;
        hasAsked = true;
        try {
            return new Line(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(line)).toString(), null);
        } catch (CharacterCodingException e) {
            return new Line(null, "the line is not UTF-8");
        }
    }

    /** A line, or the reason why there is none; the connection ends then. */
    record Line(String text, String problem) {}

    /** Queues an answer, with which the connection may end. */
    void answer(String text, boolean isLast) {
        if (!text.isEmpty()) {
            ByteBuffer bytes = StandardCharsets.UTF_8.encode(text);
            unsent += bytes.remaining();
            output.add(bytes);
        }
        isEnding |= isLast;
    }

    /** Sends as much as possible. False where the connection is over. */
    boolean send() {
        try {
            while (!output.isEmpty()) {
                ByteBuffer first = output.peek();
                int count = channel.write(first);
                if (count == 0 && first.hasRemaining()) {
                    return true;
                }
                unsent -= count;
                progressed = System.nanoTime();
                if (!first.hasRemaining()) {
                    output.poll();
                }
            }
            return !isEnding;
        } catch (IOException e) {
            return false;
        }
    }

    void close() {
        try {
            channel.close();
        } catch (IOException e) {
            // It is over in any case.
        }
    }

    private boolean acceptsRequests() {
        return !isEnding && unsent <= MAX_UNSENT;
    }

    private int lineEnd() {
        for (int i = 0; i < used; i++) {
            if (input[i] == '\n') {
                return i;
            }
        }
        return -1;
    }
}
