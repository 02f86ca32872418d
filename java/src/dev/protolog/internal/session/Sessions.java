package dev.protolog.internal.session;

import dev.protolog.internal.groups.Groups;
import dev.protolog.internal.write.Cause;
import dev.protolog.internal.write.Causes;
import dev.protolog.internal.write.EventKey;
import dev.protolog.internal.write.RequestMark;
import dev.protolog.internal.write.Routing;
import dev.protolog.internal.write.WriterOwner;
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

    /** Has a request fail in all sessions that wait for that. */
    public static void failRequest(RequestMark request, String reason) {
        for (WriterOwner session : Routing.running()) {
            if (session.causes() != null) {
                session.causes().fireRequest(request, reason);
            }
        }
    }

    /** As {@link #trigger}, for an event of which others are told. */
    public static int trigger(String cause, EventKey key) {
        return (int) Routing.running().stream().filter(it -> it.causes() != null && it.causes().fire(cause, key)).count();
    }

    /** True if a file comes of an event that others know, too. */
    public static boolean haveEvent(EventKey key) {
        return Routing.running().stream().anyMatch(it -> it.causes() != null && it.causes().hasEvent(key));
    }

    /**
     * Fires the triggers of all sessions for an event of another process; the number of those that
     * write a file.
     */
    public static int join(EventKey key) {
        return (int) Routing.running().stream().filter(it -> it.causes() != null && it.causes().join(key, 0, null)).count();
    }

    /** Likewise, of the sessions of a family; -1 if there is none. */
    public static int join(String family, EventKey key, long pid, Cause.Window window) {
        return join(family, key, pid, window, null);
    }

    /** Likewise, but for one session. */
    static int join(String family, EventKey key, long pid, Cause.Window window, SessionCore except) {
        List<Causes> all = Routing.running().stream().filter(it -> it != except).map(WriterOwner::causes).filter(it -> it != null && family.equals(it.family())).toList();
        return all.isEmpty() ? -1 : (int) all.stream().filter(it -> it.join(key, pid, window)).count();
    }

    public static List<SessionCore> running() {
        return Routing.running().stream().map(SessionCore.class::cast).toList();
    }
}
