package dev.protolog;

import java.util.ArrayList;
import java.util.List;

/**
 * The groups that were used so far. A group registers itself with its first call, whether sessions run or not.
 *
 * <p>The guard of a call finds its group by identity in a table that is replaced as a whole when a group comes: a hash, a load and a
 * comparison.
 *
 * <p>Invariant: a group that is in a table stays in all later ones.
 */
final class Groups {
    /** Twice as many slots as groups, or more. */
    private static final int MIN_SLOTS = 64;

    private static volatile GroupState[] table = new GroupState[MIN_SLOTS];
    private static final List<GroupState> ALL = new ArrayList<>();
    /** Stands for groups whose methods throw. */
    private static final GroupState BROKEN = new GroupState(new Unknown());

    private Groups() {}

    static boolean isEnabled(IProtoLogGroup group, LogLevel level) {
        if (group == null || level == null) {
            return false;
        }
        GroupState[] now = table;
        int slot = System.identityHashCode(group) & now.length - 1;
        GroupState state = now[slot];
        if (state == null || state.group != group) {
            state = of(group);
        }
        return (state.enabled & level.bit()) != 0;
    }

    /** The state of a group, which is not null. */
    static GroupState of(IProtoLogGroup group) {
        GroupState[] now = table;
        for (int slot = System.identityHashCode(group);; slot++) {
            GroupState state = now[slot & now.length - 1];
            if (state == null) {
                return register(group);
            } else if (state.group == group) {
                return state;
            }
        }
    }

    /** All groups that were used so far. */
    static List<GroupState> all() {
        synchronized (ALL) {
            return List.copyOf(ALL);
        }
    }

    private static GroupState register(IProtoLogGroup group) {
        synchronized (ALL) {
            for (GroupState known : ALL) {
                if (known.group == group) {
                    return known;
                }
            }
            GroupState state;
            try {
                state = new GroupState(group);
            } catch (RuntimeException e) {
                return BROKEN;
            }
            ALL.add(state);
            Dictionaries.addLoader(group.getClass().getClassLoader());
            Sessions.route(state);
            GroupState[] next = new GroupState[Math.max(MIN_SLOTS, Integer.highestOneBit(ALL.size()) * 4)];
            for (GroupState each : ALL) {
                int slot = System.identityHashCode(each.group);
                while (next[slot & next.length - 1] != null) {
                    slot++;
                }
                next[slot & next.length - 1] = each;
            }
            table = next;
            return state;
        }
    }

    private static final class Unknown implements IProtoLogGroup {
        @Override
        public String name() {
            return "unknown";
        }

        @Override
        public String getTag() {
            return "unknown";
        }
    }
}
