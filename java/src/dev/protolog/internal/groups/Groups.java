package dev.protolog.internal.groups;

import dev.protolog.IProtoLogGroup;
import dev.protolog.internal.process.PassingErrors;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * The groups that were used so far. A group registers itself with its first call, whether sessions
 * run or not.
 *
 * <p>The guard of a call finds its group by identity in a table that is replaced as a whole when a
 * group comes: a hash, a load and a comparison.
 *
 * <p>Invariant: a group that is in a table stays in all later ones until the garbage collector has
 * taken it: nothing here keeps it, or its class loader. The methods of a group are called while no
 * lock is held ({@link GroupAnswers}): when it registers, and whenever a session starts.
 */
public final class Groups {
    /** Twice as many slots as groups, or more. */
    private static final int MIN_SLOTS = 64;

    private static volatile GroupState[] table = new GroupState[MIN_SLOTS];
    private static final List<GroupState> ALL = new ArrayList<>();
    private static final AskedGroups ASKED = new AskedGroups();
    /** The most times that a group is asked again since a session started meanwhile. */
    private static final int MAX_ROUNDS = 3;
    private static final SwitchPages PAGES = new SwitchPages();
    private static final GroupSettings SETTINGS = new GroupSettings();
    /**
     * Stands for a group that can't be registered now, since its own methods log: its messages
     * count as lost.
     */
    public static final GroupState UNREGISTERED =
            new GroupState(new Unknown(), new GroupAnswers("unknown", "unknown", true, false, 0), PAGES.add());

    static {
        UNREGISTERED.askAlways();
    }

    /** The rounds of questions to all groups so far. */
    private static long rounds;

    private Groups() {}

    /** The state of a group that is in the first slot of its hash, as most are; else null. */
    public static GroupState inFirstSlot(IProtoLogGroup group) {
        GroupState[] now = table;
        GroupState state = now[System.identityHashCode(group) & now.length - 1];
        // Not `get`, which has the garbage collector keep the object.
        return state != null && state.refersTo(group) ? state : null;
    }

    /** The state of a group that is registered; null for another one. */
    public static GroupState known(IProtoLogGroup group) {
        GroupState[] now = table;
        for (int slot = System.identityHashCode(group);; slot++) {
            GroupState state = now[slot & now.length - 1];
            if (state == null || state.refersTo(group)) {
                return state;
            }
        }
    }

    /**
     * The state of a group that was not there: it is registered, unless its own methods log or it
     * can't be asked. An error where there is no memory, or no stack, for that.
     */
    public static GroupState register(IProtoLogGroup group, Registrar registrar) {
        AskedGroups.Question question = ASKED.begin(group);
        if (question == null) {
            // Its methods log.
            return UNREGISTERED;
        }
        try {
            GroupState state = null;
            for (int round = 1; state == null; round++) {
                state = askAndAdd(group, registrar, round == MAX_ROUNDS);
            }
            return state;
        } catch (RuntimeException | Error e) {
            if (e instanceof Error error && PassingErrors.isOne(error)) {
                throw error;
            }
            // A class that is not whole, for example. The call throws nothing.
            return UNREGISTERED;
        } finally {
            question.end();
        }
    }

    /** All groups that were used so far. */
    public static List<GroupState> all() {
        synchronized (ALL) {
            removeCollected();
            return List.copyOf(ALL);
        }
    }

    /**
     * Asks all groups anew, whose answers may have changed. A group that does not answer keeps
     * those that it gave.
     */
    public static void askAll() {
        List<GroupState> states;
        long round;
        synchronized (ALL) {
            round = ++rounds;
            states = List.copyOf(ALL);
        }
        for (GroupState state : states) {
            IProtoLogGroup group = state.get();
            AskedGroups.Question question = group == null ? null : ASKED.begin(group);
            if (question == null) {
                continue;
            }
            try {
                GroupAnswers answers = GroupAnswers.of(group);
                synchronized (ALL) {
                    checkPages();
                    state.setAnswers(answers, round);
                }
            } catch (OutOfMemoryError | StackOverflowError | LinkageError e) {
                // It has older answers.
            } finally {
                question.end();
            }
        }
    }

    /** Decides for all groups anew where their messages go. */
    public static void routeAll(Registrar registrar) {
        synchronized (ALL) {
            checkPages();
            for (int i = 0; i < ALL.size(); i++) {
                registrar.route(ALL.get(i));
            }
        }
    }

    /** Sets the levels of a group that are printed. */
    public static void print(GroupState state, int levels) {
        synchronized (ALL) {
            checkPages();
            if (state != UNREGISTERED) {
                state.set(null, levels);
            }
        }
    }

    /**
     * Applies settings to all groups that are registered now or later; they win over earlier ones.
     */
    public static void apply(List<GroupSettings.Entry> settings) {
        synchronized (ALL) {
            checkPages();
            SETTINGS.add(settings, ALL);
        }
    }

    /**
     * Replaces the settings of the configuration file. A group that only the old ones named goes
     * back to the others, or its own.
     */
    public static void replaceConfigFile(List<GroupSettings.Entry> settings) {
        synchronized (ALL) {
            checkPages();
            SETTINGS.replaceConfigFile(settings, ALL);
        }
    }

    /** The word to show of a group that was not called yet. */
    public static int wordBeforeRegistration(String fullName) {
        synchronized (ALL) {
            return SETTINGS.wordBeforeRegistration(fullName);
        }
    }

    /**
     * Moves the switch words to a new file, unless they are in one already. Threads find the same
     * bits before and after.
     */
    public static void share(Path path) throws IOException {
        synchronized (ALL) {
            if (PAGES.file() == null) {
                PAGES.share(path);
                ALL.forEach(state -> state.moveTo(PAGES.memory()));
                // Published again, so that threads see the new place.
                table = table.clone();
            }
        }
    }

    /** Takes the switch words out of their file again, as operators have left them. */
    public static void unshare() {
        synchronized (ALL) {
            if (PAGES.file() != null) {
                if (!PAGES.isTruncated()) {
                    ALL.forEach(GroupState::refresh);
                }
                makePrivate();
            }
        }
    }

    /** The file with the switch words; null where others can't map them. */
    public static Path sharedFile() {
        synchronized (ALL) {
            return PAGES.file();
        }
    }

    /** Looks after memory that a call could not read. */
    public static void repair(Error error) {
        if (error instanceof InternalError && !PassingErrors.isOne(error)) {
            synchronized (ALL) {
                checkPages();
            }
        }
    }

    /**
     * Takes the words out of a file that somebody has truncated. Operators switch groups by request
     * from then on.
     */
    private static void checkPages() {
        if (PAGES.isTruncated()) {
            makePrivate();
        }
    }

    private static void makePrivate() {
        PAGES.unshare();
        ALL.forEach(state -> state.moveBack(PAGES.memory()));
        // Published again, so that threads see the new place.
        table = table.clone();
    }

    /**
     * Asks a group and adds it; null if all groups were asked anew meanwhile, unless this
     * {@code isLast}.
     */
    private static GroupState askAndAdd(IProtoLogGroup group, Registrar registrar, boolean isLast) {
        long round;
        synchronized (ALL) {
            round = rounds;
        }
        GroupAnswers answers = GroupAnswers.of(group);
        registrar.prepare(group, answers.fullName());
        synchronized (ALL) {
            for (GroupState known : ALL) {
                if (known.refersTo(group)) {
                    return known;
                }
            }
            return round == rounds || isLast ? add(group, answers, registrar) : null;
        }
    }

    /** Adds a group once all is known of it: after an error its next message tries again. */
    private static GroupState add(IProtoLogGroup group, GroupAnswers answers, Registrar registrar) {
        checkPages();
        removeCollected();
        SwitchPages.Place place = PAGES.add();
        try {
            GroupState state = new GroupState(group, answers, place);
            registrar.route(state);
            SETTINGS.applyTo(state);
            publish(state);
            return state;
        } catch (RuntimeException | Error e) {
            PAGES.remove(place.index());
            throw e;
        }
    }

    private static void publish(GroupState state) {
        GroupState[] next = new GroupState[Math.max(MIN_SLOTS, Integer.highestOneBit(ALL.size() + 1) * 4)];
        for (GroupState each : ALL) {
            put(next, each);
        }
        put(next, state);
        ALL.add(state);
        table = next;
    }

    private static void put(GroupState[] into, GroupState state) {
        int slot = state.hash;
        while (into[slot & into.length - 1] != null) {
            slot++;
        }
        into[slot & into.length - 1] = state;
    }

    /** Forgets groups that the garbage collector has taken. */
    private static void removeCollected() {
        for (Iterator<GroupState> all = ALL.iterator(); all.hasNext();) {
            GroupState state = all.next();
            if (state.get() == null) {
                all.remove();
                MessageLimits.forget(state);
                PAGES.remove(state.index);
            }
        }
    }

    private static final class Unknown implements IProtoLogGroup {
        @Override
        public String name() {
            return "unknown";
        }

        @Override
        public String getTag() {
            return "unknown";
        }
    }
}
