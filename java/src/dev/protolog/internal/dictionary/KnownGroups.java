package dev.protolog.internal.dictionary;

import dev.protolog.internal.groups.Groups;
import java.util.Set;
import java.util.TreeSet;

/** The groups that the program is known to have: those of dictionaries, and those it has used. */
public final class KnownGroups {
    private KnownGroups() {}

    /** Their full names, by a new set. */
    public static Set<String> names() {
        Set<String> names = new TreeSet<>(Dictionaries.groups().keySet());
        Groups.all().forEach(state -> names.add(state.fullName));
        return names;
    }
}
