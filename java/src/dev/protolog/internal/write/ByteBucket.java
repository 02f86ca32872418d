package dev.protolog.internal.write;

import dev.protolog.internal.rules.ByteLimit;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The limit of a session's bytes: a token bucket, from which writers take a chunk's bytes at a
 * time, as {@code protolog-rt/src/writer/arbiter/byte_bucket.rs} has it. A message takes nothing:
 * its thread has taken the bytes of its chunk. What a chunk has left when it is complete is given
 * back.
 *
 * <p>The bucket is one word, the time at which it is full again. It may be in debt: a chunk that
 * was taken, and a message of several, count whether or not there were as many bytes.
 *
 * <p>Invariant: bytes are given out at the rate of the limit, but for a burst, one chunk for each
 * thread, and one message for each that takes several chunks; those are paid off before others
 * come.
 */
public final class ByteBucket {
    /**
     * The most bytes of a debt that counts: a time that is further ahead is that of a clock which
     * has gone back, as in a JVM that was restored on another machine.
     */
    private static final long MAX_DEBT = 1L << 30;

    /** The limit; null for none. */
    private volatile ByteLimit limit;
    /** The time at which it is full, in nanoseconds of BOOTTIME. */
    private final AtomicLong fullAt = new AtomicLong();

    public ByteLimit limit() {
        return limit;
    }

    /**
     * Sets the limit, null for none, of a bucket that is full then. One that it has already changes
     * nothing.
     */
    public void setLimit(ByteLimit next) {
        if (!Objects.equals(limit, next)) {
            fullAt.set(0);
            limit = next;
        }
    }

    /**
     * The time until which there are not so many bytes, nor a burst, by this limit; 0 if there are.
     * None are taken.
     */
    long noneUntil(ByteLimit by, long bytes, long now) {
        long at = fullAt(fullAt.get(), by, now);
        long needed = by.nanos(Math.min(bytes, by.burst()));
        long until = at + Math.min(needed, Long.MAX_VALUE - at) - by.nanos(by.burst());
        return until <= now ? 0 : until;
    }

    /** Takes bytes, whether or not there are as many. */
    void take(long bytes, long now) {
        ByteLimit by = limit;
        if (by == null) {
            return;
        }
        long nanos = by.nanos(bytes);
        while (true) {
            long before = fullAt.get();
            long from = fullAt(before, by, now);
            if (fullAt.compareAndSet(before, from + Math.min(nanos, Long.MAX_VALUE - from))) {
                return;
            }
        }
    }

    /** Takes bytes back that nobody used. */
    void giveBack(long bytes) {
        ByteLimit by = limit;
        if (by != null) {
            fullAt.addAndGet(-Math.min(by.nanos(bytes), fullAt.get()));
        }
    }

    /** The time at which it is full by its word, or now. */
    private static long fullAt(long word, ByteLimit by, long now) {
        long at = Math.max(word, now);
        return at - now > by.nanos(by.burst() + MAX_DEBT) ? now : at;
    }
}
