package dev.protolog;

/** Where the messages of a group go: the sessions that record some of its levels, and the levels that are printed. */
final class Routes {
    static final Routes NONE = new Routes(new SessionCore[0], new int[0], 0);

    final SessionCore[] sessions;
    /** The levels of each session. */
    final int[] levels;
    /** The levels that are printed. */
    final int text;

    Routes(SessionCore[] sessions, int[] levels, int text) {
        this.sessions = sessions;
        this.levels = levels;
        this.text = text;
    }

    /** The levels that go anywhere. */
    int all() {
        int all = text;
        for (int of : levels) {
            all |= of;
        }
        return all;
    }
}
