package dev.protolog;

import dev.protolog.Faults.Fault;
import dev.protolog.Faults.Kind;
import dev.protolog.Faults.Outcome;
import dev.protolog.internal.groups.GroupSettings;
import dev.protolog.internal.rules.Rule;
import dev.protolog.internal.rules.Rules;
import dev.protolog.internal.rules.SiteRules;
import dev.protolog.internal.write.Routing;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Starts of a session with a limit and a rate in which each place fails in turn: the rules of one
 * that does not start are gone. {@link FaultTest} has it run by classes with hooks.
 */
public final class FaultStarts {
    private static final String SELECTOR = "\"never logged\"";
    /** The most places. */
    private static final int MANY = 3_000;

    private FaultStarts() {}

    /** Returns the number of starts that failed, and what went wrong. */
    public static Map.Entry<Integer, List<String>> run() throws Exception {
        List<String> problems = new ArrayList<>();
        int failed = 0;
        // A class whose initializer fails is no class for the rest of the program.
        ruled().start().stop();
        clear();
        for (int passed = 0; passed < MANY; passed++) {
            Session[] session = {null};
            Session.Builder builder = ruled();
            Outcome outcome = Faults.during(new Fault(Kind.MEMORY, passed, false), () -> session[0] = builder.start());
            // All of them, or none.
            int rules = Rules.held().size();
            if (rules != (session[0] != null ? 2 : 0)) {
                problems.add("at " + passed + ": " + rules + " rules, after " + outcome.thrown() + ", from " + outcome.place());
            }
            failed += session[0] == null ? 1 : 0;
            if (session[0] != null) {
                session[0].stop();
            }
            clear();
            if (!outcome.hasFired()) {
                break;
            }
        }
        return Map.entry(failed, problems);
    }

    private static Session.Builder ruled() {
        return Session.builder().keepNewest().reportLosses(false).limit(SELECTOR, "1/h").sample(SELECTOR, "1/100");
    }

    private static void clear() {
        Routing.apply(SiteRules.parse("site " + SELECTOR + "=default").items().stream()
                .map(item -> Rule.of(item, GroupSettings.Source.OTHER)).toList());
    }
}
