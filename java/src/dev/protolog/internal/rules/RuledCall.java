package dev.protolog.internal.rules;

/** What rules make of a call: whether it is recorded and printed, and how often it may come. */
public final class RuledCall {
    /** That of a call without a rule. */
    public static final RuledCall NONE = new RuledCall(new SiteSetting(null, null, null, null, false), null, null);

    final SiteSetting setting;
    /** The buckets of the call and of its group; null for none. */
    private final Bucket ofCall;
    private final Bucket ofGroup;

    RuledCall(SiteSetting setting, Bucket ofCall, Bucket ofGroup) {
        this.setting = setting;
        this.ofCall = ofCall;
        this.ofGroup = ofGroup;
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

    private static boolean take(Bucket bucket, Leases leases, long now) {
        return bucket == null || (leases == null ? bucket.take(1, now) > 0 : leases.take(bucket, now));
    }
}
