package dev.protolog.internal.session;

import dev.protolog.IProtoLogGroup;
import dev.protolog.LogLevel;
import dev.protolog.internal.dictionary.SessionDictionary;
import dev.protolog.internal.groups.GroupState;
import dev.protolog.internal.groups.Groups;
import dev.protolog.internal.groups.Routes;
import dev.protolog.internal.groups.Switch;
import dev.protolog.internal.text.CallStacks;
import dev.protolog.internal.text.LevelSet;
import dev.protolog.internal.write.LossCause;
import java.util.Arrays;
import java.util.List;

/**
 * The sessions that run, and their effect on groups.
 *
 * <p>Invariant: locks are taken in the order groups, sessions, session; none of them by a call, but
 * to register a group or a message.
 */
public final class Sessions {
    private static final Object LOCK = new Object();
    /** Replaced as a whole. */
    private static volatile SessionCore[] running = {};

    private Sessions() {}

    static void add(SessionCore session) {
        Groups.askAll();
        synchronized (LOCK) {
            SessionCore[] more = Arrays.copyOf(running, running.length + 1);
            more[running.length] = session;
            set(more);
        }
        Groups.routeAll();
    }

    static void remove(SessionCore session) {
        synchronized (LOCK) {
            set(Arrays.stream(running).filter(it -> it != session).toArray(SessionCore[]::new));
        }
        Groups.routeAll();
    }

    /**
     * Decides where the messages of a group go, and has the sessions know it. The lock of
     * {@link Groups} is held.
     */
    public static void route(GroupState state) {
        synchronized (LOCK) {
            SessionCore[] sessions = Arrays.stream(running)
                    .filter(session -> state.isRecorded() && session.filter().levels(state.fullName) != 0)
                    .toArray(SessionCore[]::new);
            int[] levels = new int[sessions.length];
            boolean[] stacks = new boolean[sessions.length];
            boolean hasLocations = false;
            boolean hasStacks = false;
            for (int i = 0; i < sessions.length; i++) {
                sessions[i].dictionary().addGroup(state);
                levels[i] = sessions[i].filter().levels(state.fullName);
                stacks[i] = sessions[i].filter().collectsStack(state.fullName);
                hasLocations |= sessions[i].dictionary().hasLocations();
                hasStacks |= stacks[i];
            }
            state.setRoutes(new Routes(sessions, levels, hasLocations, hasStacks ? stacks : null));
        }
    }

    /** Counts a message that no writer was asked for. */
    public static void lose(GroupState state, LogLevel level, LossCause cause) {
        lose(state, state.routes, 0, level, cause);
    }

    /** As above, in the sessions from number {@code first} on. */
    public static void lose(GroupState state, Routes routes, int first, LogLevel level, LossCause cause) {
        int recorded = Switch.traceLevels(state.word()) & LevelSet.bit(level);
        for (int i = first; i < routes.sessions.length; i++) {
            if ((routes.levels[i] & recorded) != 0) {
                routes.sessions[i].lose(null, state.id, cause);
            }
        }
    }

    /**
     * As above. Of a group that could not be registered nobody knows which sessions record it:
     * those count that record its level of any group.
     */
    public static void lose(IProtoLogGroup group, LogLevel level, LossCause cause) {
        GroupState state = Groups.known(group);
        if (state != null) {
            lose(state, level, cause);
            return;
        }
        SessionCore[] sessions = running;
        for (int i = 0; i < sessions.length; i++) {
            if ((sessions[i].levels() & LevelSet.bit(level)) != 0) {
                sessions[i].lose(null, 0, cause);
            }
        }
    }

    public static List<SessionCore> running() {
        return List.of(running);
    }

    private static void set(SessionCore[] sessions) {
        // First, so that no session has a message that its dictionary lacks.
        SessionDictionary.setRunning(Arrays.stream(sessions).map(SessionCore::dictionary).toArray(SessionDictionary[]::new));
        running = sessions;
        CallStacks.setCollected(Arrays.stream(sessions).anyMatch(it -> it.filter().collectsStacks()));
    }
}
