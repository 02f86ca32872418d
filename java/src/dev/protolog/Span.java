package dev.protolog;

import dev.protolog.internal.write.NoSpan;

/**
 * A span that its thread is in until it is closed: how long something takes, as a slice of the
 * timeline.
 *
 * <pre>{@code
 * try (Span request = ProtoLog.span(NET, "request %s", path)) {
 *     answer(path);
 * }
 * }</pre>
 *
 * <p>Spans of a thread are nested: the end of one ends all that began within it, also those that
 * nobody closes. To close one again does nothing. One that another thread closes ends with the next
 * begin or end of a span of its own thread, and a line on standard error says so, once.
 */
public interface Span extends AutoCloseable {
    /** Ends the span, and all that its thread began within it. Never throws. */
    @Override
    void close();

    /** No span, for the other branch of a condition. */
    static Span none() {
        return NoSpan.INSTANCE;
    }
}
