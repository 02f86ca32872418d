package dev.protolog.internal.groups;

import dev.protolog.IProtoLogGroup;

/** The full names of groups, by which traces, settings and the tool know them. */
public final class GroupNames {
    private GroupNames() {}

    /**
     * The full name of a group that was asked for its name already: canonical name of its enum,
     * dot, constant; of a logger, its name.
     */
    public static String fullName(IProtoLogGroup group, String name) {
        if (group instanceof LoggerGroup) {
            return name;
        }
        Class<?> type = group instanceof Enum<?> constant ? constant.getDeclaringClass() : group.getClass();
        String typeName = type.getCanonicalName();
        return (typeName == null ? type.getName() : typeName) + "." + name;
    }
}
