package dev.protolog;

import java.nio.file.Path;

/**
 * The outcome of a session. {@code file} is its trace, null where it has none; {@code messages} are
 * those in the trace, {@code lost} those that are not, because there was no room or newer ones took
 * their place; {@code bytes} is the size of the trace.
 */
public record Summary(Path file, long messages, long lost, long bytes) {}
