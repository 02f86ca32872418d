package dev.protolog.internal.groups;

import dev.protolog.IProtoLogGroup;

/**
 * The group of a logger of another library. Its full name and its tag are the logger's name.
 *
 * <p>Invariant: there is one for a name, see {@link LoggerGroups}.
 */
public record LoggerGroup(String name) implements IProtoLogGroup {
    @Override
    public String getTag() {
        return name;
    }
}
