package dev.protolog;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The levels that a session records, by group. A group is named by its full name, by the end of it, or by its beginning:
 * {@code com.foo.AppLog.NET}, {@code NET}, {@code com.foo}. The longest name that fits counts.
 */
record Filter(int defaultLevels, Map<String, Integer> groups) {
    Filter {
        groups = new LinkedHashMap<>(groups);
    }

    int levels(String fullName) {
        String best = null;
        for (String name : groups.keySet()) {
            boolean fits = name.equals(fullName) || fullName.endsWith("." + name) || fullName.startsWith(name + ".");
            if (fits && (best == null || name.length() > best.length())) {
                best = name;
            }
        }
        return best == null ? defaultLevels : groups.get(best);
    }

    /** As {@code SEQUENCE_INFO.FILTER} of a trace. */
    ProtoWriter describe() {
        ProtoWriter filter = new ProtoWriter().varint(1, defaultLevels);
        groups.forEach((name, levels) -> filter.message(2, new ProtoWriter().string(1, name).varint(2, levels)));
        // Java's groups come with their first message.
        return filter.varint(3, 1);
    }
}
