package dev.protolog;

/**
 * The group of a logger of another library. Its full name and its tag are the logger's name.
 *
 * <p>Invariant: there is one for a name, see {@link LoggerGroups}.
 */
record LoggerGroup(String name) implements IProtoLogGroup {
    @Override
    public String getTag() {
        return name;
    }
}
