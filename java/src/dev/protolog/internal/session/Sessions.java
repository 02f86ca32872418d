package dev.protolog.internal.session;

import dev.protolog.internal.groups.Groups;
import dev.protolog.internal.write.Routing;
import java.util.List;

/** The sessions that run. Groups are asked anew for each, since their answers may have changed. */
public final class Sessions {
    private Sessions() {}

    static void add(SessionCore session) {
        Groups.askAll();
        Routing.add(session);
    }

    /** Has messages go to {@code session} instead of another one: each goes to one of them. */
    static void replace(SessionCore before, SessionCore session) {
        Groups.askAll();
        Routing.replace(before, session);
    }

    static void remove(SessionCore session) {
        Routing.remove(session);
    }

    /** True if a session that runs has triggers. */
    public static boolean haveTriggers() {
        return Routing.running().stream().anyMatch(it -> it.causes() != null);
    }

    /** Fires the cause of this name in all sessions; the number of those that write a file. */
    public static int trigger(String cause) {
        return (int) Routing.running().stream().filter(it -> it.causes() != null && it.causes().fire(cause)).count();
    }

    public static List<SessionCore> running() {
        return Routing.running().stream().map(SessionCore.class::cast).toList();
    }
}
