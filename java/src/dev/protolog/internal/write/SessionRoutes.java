package dev.protolog.internal.write;

import dev.protolog.internal.groups.GroupState;
import dev.protolog.internal.groups.Routes;
import dev.protolog.internal.groups.Switch;
import dev.protolog.internal.rules.RuledCall;
import dev.protolog.internal.text.LevelSet;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Where the messages of a group go: the sessions that record some of its levels. One that pins some
 * of these is there twice, each time with its own levels.
 */
final class SessionRoutes extends Routes {
    private static final AtomicLong NUMBERS = new AtomicLong();
    static final SessionRoutes NONE = new SessionRoutes(new WriterOwner[0], new int[0], false, null, null, false);

    final WriterOwner[] sessions;
    /** No others have it: where a session starts or stops, groups get new ones. */
    final long number = NUMBERS.incrementAndGet();
    /** True if any session asks for the places of calls. */
    final boolean hasLocations;
    /** The sessions that ask for the stack traces of messages; null where none does. */
    final boolean[] stacks;
    /** Those of calls that a rule has all sessions record; null where no call has a rule. */
    private final SessionRoutes ofRuled;
    /** True if these are those: the levels of the group's switch word don't count. */
    final boolean isRuled;

    SessionRoutes(WriterOwner[] sessions, int[] levels, boolean hasLocations, boolean[] stacks, SessionRoutes ofRuled, boolean isRuled) {
        super(levels);
        this.sessions = sessions;
        this.hasLocations = hasLocations;
        this.stacks = stacks;
        this.ofRuled = ofRuled;
        this.isRuled = isRuled;
    }

    /** Those of a call, by what rules make of it. */
    SessionRoutes of(RuledCall rule) {
        return rule.isUntraced() ? NONE : rule.isTraced() && ofRuled != null ? ofRuled : this;
    }

    /** The levels that may be recorded, by the switch word of the group. */
    int recorded(int word) {
        return isRuled ? LevelSet.ALL : sessions.length == 0 ? 0 : Switch.traceLevels(word);
    }

    /** Those of a group at this moment; of one that is not registered, none. */
    static SessionRoutes of(GroupState state) {
        return state.routes instanceof SessionRoutes routes ? routes : NONE;
    }
}
