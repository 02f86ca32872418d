package dev.protolog.internal.write;

import dev.protolog.LogLevel;
import dev.protolog.internal.groups.GroupState;
import dev.protolog.internal.groups.Switch;
import dev.protolog.internal.process.BootClock;
import dev.protolog.internal.rules.Leases;
import dev.protolog.internal.rules.Randomness;
import dev.protolog.internal.rules.RuledCall;
import dev.protolog.internal.rules.Sampler;
import dev.protolog.internal.text.Arguments;
import dev.protolog.internal.text.LevelSet;

/**
 * The rules of single calls, as a thread's calls obey them: whether a message goes anywhere,
 * whether it is kept of those that are sampled, whether it says more than the one before, and
 * whether its limits let it pass. One that does not is counted on the thread's sequence, in each
 * session that would have recorded it.
 *
 * <p>Invariants: only its thread uses it; nothing is thrown.
 */
final class CallLimits {
    /** The result for a message over which sampling passes; no rate has this word. */
    static final long PASSED_OVER = -1;

    private final WriterSet writers;
    private final boolean isVirtual;
    /**
     * The thread's tokens; null before the first, and of a virtual thread, which may be one of
     * millions.
     */
    private Leases leases;
    /** Null before the first message that is sampled. */
    private Sampler sampler;
    /** Null before the first message that its arguments decide about. */
    private CallArguments arguments;
    /** Null before the first message of a call whose repeats are merged. */
    private Repeats repeats;
    /** True if the message that {@link #keeps} kept last was counted for the sessions. */
    boolean isRepeat;
    /** True after an error, which may have come between a message and what repeats it. */
    boolean isDisturbed;

    CallLimits(WriterSet writers, boolean isVirtual) {
        this.writers = writers;
        this.isVirtual = isVirtual;
    }

    /**
     * Decides whether a message of a call that has a rule is kept, if it goes anywhere. Gives the
     * rate that it was kept with, as {@link RuledCall#rate} does, 0 for one that is kept for sure,
     * and {@link #PASSED_OVER} for one that is counted as that.
     */
    long sample(GroupState state, LogLevel level, RuledCall ruled) {
        if (!ruled.isSampled()) {
            return 0;
        }
        SessionRoutes routes = SessionRoutes.of(state).of(ruled);
        int word = state.word();
        int recorded = routes.recorded(word) & LevelSet.bit(level);
        if (!isWanted(ruled, level, word, recorded)) {
            return 0;
        }
        try {
            if (ruled.keeps(sampler())) {
                return ruled.rate();
            }
        } catch (OutOfMemoryError | StackOverflowError | LinkageError e) {
            // It is kept for sure.
            return 0;
        }
        holdBack(routes, recorded, state, LossCause.passedOver(level));
        return PASSED_OVER;
    }

    /**
     * True if a message of a call that has a rule, or whose level is off, goes anywhere. One too
     * many is counted as suppressed.
     */
    boolean isDue(GroupState state, LogLevel level, RuledCall ruled) {
        SessionRoutes routes = SessionRoutes.of(state).of(ruled);
        int word = state.word();
        int recorded = routes.recorded(word) & LevelSet.bit(level);
        if (!isWanted(ruled, level, word, recorded)) {
            return false;
        }
        // Where arguments decide which are kept, limits are for those.
        if (!ruled.hasLimits() || ruled.needsArguments() || passes(ruled)) {
            return true;
        }
        holdBack(routes, recorded, state, LossCause.LIMITED);
        return false;
    }

    /**
     * Decides about a message of a call that is decided by its arguments, which it has by now, as
     * {@link #sample} and {@link #isDue} do before. One without the argument that a rate asks for
     * is kept for sure. The call has the rule that is its own then. One that says the same as the
     * message before is counted, and is no message of a session any more ({@link #isRepeat}); a
     * span never is.
     */
    boolean keeps(Call call, RuledCall ofCall, boolean isSpan) {
        GroupState state = call.group;
        isRepeat = false;
        RuledCall ruled = ofCall.of(argumentsOf(call));
        call.rule = ruled;
        SessionRoutes routes = SessionRoutes.of(state).of(ruled);
        int word = state.word();
        int recorded = routes.recorded(word) & LevelSet.bit(call.level);
        if (ruled != ofCall && !isWanted(ruled, call.level, word, recorded)) {
            return false;
        }
        boolean isMerged = ruled.mergesRepeats() && !isSpan && recorded != 0 && !isVirtual && call.origin == null;
        if (isMerged && merge(call, routes, word, recorded)) {
            isRepeat = true;
            return true;
        }
        if (ruled.isSampled()) {
            long rate = sample(state, call.level, ruled);
            if (rate == PASSED_OVER) {
                return false;
            }
            call.rate = rate;
        } else if (ruled.samplesBytes()) {
            long rate = sampleBytes(ruled, Volume.of(call));
            if (rate == PASSED_OVER) {
                holdBack(routes, recorded, state, LossCause.passedOver(call.level));
                return false;
            }
            call.rate = rate;
        } else if (ruled.by() != 0 && ruled.by() <= call.count) {
            if (!ruled.keeps(randomness(call, ruled.by() - 1))) {
                holdBack(routes, recorded, state, LossCause.passedOver(call.level));
                return false;
            }
            call.rate = ruled.rate();
        }
        if (ruled.hasLimits() && !passes(ruled)) {
            forget(call.id);
            holdBack(routes, recorded, state, LossCause.LIMITED);
            return false;
        }
        return true;
    }

    /** Forgets the message of this id, which was not written: nothing repeats it. */
    void forget(long message) {
        if (repeats != null) {
            repeats.forget(message);
        }
    }

    /**
     * Counts a message that says the same as the one before of its id, and returns whether it does.
     * Before another one, the thread's sequences say how many did.
     */
    private boolean merge(Call call, SessionRoutes routes, int word, int recorded) {
        long now = BootClock.ofProcess().now();
        try {
            if (repeats == null || isDisturbed) {
                repeats = new Repeats();
                isDisturbed = false;
            }
            if (!repeats.see(call, routes.number, word, now)) {
                if (repeats.ended != 0) {
                    writers.reportRepeats(repeats.endedGroup, repeats.ended, repeats.endedRequest);
                }
                return false;
            }
        } catch (OutOfMemoryError | StackOverflowError | LinkageError e) {
            isDisturbed = true;
            return false;
        }
        for (int i = 0; i < routes.sessions.length; i++) {
            if ((routes.levels[i] & recorded) != 0) {
                countRepeat(routes.sessions[i], call, now);
            }
        }
        return true;
    }

    private void countRepeat(WriterOwner session, Call call, long now) {
        Sequence sequence = null;
        try {
            TraceWriter writer = writers.of(session);
            sequence = writer == null ? null : writer.sequence;
        } catch (OutOfMemoryError | StackOverflowError | LinkageError e) {
            // It is counted for its group.
        }
        // Not before the message itself.
        long time = sequence == null ? now : Math.max(now, sequence.time);
        session.holdBack(sequence, call.group.id, LossCause.REPEATED, time, sequence == null ? 0 : call.id);
    }

    private long sampleBytes(RuledCall ruled, long bytes) {
        long rate = ruled.rateOfBytes(bytes);
        try {
            if (rate == 0 || ruled.keepsBytes(sampler(), bytes)) {
                return rate;
            }
        } catch (OutOfMemoryError | StackOverflowError | LinkageError e) {
            // It is kept for sure.
            return 0;
        }
        return PASSED_OVER;
    }

    private CallArguments argumentsOf(Call call) {
        if (arguments == null) {
            arguments = new CallArguments(call);
        }
        return arguments;
    }

    private Sampler sampler() {
        if (sampler == null) {
            sampler = Sampler.ofThread(!isVirtual);
        }
        return sampler;
    }

    private static long randomness(Call call, int index) {
        return switch (call.kind(index)) {
            case Arguments.INTEGER -> Randomness.of(call.words[index]);
            case Arguments.FLOATING -> Randomness.ofBits(call.words[index]);
            case Arguments.BOOL -> Randomness.of(call.words[index] != 0);
            default -> Randomness.of(call.texts[index]);
        };
    }

    private static boolean isWanted(RuledCall ruled, LogLevel level, int word, int recorded) {
        return recorded != 0 || ruled.isPrinted((Switch.textLevels(word) & LevelSet.bit(level)) != 0);
    }

    /** Counts a message in the sessions that would have recorded it. */
    private void holdBack(SessionRoutes routes, int recorded, GroupState state, LossCause cause) {
        for (int i = 0; i < routes.sessions.length; i++) {
            if ((routes.levels[i] & recorded) != 0) {
                holdBack(routes.sessions[i], state, cause);
            }
        }
    }

    private boolean passes(RuledCall ruled) {
        try {
            if (leases == null && !isVirtual) {
                leases = new Leases();
            }
            return ruled.passes(leases);
        } catch (OutOfMemoryError | StackOverflowError e) {
            return true;
        }
    }

    private void holdBack(WriterOwner session, GroupState state, LossCause cause) {
        try {
            if (isVirtual) {
                session.shared().holdBack(state.id, cause);
                return;
            }
            TraceWriter writer = writers.of(session);
            session.holdBack(writer == null ? null : writer.sequence, state.id, cause);
        } catch (OutOfMemoryError | StackOverflowError | LinkageError e) {
            session.holdBack(null, state.id, cause);
        }
    }
}
