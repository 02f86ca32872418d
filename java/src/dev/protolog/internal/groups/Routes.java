package dev.protolog.internal.groups;

import dev.protolog.internal.session.SessionCore;

/** Where the messages of a group go: the sessions that record some of its levels. */
public final class Routes {
    static final Routes NONE = new Routes(new SessionCore[0], new int[0], false, null);

    public final SessionCore[] sessions;
    /** The levels of each session. */
    public final int[] levels;
    /** True if any session asks for the places of calls. */
    public final boolean hasLocations;
    /** The sessions that ask for the stack traces of messages; null where none does. */
    public final boolean[] stacks;

    public Routes(SessionCore[] sessions, int[] levels, boolean hasLocations, boolean[] stacks) {
        this.sessions = sessions;
        this.levels = levels;
        this.hasLocations = hasLocations;
        this.stacks = stacks;
    }

    /** The levels that any session records. */
    int all() {
        int all = 0;
        for (int of : levels) {
            all |= of;
        }
        return all;
    }
}
