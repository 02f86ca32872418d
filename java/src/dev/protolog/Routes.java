package dev.protolog;

/** Where the messages of a group go: the sessions that record some of its levels. */
final class Routes {
    static final Routes NONE = new Routes(new SessionCore[0], new int[0], false, null);

    final SessionCore[] sessions;
    /** The levels of each session. */
    final int[] levels;
    /** True if any session asks for the places of calls. */
    final boolean hasLocations;
    /** The sessions that ask for the stack traces of messages; null where none does. */
    final boolean[] stacks;

    Routes(SessionCore[] sessions, int[] levels, boolean hasLocations, boolean[] stacks) {
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
