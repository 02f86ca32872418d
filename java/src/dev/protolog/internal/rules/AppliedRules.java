package dev.protolog.internal.rules;

import dev.protolog.LogLevel;
import dev.protolog.internal.groups.GroupState;
import dev.protolog.internal.groups.RuntimeMessage;
import dev.protolog.internal.text.LevelSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The rules that hold at one time, and what they make of each call. Calls that are known then stand
 * in a table by their ids; those that come at run time are compared when they come.
 *
 * <p>Invariant: all but the calls that come at run time, and buckets, is made before it is
 * published.
 */
final class AppliedRules {
    /** The most buckets; calls beyond that have no limit. */
    private static final int MAX_BUCKETS = 1 << 20;
    private static final int MIN_SLOTS = 16;

    static final AppliedRules NONE = new AppliedRules(List.of(), Map.of(), null);

    final List<Rule> rules;
    /**
     * The calls that each rule takes, and the place of one that is elsewhere by now; null for none.
     */
    final long[] counts;
    private final String[] moved;
    /** True of a rule that would take a call if that had such an argument. */
    private final boolean[] lackArguments;
    /** By the lowest bits of the id, or in the next place that is free. */
    private final long[] ids;
    private final RuledCall[] calls;
    /** The levels of each group with rules that switch known calls on; 0 for other rules. */
    private final Map<String, Integer> groups = new HashMap<>();
    private final ConcurrentHashMap<Long, AtRunTime> atRunTime = new ConcurrentHashMap<>();
    private final Map<String, Bucket> buckets = new ConcurrentHashMap<>();
    /** Those of the rules before, until the table is complete. */
    private Map<String, Bucket> earlier;

    /** An unprocessed message that was compared when it had these places. */
    private record AtRunTime(RuledCall call, List<KnownCall> places) {}

    /**
     * {@code before} has the buckets that go on, and the unprocessed messages that came; null for
     * none. A bucket goes on if its rule still holds: one that is removed and set again later
     * begins full.
     */
    AppliedRules(List<Rule> rules, Map<Long, List<KnownCall>> known, AppliedRules before) {
        this.rules = rules;
        counts = new long[rules.size()];
        moved = new String[rules.size()];
        lackArguments = new boolean[rules.size()];
        earlier = before == null ? Map.of() : before.buckets;
        Map<Long, RuledCall> ruled = new HashMap<>();
        boolean[] isThere = areThere(known);
        known.forEach((id, places) -> {
            RuledCall call = ruled(places, isThere, true);
            if (call != RuledCall.NONE) {
                ruled.put(id, call);
                KnownCall first = places.get(0);
                int on = call.setting.switchesOn() && first.level() != null ? LevelSet.bit(first.level()) : 0;
                groups.merge(first.group(), on, (one, other) -> one | other);
            }
        });
        int slots = Math.max(MIN_SLOTS, Integer.highestOneBit(Math.max(1, ruled.size())) * 4);
        ids = new long[slots];
        calls = new RuledCall[slots];
        ruled.forEach(this::put);
        if (!earlier.isEmpty()) {
            before.atRunTime.forEach((id, message) -> atRunTime.put(id, atRunTime(message.places)));
        }
        earlier = Map.of();
    }

    /** What is wrong with a rule; null for nothing. */
    String problem(int rule) {
        String text = rules.get(rule).selector().text();
        if (moved[rule] != null) {
            return "the call of `" + text + "` is at `" + moved[rule] + "` now";
        }
        boolean lacks = counts[rule] == 0 && lackArguments[rule];
        return lacks ? "no call that `" + text + "` is about has such an integer among its arguments" : null;
    }

    /** What rules make of a call that was known. */
    RuledCall of(long id) {
        int last = ids.length - 1;
        for (int slot = (int) id & last;; slot = slot + 1 & last) {
            RuledCall call = calls[slot];
            if (call == null) {
                return RuledCall.NONE;
            } else if (ids[slot] == id) {
                return call;
            }
        }
    }

    /** What rules make of an unprocessed message. */
    RuledCall of(GroupState state, RuntimeMessage message) {
        AtRunTime known = atRunTime.get(message.id());
        int places = message.locations().size();
        if (known == null || known.places.size() != Math.max(1, places)) {
            known = atRunTime(KnownCalls.of(state.fullName, message));
            atRunTime.put(message.id(), known);
        }
        return known.call;
    }

    private AtRunTime atRunTime(List<KnownCall> places) {
        return new AtRunTime(ruled(places, new boolean[rules.size()], false), places);
    }

    /** True if a rule switches on the unprocessed message of this text. */
    boolean switchesOn(GroupState state, LogLevel level, String text) {
        return mayBeOn(new KnownCall(null, level, state.fullName, "", "", List.of(), text));
    }

    /** Has calls of a group ask for their rules, if there are any. */
    void mark(GroupState state) {
        boolean isRuled = groups.containsKey(state.fullName);
        int on = groups.getOrDefault(state.fullName, 0);
        boolean isRuledAtRunTime = false;
        int onAtRunTime = 0;
        for (LogLevel level : LogLevel.values()) {
            KnownCall call = new KnownCall(null, level, state.fullName, "", "", List.of(), "");
            isRuledAtRunTime |= rules.stream().anyMatch(rule -> rule.setting().acts() && rule.selector().mayTake(call));
            onAtRunTime |= mayBeOn(call) ? LevelSet.bit(level) : 0;
        }
        state.setRuled(isRuled, isRuledAtRunTime, on, onAtRunTime);
    }

    /** True if rules may switch on a call of which more is known later. */
    private boolean mayBeOn(KnownCall call) {
        boolean isOn = false;
        for (Rule rule : rules) {
            SiteSetting setting = rule.setting();
            // Where more has to be known, an earlier rule may hold as well.
            boolean ends = !rule.selector().isByArguments() && rule.selector().takes(call) && (setting.resets() || setting.trace() != null && setting.text() != null);
            isOn = setting.switchesOn() && rule.selector().mayTake(call) || isOn && !ends;
        }
        return isOn;
    }

    /** True of each rule that needs no call at its place, or has one. */
    private boolean[] areThere(Map<Long, List<KnownCall>> known) {
        boolean[] isThere = new boolean[rules.size()];
        for (int i = 0; i < isThere.length; i++) {
            Selector selector = rules.get(i).selector();
            isThere[i] = !selector.mayMove() || known.values().stream().anyMatch(places -> places.stream().anyMatch(selector::takes));
        }
        return isThere;
    }

    /** What the rules make of a message with these places. */
    private RuledCall ruled(List<KnownCall> places, boolean[] isThere, boolean isCounted) {
        SiteSetting setting = SiteSetting.NONE;
        LogLevel level = places.get(0).level();
        int ofGroup = -1;
        int sampledBy = 0;
        ByArguments byArguments = new ByArguments();
        for (int i = 0; i < rules.size(); i++) {
            Selector selector = rules.get(i).selector();
            boolean isTaken = places.stream().anyMatch(selector::takes);
            boolean isMoved = !isTaken && !isThere[i] && places.stream().anyMatch(selector::takesMoved);
            if (!isTaken && !isMoved) {
                lackArguments[i] |= isCounted && selector.isByArguments() && places.stream().anyMatch(selector::takesWithoutArguments);
                continue;
            }
            if (isCounted) {
                counts[i]++;
            }
            if (isMoved && isCounted) {
                KnownCall place = places.get(0);
                moved[i] = place.lines().isEmpty() ? place.file() : place.file() + ":" + place.lines().get(0);
            }
            SiteSetting given = rules.get(i).setting();
            byArguments.add(selector, given);
            if (selector.isByArguments()) {
                continue;
            }
            SiteSetting one = selector.samples(level) ? given : given.withoutRate();
            setting = setting.then(one);
            ofGroup = one.groupLimit() != null ? i : one.resets() ? -1 : ofGroup;
            sampledBy = one.sample() != null ? i : sampledBy;
        }
        setting = byArguments.hasConditions() ? setting.withSwitches(byArguments.mayBe()) : setting;
        if (!setting.acts() && !byArguments.hasConditions()) {
            return RuledCall.NONE;
        }
        KnownCall first = places.get(0);
        Bucket call = bucket("call " + first.id(), setting.limit());
        Bucket group = ofGroup < 0 ? null : bucket(first.group() + " " + rules.get(ofGroup).selector().text(), setting.groupLimit());
        return new RuledCall(setting, call, group, sampledBy, byArguments.hasConditions() ? byArguments : null);
    }

    /** The bucket with this key; null without a limit. One that had another limit begins full. */
    private Bucket bucket(String key, Limit limit) {
        if (limit == null || limit == Limit.NONE) {
            return null;
        }
        Bucket known = buckets.get(key);
        if (known == null && earlier.containsKey(key)) {
            known = earlier.get(key);
            buckets.put(key, known);
        }
        if (known != null && known.hasLimit(limit)) {
            return known;
        }
        if (known == null && buckets.size() >= MAX_BUCKETS) {
            return null;
        }
        Bucket made = new Bucket(limit);
        if (known == null) {
            Bucket other = buckets.putIfAbsent(key, made);
            return other == null || !other.hasLimit(limit) ? made : other;
        }
        buckets.put(key, made);
        return made;
    }

    private void put(long id, RuledCall call) {
        int slot = (int) id & ids.length - 1;
        while (calls[slot] != null) {
            slot = slot + 1 & ids.length - 1;
        }
        ids[slot] = id;
        calls[slot] = call;
    }
}
