package dev.protolog.internal.write;

/**
 * The chunks that went through a buffer, and the most bytes that were in use at any one time.
 *
 * <p>Invariant: a chunk is written, and then overwritten or read.
 */
public record BufferStats(long size, long written, long bytesWritten, long overwritten, long read, long bytesRead, long highWater) {}
