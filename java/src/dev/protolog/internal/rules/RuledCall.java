package dev.protolog.internal.rules;

/**
 * What rules make of a call: whether it is recorded and printed, how often it may come, at which
 * rate it is sampled, and whether messages that say the same become one.
 */
public final class RuledCall {
    /** That of a call without a rule. */
    public static final RuledCall NONE = new RuledCall(SiteSetting.NONE, null, null, 0, null);
    /** The states of a switch: on, off, or as the group. */
    private static final int STATES = 3;

    /** Of a call whose messages are switched by their arguments, what they may be. */
    final SiteSetting setting;
    /** The buckets of the call and of its group; null for none. */
    private final Bucket ofCall;
    private final Bucket ofGroup;
    /** The rate at which it is sampled, null for none, and the number of the rule that says so. */
    private final Rate rate;
    private final int sampledBy;
    /** Messages whose randomness is less are passed over, where an argument decides. */
    private final long threshold;
    /** True if messages that say the same as the one before are only counted. */
    private final boolean mergesRepeats;
    /** The rules with conditions on arguments; null for none. */
    private final ByArguments conditions;
    private final boolean needsArguments;
    /** What rules make of messages, by their switches; made when one comes first. */
    private final RuledCall[] ofMessages;

    RuledCall(SiteSetting setting, Bucket ofCall, Bucket ofGroup, int sampledBy, ByArguments conditions) {
        this.setting = setting;
        this.ofCall = ofCall;
        this.ofGroup = ofGroup;
        rate = setting.sample() == Rate.NONE ? null : setting.sample();
        this.sampledBy = sampledBy;
        threshold = by() == 0 ? 0 : rate.threshold();
        // One that is sampled stands for as many as its rate says.
        mergesRepeats = rate == null && setting.repeat() != null && setting.repeat();
        this.conditions = conditions;
        needsArguments = conditions != null || mergesRepeats || rate != null && rate.by() != 0;
        ofMessages = conditions == null ? null : new RuledCall[STATES * STATES];
    }

    /** What rules make of the message with these arguments. */
    public RuledCall of(IntegerArguments arguments) {
        if (conditions == null) {
            return this;
        }
        SiteSetting switches = conditions.of(arguments);
        int index = STATES * state(switches.trace()) + state(switches.text());
        RuledCall made = ofMessages[index];
        if (made == null) {
            // Two threads may make two that are alike.
            made = new RuledCall(setting.withSwitches(switches), ofCall, ofGroup, sampledBy, null);
            ofMessages[index] = made;
        }
        return made;
    }

    private static int state(Boolean value) {
        return value == null ? 0 : value ? 1 : 2;
    }

    /** The words of the state alone; {@code conditional} besides where arguments decide. */
    String state() {
        String words = setting.state();
        return conditions == null ? words : words.equals("-") ? "conditional" : words + ",conditional";
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

    /** True if messages are kept by chance, each for itself. */
    public boolean isSampled() {
        return rate != null && rate.by() == 0 && conditions == null;
    }

    /**
     * True if messages are decided by their arguments: the value of one, the size of all, whether
     * they are those of the message before, or a condition.
     */
    public boolean needsArguments() {
        return needsArguments;
    }

    /** True if a message that says the same as the one before is only counted. */
    public boolean mergesRepeats() {
        return mergesRepeats;
    }

    /** The number of the argument by which messages are kept, from 1; 0 for none. */
    public int by() {
        return rate == null ? 0 : rate.argument();
    }

    /** True if each byte is kept by chance, and with it its message. */
    public boolean samplesBytes() {
        return rate != null && rate.interval() != 0;
    }

    /**
     * The rate of messages of so many bytes, where bytes are sampled, as {@link #rate}; 0 if all
     * are kept. {@link #keepsBytes} decides about others.
     */
    public long rateOfBytes(long bytes) {
        Rate ofSize = rate.ofSize(bytes);
        return ofSize == null ? 0 : ofSize.toWord();
    }

    public boolean keepsBytes(Sampler sampler, long bytes) {
        return sampler.keeps(rate, sampledBy, bytes);
    }

    /** Decides whether messages are kept whose argument has this {@link Randomness}. */
    public boolean keeps(long randomness) {
        return randomness >= threshold;
    }

    /** Decides whether a message is kept of those that are sampled. */
    public boolean keeps(Sampler sampler) {
        return sampler.keeps(rate, sampledBy);
    }

    /**
     * The rate that a message says which was kept, as a word; 0 for one of which all are kept.
     */
    public long rate() {
        return rate == null || rate.keepsAll() ? 0 : rate.toWord();
    }

    /** The parts of such a word: so many are kept, of so many, by this argument or none. */
    public static int kept(long rate) {
        return Rate.keptOf(rate);
    }

    public static int of(long rate) {
        return Rate.ofOf(rate);
    }

    public static int by(long rate) {
        return Rate.byOf(rate);
    }

    private static boolean take(Bucket bucket, Leases leases, long now) {
        return bucket == null || (leases == null ? bucket.take(1, now) > 0 : leases.take(bucket, now));
    }
}
