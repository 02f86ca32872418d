package dev.protolog.internal.session;

import dev.protolog.internal.groups.Filter;
import java.util.List;

/**
 * The messages that a session keeps in a ring of their own. Invariant: what is pinned does not
 * change while the session runs.
 *
 * @param levels the levels that are pinned of all groups
 * @param groups patterns of groups, and the levels of each
 * @param bytes the size of the ring
 */
public record PinnedMessages(int levels, List<OfGroup> groups, int bytes) {
    public PinnedMessages {
        groups = List.copyOf(groups);
    }

    /** The levels that are pinned of the groups that {@code pattern} names. */
    public record OfGroup(String pattern, int levels) {}

    /** The levels that are pinned of the group with this full name. */
    public int of(String fullName) {
        int all = levels;
        for (OfGroup group : groups) {
            if (Filter.fits(group.pattern, fullName)) {
                all |= group.levels;
            }
        }
        return all;
    }

    /** True if it names no message. */
    public boolean isEmpty() {
        return levels == 0 && groups.isEmpty();
    }
}
