package dev.protolog.internal.write;

import dev.protolog.LogLevel;
import dev.protolog.internal.groups.GroupState;
import dev.protolog.internal.groups.Switch;
import dev.protolog.internal.rules.Leases;
import dev.protolog.internal.rules.RuledCall;
import dev.protolog.internal.text.LevelSet;

/**
 * The rules of single calls, as a thread's calls obey them: whether a message goes anywhere, and
 * whether its limits let it pass. One that they don't is counted on the thread's sequence, in each
 * session that would have recorded it.
 *
 * <p>Invariants: only its thread uses it; nothing is thrown.
 */
final class CallLimits {
    private final WriterSet writers;
    private final boolean isVirtual;
    /**
     * The thread's tokens; null before the first, and of a virtual thread, which may be one of
     * millions.
     */
    private Leases leases;

    CallLimits(WriterSet writers, boolean isVirtual) {
        this.writers = writers;
        this.isVirtual = isVirtual;
    }

    /**
     * True if a message of a call that has a rule, or whose level is off, goes anywhere. One too
     * many is counted as suppressed.
     */
    boolean isDue(GroupState state, LogLevel level, RuledCall ruled) {
        SessionRoutes routes = SessionRoutes.of(state).of(ruled);
        int word = state.word();
        int recorded = routes.recorded(word) & LevelSet.bit(level);
        if (recorded == 0 && !ruled.isPrinted((Switch.textLevels(word) & LevelSet.bit(level)) != 0)) {
            return false;
        }
        if (!ruled.hasLimits() || passes(ruled)) {
            return true;
        }
        for (int i = 0; i < routes.sessions.length; i++) {
            if ((routes.levels[i] & recorded) != 0) {
                suppress(routes.sessions[i], state);
            }
        }
        return false;
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

    private void suppress(WriterOwner session, GroupState state) {
        try {
            if (isVirtual) {
                session.shared().suppress(state.id);
                return;
            }
            TraceWriter writer = writers.of(session);
            session.suppress(writer == null ? null : writer.sequence, state.id);
        } catch (OutOfMemoryError | StackOverflowError | LinkageError e) {
            session.suppress(null, state.id);
        }
    }
}
