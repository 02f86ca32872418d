package dev.protolog;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The levels that a session records, by group, and the groups of which it records stack traces. A group is named by its full name, by the end of it, or by its beginning:
 * {@code com.foo.AppLog.NET}, {@code NET}, {@code com.foo}. The longest name that fits counts.
 */
record Filter(int defaultLevels, Map<String, Integer> groups, List<String> stacks) {
    Filter {
        groups = new LinkedHashMap<>(groups);
        stacks = List.copyOf(stacks);
    }

    int levels(String fullName) {
        String best = null;
        for (String name : groups.keySet()) {
            if (fits(name, fullName) && (best == null || name.length() > best.length())) {
                best = name;
            }
        }
        return best == null ? defaultLevels : groups.get(best);
    }

    /** The levels that are recorded of any group. */
    int allLevels() {
        int all = defaultLevels;
        for (int levels : groups.values()) {
            all |= levels;
        }
        return all;
    }

    /** True if messages of a group are recorded with the stack trace of the call. */
    boolean collectsStack(String fullName) {
        return stacks.stream().anyMatch(name -> fits(name, fullName));
    }

    /** True if any are. */
    boolean collectsStacks() {
        return !stacks.isEmpty();
    }

    /** As {@code SEQUENCE_INFO.FILTER} of a trace. */
    ProtoWriter describe() {
        ProtoWriter filter = new ProtoWriter().varint(1, defaultLevels);
        groups.forEach((name, levels) -> filter.message(2, new ProtoWriter().string(1, name).varint(2, levels)));
        stacks.forEach(name -> filter.message(2, new ProtoWriter().string(1, name)));
        // Java's groups come with their first message.
        return filter.varint(3, 1);
    }

    /** True if a name is that of a group, its end, or its beginning. */
    static boolean fits(String name, String fullName) {
        return name.equals(fullName) || fullName.endsWith("." + name) || fullName.startsWith(name + ".");
    }
}
