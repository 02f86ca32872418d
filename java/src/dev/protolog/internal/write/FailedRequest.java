package dev.protolog.internal.write;

/**
 * A request that has failed.
 *
 * @param number the number that its marks have
 * @param time in nanoseconds of BOOTTIME
 * @param thread the id of the thread that said so
 */
public record FailedRequest(long number, String id, String reason, long time, int thread) {}
