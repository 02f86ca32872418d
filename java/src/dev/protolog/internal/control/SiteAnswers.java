package dev.protolog.internal.control;

import dev.protolog.internal.control.ControlAnswers.Refusal;
import dev.protolog.internal.groups.GroupSettings;
import dev.protolog.internal.rules.Rule;
import dev.protolog.internal.rules.Rules;
import dev.protolog.internal.rules.Selector;
import dev.protolog.internal.rules.SelectorException;
import dev.protolog.internal.rules.SiteRules;
import dev.protolog.internal.text.WrittenName;
import java.util.List;
import java.util.Locale;

/** Requests about single calls and their rules, and the answers. */
final class SiteAnswers {
    /** The most calls that are listed. */
    private static final long MOST = 10_000;

    private SiteAnswers() {}

    /** Lists the calls that a selector takes, at most so many. */
    static void list(long limit, String text, StringBuilder reply) throws Refusal {
        Selector selector;
        try {
            selector = Selector.parse(text);
        } catch (SelectorException e) {
            throw new Refusal(e.getMessage(), e.help());
        }
        long[] taken = {0};
        Rules.forEachTaken(selector, (call, rule) -> {
            if (++taken[0] > Math.min(limit, MOST)) {
                return;
            }
            String level = call.level() == null ? "-" : call.level().name();
            int line = call.lines().isEmpty() ? 0 : call.lines().get(0);
            ControlAnswers.add(reply, String.format(Locale.ROOT, "site %016x %s %s %d %s %s %s %s", call.id(), level, rule, line,
                    WrittenName.word(call.group()), WrittenName.word(call.module()), WrittenName.word(call.file()), call.template()));
        });
        ControlAnswers.add(reply, "taken " + taken[0]);
    }

    /** Lists the rules that hold. */
    static void rules(StringBuilder reply) {
        for (Rules.Held held : Rules.held()) {
            ControlAnswers.add(reply, "rule " + held.calls() + " " + held.rule().words() + " " + held.rule().selector().text());
            if (held.problem() != null) {
                ControlAnswers.add(reply, "problem " + held.problem());
            }
        }
    }

    /** The rules in the text of a request. */
    static List<Rule> parse(String text) throws Refusal {
        SiteRules read = SiteRules.parse(text);
        if (!read.problems().isEmpty()) {
            throw new Refusal(read.problems().get(0).message(), read.problems().get(0).help());
        }
        return read.items().stream().map(item -> Rule.of(item, GroupSettings.Source.OTHER)).toList();
    }
}
