package dev.protolog.internal.groups;

import dev.protolog.internal.text.LevelSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

/**
 * Settings of groups that come from outside: from operators, the state file, the variable and the
 * configuration file. They name groups by a pattern, so they also hold for groups that register
 * later. Later ones win.
 *
 * <p>Invariants: used under the lock of {@link Groups}; bounded; at most one setting of each
 * source, pattern and part, recorded levels or printed ones; in the order in which they came.
 */
public final class GroupSettings {
    /** The most settings that are kept for later groups; beyond it, the oldest are dropped. */
    private static final int MAX = 4096;

    private List<Entry> all = new ArrayList<>();

    /** Where a setting comes from. */
    public enum Source {
        /** The configuration file: its settings are replaced when it changes. */
        CONFIG_FILE,
        /** A group, as it declares itself. */
        GROUP,
        /** Operators, the state file, the variable: these stay. */
        OTHER
    }

    /** The setting of the groups that a pattern names. */
    public record Entry(String pattern, Setting setting, Source source) {
        boolean matches(String fullName) {
            return GroupPattern.matches(pattern, fullName);
        }
    }

    void applyTo(GroupState state) {
        applyAll(all, state);
    }

    void add(List<Entry> settings, List<GroupState> groups) {
        groups.forEach(state -> applyAll(settings, state));
        settings.forEach(this::merge);
    }

    void replaceConfigFile(List<Entry> settings, List<GroupState> groups) {
        List<Entry> old = all.stream().filter(it -> it.source == Source.CONFIG_FILE).toList();
        all = new ArrayList<>(all.stream().filter(it -> it.source != Source.CONFIG_FILE).toList());
        settings.forEach(this::merge);
        for (GroupState state : groups) {
            Levels allowed = current(old, state, Setting::trace);
            Levels text = current(old, state, Setting::text);
            state.set(allowed == null ? null : allowed.or(LevelSet.ALL), text == null ? null : text.or(state.ownText()));
        }
    }

    int wordBeforeRegistration(String fullName) {
        int allowed = LevelSet.ALL;
        int text = 0;
        for (Entry entry : all) {
            if (entry.matches(fullName)) {
                allowed = Objects.requireNonNullElse(entry.setting.trace(), allowed);
                text = Objects.requireNonNullElse(entry.setting.text(), text);
            }
        }
        return Switch.unregistered(text, allowed);
    }

    /** Levels that a setting gives; null for none. */
    private record Levels(Integer given) {
        int or(int other) {
            return given == null ? other : given;
        }
    }

    /**
     * The levels of a part that a setting of the file concerns, before or now; null where none
     * does.
     */
    private Levels current(List<Entry> old, GroupState state, Function<Setting, Integer> part) {
        boolean isConcerned = false;
        Integer given = null;
        for (Entry entry : old) {
            isConcerned |= entry.matches(state.fullName) && part.apply(entry.setting) != null;
        }
        for (Entry entry : all) {
            Integer levels = entry.matches(state.fullName) ? part.apply(entry.setting) : null;
            isConcerned |= levels != null && entry.source == Source.CONFIG_FILE;
            given = levels == null ? given : levels;
        }
        return isConcerned ? new Levels(given) : null;
    }

    /**
     * Adds a setting. It replaces the same parts of earlier ones of its source and pattern. A part
     * that it leaves out stays in its place: later settings of other patterns still win over that.
     */
    private void merge(Entry added) {
        all.replaceAll(known -> known.source == added.source && known.pattern.equals(added.pattern)
                ? new Entry(known.pattern, known.setting.without(added.setting), known.source) : known);
        all.removeIf(known -> known.setting.equals(Setting.NONE));
        if (all.size() >= MAX) {
            all.remove(0);
        }
        all.add(added);
    }

    private static void applyAll(List<Entry> settings, GroupState state) {
        for (Entry entry : settings) {
            if (entry.matches(state.fullName)) {
                state.set(entry.setting.trace(), entry.setting.text());
            }
        }
    }
}
