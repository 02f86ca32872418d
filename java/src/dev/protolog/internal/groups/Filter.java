package dev.protolog.internal.groups;

import dev.protolog.internal.proto.ProtoWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The levels that a session records, by group, and the groups of which it records stack traces.
 * Groups are named by {@link GroupPattern}s; the closest counts: the full name, then an end of it,
 * then the longest beginning.
 */
public record Filter(int defaultLevels, Map<String, Integer> groups, List<String> stacks) {
    public Filter {
        groups = new LinkedHashMap<>(groups);
        stacks = List.copyOf(stacks);
    }

    public int levels(String fullName) {
        int closest = GroupPattern.NONE;
        int levels = defaultLevels;
        for (Map.Entry<String, Integer> group : groups.entrySet()) {
            int closeness = closeness(group.getKey(), fullName);
            if (closeness > closest) {
                closest = closeness;
                levels = group.getValue();
            } else if (closeness == closest && closeness != GroupPattern.NONE) {
                // Both are ends of the name. The one that records more counts: the sets are nested.
                levels |= group.getValue();
            }
        }
        return levels;
    }

    /** The levels that are recorded of any group. */
    public int allLevels() {
        int all = defaultLevels;
        for (int levels : groups.values()) {
            all |= levels;
        }
        return all;
    }

    /** True if messages of a group are recorded with the stack trace of the call. */
    public boolean collectsStack(String fullName) {
        return stacks.stream().anyMatch(name -> fits(name, fullName));
    }

    /** True if any are. */
    public boolean collectsStacks() {
        return !stacks.isEmpty();
    }

    /** As {@code SEQUENCE_INFO.FILTER} of a trace. */
    public ProtoWriter describe() {
        ProtoWriter filter = new ProtoWriter().varint(1, defaultLevels);
        groups.forEach((name, levels) -> filter.message(2, new ProtoWriter().string(1, name).varint(2, levels)));
        stacks.forEach(name -> filter.message(2, new ProtoWriter().string(1, name)));
        // Java's groups come with their first message.
        return filter.varint(3, 1);
    }

    /** True if a name is that of a group, or a pattern of it. */
    public static boolean fits(String name, String fullName) {
        return closeness(name, fullName) != GroupPattern.NONE;
    }

    /** A group may have a name that is a pattern of others, and stands for itself first. */
    private static int closeness(String name, String fullName) {
        return name.equals(fullName) ? GroupPattern.WHOLE : GroupPattern.closeness(name, fullName);
    }
}
