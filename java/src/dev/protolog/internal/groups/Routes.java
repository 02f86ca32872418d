package dev.protolog.internal.groups;

/**
 * Where the messages of a group go, as far as groups know: the levels that sessions record of it.
 * The layer of calls extends it by the sessions.
 */
public class Routes {
    static final Routes NONE = new Routes(new int[0]);

    /** The levels of each session. */
    public final int[] levels;

    protected Routes(int[] levels) {
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
