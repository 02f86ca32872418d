package dev.protolog;

/** A part of an application that comes and goes, with groups of its own. */
public final class Plugin implements Runnable {
    enum Group implements IProtoLogGroup {
        ONE;

        @Override
        public String getTag() {
            return "Plugin";
        }
    }

    @Override
    public void run() {
        ProtoLog.i(Group.ONE, "in a plugin: %s", this);
    }

    @Override
    public String toString() {
        return "itself";
    }
}
