package dev.protolog.internal;

import dev.protolog.Session;
import dev.protolog.StopException;
import dev.protolog.Summary;
import dev.protolog.Thrown;
import dev.protolog.internal.session.RunningSession;
import java.io.IOException;

/**
 * The actions on classes of the API that packages of the runtime may take, and programs may not.
 * Those classes set it as they are initialized, so it is there once there is an object of one.
 */
public abstract class ApiAccess {
    private static volatile ApiAccess access;

    public ApiAccess() {}

    public static ApiAccess get() {
        return access;
    }

    public static void set(ApiAccess given) {
        access = given;
    }

    /** The session that a program has. */
    public abstract RunningSession running(Session session);

    /** Records these levels of all groups that are not named. */
    public abstract void setLevels(Session.Builder builder, int levels);

    /** Records these levels of the group of this name. */
    public abstract void setLevels(Session.Builder builder, String group, int levels);

    /** The error of a session's end. */
    public abstract StopException stopped(IOException cause, Summary counted);

    /** The stack trace of an exception behind arguments; null for none. */
    public abstract String trace(Thrown thrown);
}
