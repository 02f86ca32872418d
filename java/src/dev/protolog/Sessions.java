package dev.protolog;

import java.util.ArrayList;
import java.util.List;

/**
 * The sessions that run, and what that means for groups.
 *
 * <p>Invariant: locks are taken in the order groups, sessions, session; none of them by a call, but to register a group or a message.
 */
final class Sessions {
    private static final List<SessionCore> RUNNING = new ArrayList<>();

    private Sessions() {}

    static void add(SessionCore session) {
        synchronized (RUNNING) {
            RUNNING.add(session);
        }
        Groups.routeAll();
    }

    static void remove(SessionCore session) {
        synchronized (RUNNING) {
            RUNNING.remove(session);
        }
        Groups.routeAll();
    }

    /** Decides where the messages of a group go, and has the sessions know it. The lock of {@link Groups} is held. */
    static void route(GroupState state) {
        synchronized (RUNNING) {
            List<SessionCore> sessions = new ArrayList<>();
            List<Integer> levels = new ArrayList<>();
            for (SessionCore session : RUNNING) {
                int recorded = isRecorded(state) ? session.levels(state.fullName) : 0;
                if (recorded != 0) {
                    session.dictionary().addGroup(state);
                    sessions.add(session);
                    levels.add(recorded);
                }
            }
            int[] bits = levels.stream().mapToInt(Integer::intValue).toArray();
            state.setRoutes(new Routes(sessions.toArray(SessionCore[]::new), bits));
        }
    }

    /** Tells the sessions of a message that they see for the first time. */
    static void announce(GroupState state, RuntimeMessage message) {
        for (SessionCore session : running()) {
            session.dictionary().addMessage(state, message);
        }
    }

    /** Counts a message that no writer was asked for. */
    static void lose(GroupState state, LogLevel level, LossCause cause) {
        Routes routes = state.routes;
        int recorded = Switch.traceLevels(state.word()) & level.bit();
        for (int i = 0; i < routes.sessions.length; i++) {
            if ((routes.levels[i] & recorded) != 0) {
                routes.sessions[i].lose(null, state.id, cause);
            }
        }
    }

    static List<SessionCore> running() {
        synchronized (RUNNING) {
            return List.copyOf(RUNNING);
        }
    }

    private static boolean isRecorded(GroupState state) {
        try {
            return state.group.isEnabled() && state.group.isLogToProto();
        } catch (RuntimeException e) {
            return true;
        }
    }
}
