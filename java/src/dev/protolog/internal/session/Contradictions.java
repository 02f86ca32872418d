package dev.protolog.internal.session;

import dev.protolog.internal.write.FillPolicy;

/** Refuses settings of a session that contradict each other, in the words of its builder. */
public final class Contradictions {
    private Contradictions() {}

    /** {@code waits} says that a setting lets messages wait, {@code pins} is null for none. */
    public static void check(FillPolicy policy, boolean waits, Segments.Limits limits, TriggerSettings triggers, PinnedMessages pins) {
        String refused = waits ? "waitAtMost"
                : limits.bytes() > 0 ? "segmentBytes"
                : limits.ageNanos() > 0 ? "segmentAge"
                : limits.keep() > 0 ? "keepSegments" : null;
        if (refused != null && policy != FillPolicy.STREAM) {
            throw new IllegalStateException(refused + " is for sessions that stream to a file; leave it out, or what keeps"
                    + " messages in memory: keepNewest, keepFirst, record, triggers or pin");
        }
        boolean isRing = policy == FillPolicy.RING_BUFFER;
        if (triggers != null && !isRing) {
            throw new IllegalStateException("triggers are for sessions that keep the newest messages; leave out keepFirst");
        } else if (pins != null && !isRing) {
            throw new IllegalStateException("keepFirst is not for a session with pinned messages; leave it out, or pin");
        } else if (pins != null && pins.isEmpty()) {
            throw new IllegalStateException("no message is pinned; name a level or a group, as in `new Pinned().level(LogLevel.WARN)`");
        }
    }
}
