package dev.protolog.internal.rules;

import dev.protolog.IProtoLogGroup;
import dev.protolog.internal.groups.GroupSettings;
import dev.protolog.internal.process.PassingErrors;
import dev.protolog.internal.text.Controls;
import dev.protolog.internal.text.LogPrinter;
import dev.protolog.internal.text.WrittenName;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * The rates and limits that groups declare, as rules before all others.
 *
 * <p>Invariants: a declaration takes no other rule's place; one that is wrong, or has no place, is
 * said once on standard error and changes nothing; one that an operator has ended stays ended,
 * though its group is seen again, as that of another class loader.
 */
final class DeclaredRules {
    /** The rules that each group has declared, by its full name, with those that were wrong. */
    private static final Map<String, String> KNOWN = new ConcurrentHashMap<>();

    private DeclaredRules() {}

    /**
     * What a group declares, which nobody has asked yet; null for nothing. Its methods are the
     * application's: the caller holds no lock.
     */
    static SiteSetting of(IProtoLogGroup group, String fullName) {
        String sample = ask(group, IProtoLogGroup::getSample);
        String limit = ask(group, IProtoLogGroup::getLimit);
        if (sample == null && limit == null) {
            return null;
        }
        String said = sample + "\0" + limit;
        if (said.equals(KNOWN.put(fullName, said))) {
            return null;
        }
        Rate rate = sample == null ? null : Rate.parse(sample);
        if (sample != null && rate == null) {
            tell(fullName, "the invalid rate", sample, Rate.help(sample));
        }
        Limit most = limit == null ? null : Limit.parse(limit);
        if (limit != null && most == null) {
            tell(fullName, "the invalid limit", limit, Limit.HELP);
        }
        return rate == null && most == null ? null : new SiteSetting(null, null, null, most, rate, null, false);
    }

    /** The rules with the one that a group declares; null if there is no place for it. */
    static List<Rule> with(List<Rule> rules, String fullName, SiteSetting setting) {
        String text = "group " + WrittenName.of(fullName);
        List<Rule> all = new ArrayList<>(rules);
        all.removeIf(rule -> rule.source() == GroupSettings.Source.GROUP && rule.selector().text().equals(text));
        if (all.size() >= Rule.MAX) {
            LogPrinter.queue("protolog: the rate or limit that " + WrittenName.of(fullName) + " declares has no place: a program keeps "
                    + Rule.MAX + " rules" + System.lineSeparator() + "  help: take several groups by one rule, as in `site debug=sample:1/100`");
            return null;
        }
        try {
            all.add(0, new Rule(Selector.parse(text), setting, GroupSettings.Source.GROUP, false));
        } catch (SelectorException e) {
            // A name longer than a selector may be.
            return null;
        }
        return all;
    }

    private static String ask(IProtoLogGroup group, Function<IProtoLogGroup, String> question) {
        try {
            return question.apply(group);
        } catch (Throwable e) {
            // A method that throws declares nothing.
            if (e instanceof Error error && PassingErrors.isOne(error)) {
                throw error;
            }
            return null;
        }
    }

    private static void tell(String fullName, String what, String text, String help) {
        LogPrinter.queue("protolog: " + WrittenName.of(fullName) + " declares " + what + " `" + Controls.escaped(text) + "`"
                + System.lineSeparator() + "  help: " + help);
    }
}
