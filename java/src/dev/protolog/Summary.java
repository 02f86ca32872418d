package dev.protolog;

import java.nio.file.Path;
import java.util.List;

/**
 * The outcome of a session.
 *
 * @param file its trace; null if it has none
 * @param messages the number of messages in the trace
 * @param lost the number of messages that are not in it, because there was no room or newer ones
 *     took their place
 * @param bytes the size of the trace
 * @param passedOver the messages over which sampling has passed, by group and level, which are not
 *     lost
 * @param repeated the number of messages that say the same as the one before, which is in the
 *     trace: they are counted only, and are not lost
 */
public record Summary(Path file, long messages, long lost, long bytes, List<PassedOver> passedOver, long repeated) {}
