package dev.protolog.internal.rules;

import dev.protolog.internal.process.RunningProgram;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Messages that a thread keeps by chance, each with the probability of its rate. It draws how many
 * messages of a rule it passes over before the next that it keeps, from the geometric distribution,
 * and counts down. The distribution has no memory: what is drawn anew at any time, because the rate
 * has changed or another rule needs the place, leaves each message its probability. As
 * {@code protolog-rt/src/level/rules/sampler.rs}; {@code gaps.tsv} in
 * {@code protolog-core/testdata} has vectors for both.
 *
 * <p>Invariants: only its thread uses it, and an error leaves it as good as it was. Each message is
 * kept with the probability of the rate that it is asked with, whatever happened to others.
 */
public final class Sampler {
    /** Gaps of a thread; rules share them. */
    static final int GAPS = 32;
    /** Differs between threads that begin at one time. */
    private static final AtomicLong SEEDS = new AtomicLong();
    private static final long STEP = 0x9e37_79b9_7f4a_7c15L;

    private long random;
    /**
     * The word of the rate that a gap was drawn for, the number of the rule, and the messages or
     * bytes that are left of the gap; null of a thread that draws for each message.
     */
    private final long[] rates;
    private final int[] rules;
    private final long[] left;

    Sampler(long seed, boolean keepsGaps) {
        random = mix(seed + STEP);
        rates = keepsGaps ? new long[GAPS] : null;
        rules = keepsGaps ? new int[GAPS] : null;
        left = keepsGaps ? new long[GAPS] : null;
    }

    /**
     * That of the current thread. {@code keepsGaps}: false of one that may be one of millions,
     * which draws for each message.
     */
    public static Sampler ofThread(boolean keepsGaps) {
        return new Sampler(SEEDS.getAndIncrement() ^ RunningProgram.pid() << Integer.SIZE ^ mix(System.nanoTime()), keepsGaps);
    }

    /** Decides whether a message is kept of those that this rule samples. */
    boolean keeps(Rate rate, int rule) {
        return keeps(rate, rule, 1);
    }

    /**
     * As {@link #keeps(Rate, int)}, of a message of so many bytes, each of which is sampled: two
     * that are half as long have one kept as often as the whole. Its other bytes need not be known,
     * since the distribution has no memory.
     */
    boolean keeps(Rate rate, int rule, long bytes) {
        if (rates == null) {
            return draw(rate) < bytes;
        }
        int at = rule % GAPS;
        long word = rate.toWord();
        if (rates[at] != word || rules[at] != rule) {
            rates[at] = word;
            rules[at] = rule;
            left[at] = draw(rate);
        }
        if (left[at] >= bytes) {
            left[at] -= bytes;
            return false;
        }
        left[at] = draw(rate);
        return true;
    }

    /** Draws the number of messages that are passed over before one is kept. */
    long draw(Rate rate) {
        random += STEP;
        return gap(rate, mix(random));
    }

    /** That number, by one that is uniformly distributed. */
    static long gap(Rate rate, long random) {
        if (rate.keepsAll()) {
            return 0;
        }
        // From 2^-53 to 1.
        double uniform = ((random >>> 11) + 1) * 0x1p-53;
        // The chance that it is n or more is (1 - p)^n.
        return (long) (Math.log(uniform) / Math.log1p(-rate.probability()));
    }

    /** The output of SplitMix64 (Steele, Lea and Flood 2014) in a state. */
    static long mix(long state) {
        long mixed = (state ^ state >>> 30) * 0xbf58_476d_1ce4_e5b9L;
        mixed = (mixed ^ mixed >>> 27) * 0x94d0_49bb_1331_11ebL;
        return mixed ^ mixed >>> 31;
    }
}
