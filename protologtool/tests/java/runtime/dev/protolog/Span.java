package dev.protolog;

/** What a span gives back. */
public interface Span extends AutoCloseable {
    @Override
    void close();
}
