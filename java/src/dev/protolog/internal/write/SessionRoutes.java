package dev.protolog.internal.write;

import dev.protolog.internal.groups.GroupState;
import dev.protolog.internal.groups.Routes;

/** Where the messages of a group go: the sessions that record some of its levels. */
final class SessionRoutes extends Routes {
    static final SessionRoutes NONE = new SessionRoutes(new WriterOwner[0], new int[0], false, null);

    final WriterOwner[] sessions;
    /** True if any session asks for the places of calls. */
    final boolean hasLocations;
    /** The sessions that ask for the stack traces of messages; null where none does. */
    final boolean[] stacks;

    SessionRoutes(WriterOwner[] sessions, int[] levels, boolean hasLocations, boolean[] stacks) {
        super(levels);
        this.sessions = sessions;
        this.hasLocations = hasLocations;
        this.stacks = stacks;
    }

    /** Those of a group at this moment; of one that is not registered, none. */
    static SessionRoutes of(GroupState state) {
        return state.routes instanceof SessionRoutes routes ? routes : NONE;
    }
}
