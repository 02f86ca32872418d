package dev.protolog.internal.rules;

/**
 * The tokens that a thread has taken from buckets. One that has used them up within a moment takes
 * twice as many the next time, so threads that log a lot share a bucket's word rarely; one that
 * finds none does not look again before there is one. So a message that passes or is suppressed
 * touches nothing that other threads write, but for one in a lease.
 *
 * <p>Invariants: only its thread uses it. Tokens are used within {@value #LEASE_NANOS} ns of their
 * lease, or given back: the messages of any span of time are at most a burst, and one for each
 * interval in the span and so much time more.
 */
public final class Leases {
    private static final long LEASE_NANOS = 10_000_000;
    private static final int LEASES = 16;
    /** Times begin at 1 second. */
    private static final long ORIGIN = System.nanoTime() - 1_000_000_000;

    private final Lease[] all = new Lease[LEASES];

    /** Tokens of a bucket. */
    private static final class Lease {
        Bucket bucket;
        int left;
        /** The number that was taken last. */
        int size;
        /** The time when it was taken. */
        long taken;
        /** The bucket has no token before. */
        long noneUntil;
    }

    /** The time now, by the clock of messages. */
    static long now() {
        return System.nanoTime() - ORIGIN;
    }

    /** Takes a token for a message; false if there is none. */
    boolean take(Bucket bucket, long now) {
        int at = bucket.number & LEASES - 1;
        Lease lease = all[at];
        if (lease == null) {
            lease = new Lease();
            all[at] = lease;
        }
        if (lease.bucket != bucket) {
            giveBack(lease);
            lease.bucket = bucket;
            lease.size = 0;
            lease.noneUntil = 0;
        }
        long age = now - lease.taken;
        if (age > LEASE_NANOS) {
            giveBack(lease);
        }
        if (lease.left > 0) {
            lease.left--;
            return true;
        }
        if (now < lease.noneUntil && bucket.isWait(lease.noneUntil - now)) {
            return false;
        }
        boolean wasFast = lease.size > 0 && age < LEASE_NANOS;
        int tokens = bucket.take(wasFast ? Math.min(2 * lease.size, bucket.maxLease) : 1, now);
        if (tokens == 0) {
            lease.noneUntil = bucket.next(now);
            return false;
        }
        lease.left = tokens - 1;
        lease.size = tokens;
        lease.taken = now;
        return true;
    }

    private static void giveBack(Lease lease) {
        int left = lease.left;
        if (left > 0) {
            lease.left = 0;
            lease.bucket.giveBack(left);
        }
    }
}
