package dev.protolog.internal.groups;

import java.util.concurrent.ConcurrentHashMap;

/**
 * The groups of loggers. A logger becomes a group with its first use, and stays one.
 *
 * <p>The table is bounded, as that of targets in Rust: half of it is for loggers as they are; a
 * further one uses the group of its package, and if those are too many as well, one for all others.
 */
public final class LoggerGroups {
    private static final int MAX = 1024;
    private static final LoggerGroup OTHERS = new LoggerGroup("other loggers");

    private static final ConcurrentHashMap<String, LoggerGroup> GROUPS = new ConcurrentHashMap<>();

    private LoggerGroups() {}

    public static LoggerGroup of(String name) {
        LoggerGroup group = findOrCreate(name, MAX / 2);
        int dot = name.lastIndexOf('.');
        if (group == null && dot > 0) {
            group = findOrCreate(name.substring(0, dot), MAX);
        }
        return group == null ? OTHERS : group;
    }

    private static LoggerGroup findOrCreate(String name, int limit) {
        LoggerGroup known = GROUPS.get(name);
        return known != null || GROUPS.size() >= limit ? known : GROUPS.computeIfAbsent(name, LoggerGroup::new);
    }
}
