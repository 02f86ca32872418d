package dev.protolog.internal.rules;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A token bucket, which threads share: one word, the time at which it is full again. It never has
 * more than a burst, and gets a token each interval.
 *
 * <p>Invariant: it gives out at most a burst, and one token more for each interval. No lock is
 * taken.
 */
final class Bucket {
    /** The most tokens that a thread takes at once, if that is no large part of a burst. */
    private static final int MAX_LEASE = 64;
    /** A burst has at least so many leases. */
    private static final int LEASES_OF_BURST = 8;
    /**
     * A time that is further ahead than the bucket can be is that of a clock which has gone back,
     * as in a JVM that was restored on another machine.
     */
    static final long MAX_SKEW = 1_000_000_000;
    /** The place of the word, so far from both ends that no other object is in its cache line. */
    private static final int FULL_AT = 8;
    private static final AtomicInteger LAST = new AtomicInteger();

    /** Differs between buckets, but for very many. */
    final int number = LAST.incrementAndGet();
    private final Limit limit;
    /** The most tokens of a lease. */
    final int maxLease;
    private final long interval;
    private final long burst;
    private final AtomicLongArray word = new AtomicLongArray(2 * FULL_AT + 1);

    Bucket(Limit limit) {
        this.limit = limit;
        interval = limit.interval();
        burst = interval * limit.burst();
        maxLease = Math.max(1, Math.min(MAX_LEASE, limit.burst() / LEASES_OF_BURST));
    }

    /** True if it has this limit. */
    boolean hasLimit(Limit other) {
        return limit.interval() == other.interval() && limit.burst() == other.burst();
    }

    /** Takes as many of {@code most} tokens as there are; 0 for none. */
    int take(int most, long now) {
        while (true) {
            long before = word.getOpaque(FULL_AT);
            long fullAt = before > now + burst + MAX_SKEW ? now : Math.max(before, now);
            int tokens = (int) Math.min(most, Math.max(0, now + burst - fullAt) / interval);
            if (tokens == 0 || word.weakCompareAndSetPlain(FULL_AT, before, fullAt + interval * tokens)) {
                return tokens;
            }
        }
    }

    /** The time of the next token, where there is none. */
    long next(long now) {
        return Math.max(word.getOpaque(FULL_AT), now) + interval - burst;
    }

    /** True if there may be no token for so long. */
    boolean isWait(long nanos) {
        return nanos <= interval + MAX_SKEW;
    }

    /** Takes tokens back that nobody used. */
    void giveBack(int tokens) {
        word.getAndAdd(FULL_AT, -interval * tokens);
    }
}
