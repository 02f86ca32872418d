package dev.protolog.internal.write;

import dev.protolog.internal.process.BootClock;
import dev.protolog.internal.rules.ByteLimit;

/**
 * The bytes of one writer's chunks, as the limit of its session counts them. Without a limit it
 * does nothing.
 *
 * <p>Invariant: where there are none, the writer remembers until when, and asks the clock alone.
 */
final class ChunkBytes {
    /** Null for messages that no limit concerns. */
    private final ByteBucket bucket;
    private final BootClock clock;
    /** The limit that had no bytes from one time until another one, in nanoseconds of BOOTTIME. */
    private ByteLimit refusedBy;
    private long from;
    private long until;
    private boolean isRefused;

    ChunkBytes(WriterOwner session) {
        bucket = session.bytes();
        clock = session.clock();
    }

    /** True if the last message that found no chunk found that there are no bytes for one. */
    boolean isRefused() {
        return isRefused;
    }

    /** True if the limit has no bytes for a chunk of this size. */
    boolean refuses(int size) {
        ByteLimit limit = bucket == null ? null : bucket.limit();
        isRefused = limit != null && refuses(limit, size, clock.now());
        return isRefused;
    }

    private boolean refuses(ByteLimit limit, int size, long now) {
        if (limit == refusedBy && now >= from && now < until) {
            return true;
        }
        until = bucket.noneUntil(limit, size, now);
        from = now;
        refusedBy = limit;
        return until != 0;
    }

    /** Takes the bytes of a chunk. */
    void take(int size) {
        if (bucket != null && bucket.limit() != null) {
            bucket.take(size, clock.now());
        }
    }

    /** Gives back those that nobody will write. */
    void giveBack(int size) {
        if (bucket != null) {
            bucket.giveBack(size);
        }
    }
}
