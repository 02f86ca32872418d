package dev.protolog.internal.rules;

/**
 * What rules make of a call: whether it is recorded and printed, how often it may come, and at
 * which rate it is sampled.
 */
public final class RuledCall {
    /** That of a call without a rule. */
    public static final RuledCall NONE = new RuledCall(SiteSetting.NONE, null, null, 0);

    final SiteSetting setting;
    /** The buckets of the call and of its group; null for none. */
    private final Bucket ofCall;
    private final Bucket ofGroup;
    /** The rate at which it is sampled, null for none, and the number of the rule that says so. */
    private final Rate rate;
    private final int sampledBy;

    RuledCall(SiteSetting setting, Bucket ofCall, Bucket ofGroup, int sampledBy) {
        this.setting = setting;
        this.ofCall = ofCall;
        this.ofGroup = ofGroup;
        rate = setting.sample() == Rate.NONE ? null : setting.sample();
        this.sampledBy = sampledBy;
    }

    /** True if all sessions record it, whatever they record of its group. */
    public boolean isTraced() {
        return setting.trace() != null && setting.trace();
    }

    /** True if no session records it. */
    public boolean isUntraced() {
        return setting.trace() != null && !setting.trace();
    }

    /** True if it is printed, where its group is or is not. */
    public boolean isPrinted(boolean isGroupPrinted) {
        return setting.text() == null ? isGroupPrinted : setting.text();
    }

    public boolean hasLimits() {
        return ofCall != null || ofGroup != null;
    }

    /**
     * Takes a message into account that is about to be logged; false if it is one too many.
     * {@code leases} are those of the thread, null for one that takes its tokens one by one.
     */
    public boolean passes(Leases leases) {
        long now = Leases.now();
        return take(ofCall, leases, now) && take(ofGroup, leases, now);
    }

    /** True if messages are kept by chance. */
    public boolean isSampled() {
        return rate != null;
    }

    /** Decides whether a message is kept of those that are sampled. */
    public boolean keeps(Sampler sampler) {
        return sampler.keeps(rate, sampledBy);
    }

    /**
     * The rate that a message says which was kept: so many, in the upper half of the word, of so
     * many; 0 for all.
     */
    public long rate() {
        return rate == null || rate.keepsAll() ? 0 : rate.toWord();
    }

    private static boolean take(Bucket bucket, Leases leases, long now) {
        return bucket == null || (leases == null ? bucket.take(1, now) > 0 : leases.take(bucket, now));
    }
}
