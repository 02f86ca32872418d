package dev.protolog;

/**
 * A group of which a test makes as many as it needs; its tag is its name. Places of classes that
 * are named so do not fail in the sweeps.
 */
public record FaultGroup(String name) implements IProtoLogGroup {
    @Override
    public boolean isLogToLogcat() {
        return false;
    }

    @Override
    public String getTag() {
        return name;
    }
}
