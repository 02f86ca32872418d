package dev.protolog.internal.write;

import dev.protolog.IProtoLogGroup;
import dev.protolog.LogLevel;
import dev.protolog.internal.dictionary.Dictionaries;
import dev.protolog.internal.dictionary.SessionDictionary;
import dev.protolog.internal.groups.GroupState;
import dev.protolog.internal.groups.Groups;
import dev.protolog.internal.groups.Registrar;
import dev.protolog.internal.groups.Switch;
import dev.protolog.internal.rules.Rule;
import dev.protolog.internal.rules.Rules;
import dev.protolog.internal.text.CallStacks;
import dev.protolog.internal.text.LevelSet;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The way from a group to the sessions that record it: finds the state of a call's group, registers
 * a group with its first call, and counts messages that no writer was asked for.
 *
 * <p>Invariant: locks are taken in the order groups, sessions, session; none of them by a call, but
 * to register a group or a message.
 */
public final class Routing {
    private static final Object LOCK = new Object();
    private static final Registrar REGISTRAR = new Registration();
    /** The sessions that run; replaced as a whole. */
    private static volatile WriterOwner[] running = {};

    private Routing() {}

    /**
     * True if messages of this level are enabled, or if there is no memory to find that out: then
     * the call counts the message as lost.
     */
    public static boolean isEnabled(IProtoLogGroup group, LogLevel level) {
        try {
            return enabled(group, level) != null;
        } catch (Error e) {
            Groups.repair(e);
            return true;
        }
    }

    /** As above, of a call that the tool has not processed: rules may switch it on by its text. */
    public static boolean isEnabledAtRunTime(IProtoLogGroup group, LogLevel level) {
        try {
            if (group == null || level == null) {
                return false;
            }
            GroupState state = Groups.inFirstSlot(group);
            return (state == null ? of(group) : state).mayBeEnabledAtRunTime(level);
        } catch (Error e) {
            Groups.repair(e);
            return true;
        }
    }

    /** Adds rules of single calls. */
    public static void apply(List<Rule> rules) {
        if (!rules.isEmpty()) {
            Rules.apply(rules);
            routeAll();
        }
    }

    /** Replaces the rules of the configuration file. */
    public static void replaceConfigFile(List<Rule> rules) {
        if (Rules.replaceConfigFile(rules)) {
            routeAll();
        }
    }

    /**
     * The state of a group, if messages of this level are enabled, or may be; else null. An error
     * where there is no memory, or no stack, to register it.
     */
    static GroupState enabled(IProtoLogGroup group, LogLevel level) {
        if (group == null || level == null) {
            return null;
        }
        GroupState state = Groups.inFirstSlot(group);
        if (state == null) {
            state = of(group);
        }
        return state.mayBeEnabled(level) ? state : null;
    }

    /** The state of a group, which is not null. An error as of {@link #enabled}. */
    public static GroupState of(IProtoLogGroup group) {
        GroupState known = Groups.known(group);
        return known == null ? Groups.register(group, REGISTRAR) : known;
    }

    /** The sessions that run. */
    public static List<WriterOwner> running() {
        return List.of(running);
    }

    public static void add(WriterOwner session) {
        synchronized (LOCK) {
            WriterOwner[] more = Arrays.copyOf(running, running.length + 1);
            more[running.length] = session;
            set(more);
        }
        routeAll();
    }

    /** Has messages go to {@code session} instead of another one: each goes to one of them. */
    public static void replace(WriterOwner before, WriterOwner session) {
        synchronized (LOCK) {
            set(Arrays.stream(running).map(it -> it == before ? session : it).toArray(WriterOwner[]::new));
        }
        routeAll();
    }

    public static void remove(WriterOwner session) {
        synchronized (LOCK) {
            set(Arrays.stream(running).filter(it -> it != session).toArray(WriterOwner[]::new));
        }
        routeAll();
    }

    /** Decides for all groups anew where their messages go. */
    public static void routeAll() {
        Groups.routeAll(REGISTRAR);
    }

    /** Counts a message that no writer was asked for. */
    static void lose(GroupState state, LogLevel level, LossCause cause) {
        lose(state, SessionRoutes.of(state), 0, level, cause);
    }

    /** As above, in the sessions from number {@code first} on. */
    static void lose(GroupState state, SessionRoutes routes, int first, LogLevel level, LossCause cause) {
        int recorded = routes.recorded(state.word()) & LevelSet.bit(level);
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
        WriterOwner[] sessions = running;
        for (int i = 0; i < sessions.length; i++) {
            if ((sessions[i].levels() & LevelSet.bit(level)) != 0) {
                sessions[i].lose(null, 0, cause);
            }
        }
    }

    private static void set(WriterOwner[] sessions) {
        // First, so that no session has a message that its dictionary lacks.
        SessionDictionary.setRunning(Arrays.stream(sessions).map(WriterOwner::dictionary).toArray(SessionDictionary[]::new));
        running = sessions;
        CallStacks.setCollected(Arrays.stream(sessions).anyMatch(it -> it.filter().collectsStacks()));
    }

    /** Has a group's messages and sessions known before its first message. */
    private static final class Registration implements Registrar {
        @Override
        public void prepare(IProtoLogGroup group, String fullName) {
            Dictionaries.addLoader(group.getClass().getClassLoader());
            Rules.addKnown();
            Rules.declare(group, fullName);
        }

        @Override
        public void route(GroupState state) {
            synchronized (LOCK) {
                Rules.mark(state);
                WriterOwner[] sessions = Arrays.stream(running)
                        .filter(session -> state.isRecorded() && session.filter().levels(state.fullName) != 0)
                        .toArray(WriterOwner[]::new);
                SessionRoutes ofRuled = null;
                if (state.isRecorded() && (state.isRuled() || state.isRuledAtRunTime())) {
                    ofRuled = routes(state, running, true, null);
                }
                state.setRoutes(routes(state, sessions, false, ofRuled));
            }
        }

        /** Those to these sessions; {@code isRuled}: of all levels, by a rule. */
        private static SessionRoutes routes(GroupState state, WriterOwner[] sessions, boolean isRuled, SessionRoutes ofRuled) {
            List<WriterOwner> owners = new ArrayList<>();
            int[] levels = new int[2 * sessions.length];
            boolean[] stacks = new boolean[2 * sessions.length];
            boolean hasLocations = false;
            boolean hasStacks = false;
            for (WriterOwner session : sessions) {
                session.dictionary().addGroup(state);
                int recorded = isRuled ? LevelSet.ALL : session.filter().levels(state.fullName);
                int pinned = recorded & session.pinnedLevels(state.fullName);
                boolean hasStack = session.filter().collectsStack(state.fullName);
                hasLocations |= session.dictionary().hasLocations();
                hasStacks |= hasStack;
                // Each message goes to one of the two. Usual ones are more, and come first.
                if (recorded != pinned) {
                    levels[owners.size()] = recorded & ~pinned;
                    stacks[owners.size()] = hasStack;
                    owners.add(session);
                }
                if (pinned != 0) {
                    levels[owners.size()] = pinned;
                    stacks[owners.size()] = hasStack;
                    owners.add(session.pinned());
                }
            }
            WriterOwner[] all = owners.toArray(WriterOwner[]::new);
            int[] ofAll = Arrays.copyOf(levels, all.length);
            return new SessionRoutes(all, ofAll, hasLocations, hasStacks ? stacks : null, ofRuled, isRuled);
        }
    }
}
