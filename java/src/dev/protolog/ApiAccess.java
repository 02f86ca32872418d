package dev.protolog;

import java.io.IOException;

/**
 * What the packages of the runtime may do with classes of the API, and programs may not. Those
 * classes set it as they are initialized, so it is there once there is an object of one.
 */
abstract class ApiAccess {
    private static volatile ApiAccess access;

    ApiAccess() {}

    static ApiAccess get() {
        return access;
    }

    static void set(ApiAccess given) {
        access = given;
    }

    /** The session that a program has. */
    abstract RunningSession running(Session session);

    /** Records these levels of all groups that are not named. */
    abstract void setLevels(Session.Builder builder, int levels);

    /** Records these levels of the group of this name. */
    abstract void setLevels(Session.Builder builder, String group, int levels);

    /** The error of a session's end. */
    abstract StopException stopped(IOException cause, Summary counted);

    /** The stack trace of an exception behind arguments; null for none. */
    abstract String trace(Thrown thrown);
}
