package dev.protolog;

import java.io.IOException;

/** Gives the other packages of the runtime what programs don't see of the classes here. */
final class Access extends ApiAccess {
    private Access() {}

    static {
        ApiAccess.set(new Access());
    }

    /** Has it set, by being called. */
    static void install() {}

    @Override
    RunningSession running(Session session) {
        return session.running();
    }

    @Override
    void setLevels(Session.Builder builder, int levels) {
        builder.levels(levels);
    }

    @Override
    void setLevels(Session.Builder builder, String group, int levels) {
        builder.levels(group, levels);
    }

    @Override
    StopException stopped(IOException cause, Summary counted) {
        return new StopException(cause, counted);
    }

    @Override
    String trace(Thrown thrown) {
        return thrown.trace;
    }
}
