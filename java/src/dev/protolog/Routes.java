package dev.protolog;

/** Where the messages of a group go: the sessions that record some of its levels. */
final class Routes {
    static final Routes NONE = new Routes(new SessionCore[0], new int[0]);

    final SessionCore[] sessions;
    /** The levels of each session. */
    final int[] levels;

    Routes(SessionCore[] sessions, int[] levels) {
        this.sessions = sessions;
        this.levels = levels;
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
