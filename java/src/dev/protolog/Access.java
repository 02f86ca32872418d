package dev.protolog;

import dev.protolog.internal.ApiAccess;
import dev.protolog.internal.session.RunningSession;
import java.io.IOException;

/** Gives the runtime's other packages the members of the classes here that programs don't see. */
final class Access extends ApiAccess {
    private Access() {}

    static {
        ApiAccess.set(new Access());
    }

    /** Has it set, by being called. */
    static void install() {}

    @Override
    public RunningSession running(Session session) {
        return session.running();
    }

    @Override
    public void setLevels(Session.Builder builder, int levels) {
        builder.levels(levels);
    }

    @Override
    public void setLevels(Session.Builder builder, String group, int levels) {
        builder.levels(group, levels);
    }

    @Override
    public StopException stopped(IOException cause, Summary counted) {
        return new StopException(cause, counted);
    }

    @Override
    public String trace(Thrown thrown) {
        return thrown.trace;
    }
}
