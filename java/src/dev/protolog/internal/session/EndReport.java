package dev.protolog.internal.session;

import dev.protolog.internal.dictionary.Dictionaries;
import dev.protolog.internal.dictionary.KnownGroups;
import dev.protolog.internal.groups.Filter;
import dev.protolog.internal.groups.MisspelledGroups;
import dev.protolog.internal.rules.Rules;
import dev.protolog.internal.text.LogPrinter;
import dev.protolog.internal.text.WrittenName;
import dev.protolog.internal.write.LossCause;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The lines on standard error at a session's end. One is about lost messages, for programs that
 * look at no summary. The others are about names that match no group, but are almost the name of
 * one, and about selectors of the session's rules that take no call.
 *
 * <p>Invariants: nothing is printed before the session's end: calls become known as groups log.
 * Messages that a ring overwrites by design do not count as lost. A name that resembles no group is
 * no mistake: its group may come with a later message, and so may a call that the tool has not
 * processed.
 *
 * @param isWanted false if the program wants no lines
 * @param named the names of groups that the program has written
 */
public record EndReport(boolean isWanted, Set<String> named) {
    static final EndReport NONE = new EndReport(false, Set.of());

    private static volatile boolean hasReportedUnreadable;

    public EndReport {
        named = Set.copyOf(named);
    }

    /**
     * Prints them, for a session with these settings. Out of memory or of stack, nothing is
     * printed: the trace is complete all the same.
     */
    void print(SessionConfig config, SessionStats stats, boolean isAtExit) {
        if (!isWanted) {
            return;
        }
        try {
            Path file = config.file();
            String whose = file == null ? "a session" : file.toString();
            // The recording of one without a file says so itself.
            String lost = file == null ? null : lost(whose, stats.messages(), causes(stats, isAtExit));
            if (lost != null) {
                LogPrinter.queue(lost);
            }
            unknown(whose).forEach(LogPrinter::queue);
            for (String selector : Rules.withoutCalls(config.rules(), config.hasLocations())) {
                LogPrinter.queue("protolog: `" + whose + "`: no call that is known is taken by `" + selector + "`" + System.lineSeparator()
                        + "  help: look at its names, places and texts");
            }
        } catch (OutOfMemoryError | StackOverflowError | LinkageError e) {
            // As above.
        }
    }

    /**
     * Says once that a trace has messages without texts, as of a jar whose dictionary did not come
     * along into another one. {@code trace} is null for none.
     */
    public static void reportUnreadable(SessionStats stats, Path trace) {
        if (hasReportedUnreadable || trace == null) {
            return;
        }
        try {
            long unknown = 0;
            for (SessionStats.OfGroup each : stats.groups()) {
                unknown += each.group().isEmpty() ? each.messages() : 0;
            }
            if (unknown > 0) {
                hasReportedUnreadable = true;
                String what = unknown == 1 ? "1 message of `" + trace + "` is" : unknown + " messages of `" + trace + "` are";
                LogPrinter.problem(what + " in no dictionary, so that nobody can read " + (unknown == 1 ? "its text" : "their texts"),
                        "put the dictionaries of all jars into the program, one after the other in " + Dictionaries.RESOURCE);
            }
        } catch (OutOfMemoryError | StackOverflowError | LinkageError e) {
            // The trace is complete all the same.
        }
    }

    /** The line about lost messages; null where none are but what a ring is made to overwrite. */
    static String lost(String whose, long messages, Map<LossCause, Long> causes) {
        List<String> parts = new ArrayList<>();
        long lost = 0;
        for (Map.Entry<LossCause, Long> each : causes.entrySet()) {
            LossCause cause = each.getKey();
            if (cause.isLost() && cause != LossCause.OVERWRITTEN) {
                lost += each.getValue();
                parts.add(each.getValue() + ": " + cause.description());
            }
        }
        long all = messages + lost;
        return lost == 0 ? null : "protolog: `" + whose + "` lacks " + lost + " of " + all + " messages (" + String.join("; ", parts) + ")";
    }

    /** Where the JVM ends, threads that go on to log are no fault of the session. */
    private static Map<LossCause, Long> causes(SessionStats stats, boolean isAtExit) {
        Map<LossCause, Long> causes = new EnumMap<>(LossCause.class);
        for (SessionStats.OfGroup group : stats.groups()) {
            group.losses().forEach((cause, count) -> causes.merge(cause, count, Long::sum));
        }
        if (isAtExit) {
            causes.remove(LossCause.WRITE_FAILED);
        }
        return causes;
    }

    private List<String> unknown(String whose) {
        if (named.isEmpty()) {
            return List.of();
        }
        Set<String> known = KnownGroups.names();
        List<String> lines = new ArrayList<>();
        for (String name : new TreeSet<>(named)) {
            boolean isMeant = known.stream().anyMatch(full -> Filter.fits(name, full));
            String meant = isMeant ? null : MisspelledGroups.meant(WrittenName.of(name), known);
            if (meant != null) {
                lines.add("protolog: `" + whose + "`: no group is named `" + name + "`" + System.lineSeparator() + "  help: write `" + meant + "`");
            }
        }
        return lines;
    }
}
