package dev.protolog.internal.rules;

import dev.protolog.IProtoLogGroup;
import dev.protolog.LogLevel;
import dev.protolog.internal.dictionary.Dictionaries;
import dev.protolog.internal.dictionary.KnownGroups;
import dev.protolog.internal.groups.GroupState;
import dev.protolog.internal.groups.RuntimeMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;

/**
 * The rules of single calls, of the whole program: {@code site Main.java:12-14=on}. When rules
 * change, all calls in dictionaries are looked at once. The groups of those that a rule takes are
 * marked, so that each call of such a group asks for its own rule, and no call of another group
 * does. Later rules win, part by part.
 *
 * <p>Invariants: to ask takes no lock; a rule that takes no call changes nothing; no rule stops the
 * program. The caller of a change has groups find their routes anew, which marks them.
 */
public final class Rules {
    /** The file and the module of a call that has none. Nothing has this name. */
    private static final String NOWHERE = "\0";
    private static volatile AppliedRules applied = AppliedRules.NONE;
    /** The version of the dictionaries that were looked at. */
    private static long lookedAt;

    private Rules() {}

    /** Adds rules, each after those before it. The caller holds no lock. */
    public static synchronized void apply(List<Rule> added) {
        List<Rule> all = new ArrayList<>(applied.rules);
        added.forEach(rule -> Rule.add(all, rule));
        set(all);
    }

    /** Replaces the rules of the configuration file. False if there were none, and are none. */
    public static synchronized boolean replaceConfigFile(List<Rule> added) {
        List<Rule> all = Rule.withoutConfigFile(applied.rules);
        if (added.isEmpty() && all.size() == applied.rules.size()) {
            return false;
        }
        added.forEach(rule -> Rule.add(all, rule));
        set(all);
        return true;
    }

    /**
     * Adds what a group declares that is about to be registered. No lock is held. Other groups are
     * not concerned.
     */
    public static void declare(IProtoLogGroup group, String fullName) {
        SiteSetting declared = DeclaredRules.of(group, fullName);
        if (declared != null) {
            synchronized (Rules.class) {
                List<Rule> all = DeclaredRules.with(applied.rules, fullName, declared);
                if (all != null) {
                    set(all);
                }
            }
        }
    }

    /** Compares the calls of dictionaries that have come with the rules. */
    public static void addKnown() {
        if (applied != AppliedRules.NONE) {
            synchronized (Rules.class) {
                if (Dictionaries.version() != lookedAt) {
                    set(applied.rules);
                }
            }
        }
    }

    /** What rules make of a call in a dictionary. */
    public static RuledCall of(long id) {
        return applied.of(id);
    }

    /** What rules make of an unprocessed message. */
    public static RuledCall of(GroupState state, RuntimeMessage message) {
        return applied.of(state, message);
    }

    /** True if a rule switches on the unprocessed message of this text. */
    public static boolean switchesOn(GroupState state, LogLevel level, String text) {
        return applied.switchesOn(state, level, text);
    }

    /** Has calls of a group ask for their rules, if there are any. */
    public static void mark(GroupState state) {
        applied.mark(state);
    }

    /**
     * A rule that holds, the number of calls that it takes, and what is wrong; null for nothing.
     */
    public record Held(Rule rule, long calls, String problem) {}

    /** The rules that hold, the oldest first. */
    public static List<Held> held() {
        AppliedRules now = applied;
        List<Held> held = new ArrayList<>();
        for (int i = 0; i < now.rules.size(); i++) {
            Rule rule = now.rules.get(i);
            held.add(new Held(rule, now.counts[i], now.problem(i)));
        }
        return held;
    }

    /**
     * The selectors of rules that take no call which is known by now, and none that may come: of a
     * group without processed calls. {@code mayHavePlaces}: such a call may have a place then.
     */
    public static List<String> withoutCalls(List<Rule> rules, boolean mayHavePlaces) {
        if (rules.isEmpty()) {
            return List.of();
        }
        List<KnownCall> known = new ArrayList<>();
        KnownCalls.all().values().forEach(known::addAll);
        List<KnownCall> later = new ArrayList<>();
        Set<String> processed = KnownCalls.processedGroups();
        for (String group : KnownGroups.names()) {
            if (!processed.contains(group)) {
                String place = mayHavePlaces ? "" : NOWHERE;
                later.add(new KnownCall(null, null, group, place, place, List.of(), ""));
            }
        }
        return rules.stream().map(Rule::selector)
                .filter(it -> known.stream().noneMatch(call -> it.takes(call) || it.takesMoved(call)) && later.stream().noneMatch(it::mayTake))
                .map(Selector::text).distinct().toList();
    }

    /**
     * Passes on each call that a selector takes, and the words of a rule that does what is done.
     */
    public static void forEachTaken(Selector selector, BiConsumer<KnownCall, String> to) {
        AppliedRules now = applied;
        for (Map.Entry<Long, List<KnownCall>> message : KnownCalls.all().entrySet()) {
            for (KnownCall call : message.getValue()) {
                if (selector.takes(call)) {
                    to.accept(call, now.of(message.getKey()).state());
                }
            }
        }
    }

    private static void set(List<Rule> all) {
        lookedAt = Dictionaries.version();
        applied = new AppliedRules(List.copyOf(all), KnownCalls.all(), applied);
    }
}
