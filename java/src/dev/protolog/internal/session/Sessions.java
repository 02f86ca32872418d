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

    public static List<SessionCore> running() {
        return Routing.running().stream().map(SessionCore.class::cast).toList();
    }
}
