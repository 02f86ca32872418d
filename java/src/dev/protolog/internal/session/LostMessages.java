package dev.protolog.internal.session;

import dev.protolog.internal.write.LossCause;
import java.util.Map;
import java.util.TreeMap;

/**
 * Counts the messages of chunks that can't be passed on, by group. Invariant: a message that was
 * counted becomes a loss once, by {@link #report}.
 */
final class LostMessages extends SessionStats.Written {
    private final SessionCore core;
    private final Map<Integer, long[]> groups = new TreeMap<>();

    LostMessages(SessionCore core) {
        super(core.dictionary());
        this.core = core;
    }

    @Override
    long[] of(long message) {
        return groups.computeIfAbsent(core.dictionary().groupIdOfMessage(message), group -> new long[2]);
    }

    /** Makes losses of what was counted since the last time. */
    void report() {
        groups.forEach((group, of) -> {
            if (of[0] > 0) {
                core.losses().add(group, LossCause.BUFFER_FULL, of[0]);
                of[0] = 0;
            }
        });
    }
}
