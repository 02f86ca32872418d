package dev.protolog;

import java.nio.file.Path;

/**
 * The outcome of a session.
 *
 * @param file its trace; null if it has none
 * @param messages the number of messages in the trace
 * @param lost the number of messages that are not in it, because there was no room or newer ones
 *     took their place
 * @param bytes the size of the trace
 */
public record Summary(Path file, long messages, long lost, long bytes) {}
