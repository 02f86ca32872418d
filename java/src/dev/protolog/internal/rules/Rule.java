package dev.protolog.internal.rules;

import dev.protolog.internal.groups.GroupSettings;
import java.util.ArrayList;
import java.util.List;

/**
 * A rule: the calls that a selector takes, what becomes of them, and where it comes from. One that
 * only ends others {@code waits} for what groups declare that come later: it is said at each start,
 * before them.
 */
public record Rule(Selector selector, SiteSetting setting, GroupSettings.Source source, boolean waits) {
    /**
     * The most rules that are kept; beyond it, the oldest are dropped, those that groups declare
     * last.
     */
    static final int MAX = 256;
    /** The selector of all calls: a rule that ends others leaves none of them anything to do. */
    private static final String ALL_CALLS = "*";

    public static Rule of(SiteRules.Item item, GroupSettings.Source source) {
        return new Rule(item.selector(), item.setting(), source, false);
    }

    /** The same as one that a program starts with. */
    public Rule ofStart() {
        return new Rule(selector, setting, source, true);
    }

    /** A limit of each call, or of all calls of a group together; an error if a text is wrong. */
    public static Rule ofLimit(String selector, String limit, boolean isOfGroup) {
        Selector calls = selector(selector, true);
        Limit read = Limit.parse(limit);
        if (read == null) {
            throw new IllegalArgumentException("invalid limit `" + limit + "`; " + Limit.HELP);
        }
        return new Rule(calls, SiteSetting.ofLimit(read, isOfGroup), GroupSettings.Source.OTHER, true);
    }

    /** A rate at which messages are kept; an error if a text is wrong. */
    public static Rule ofRate(String selector, String rate) {
        Selector calls = selector(selector, true);
        Rate read = Rate.parse(rate);
        if (read == null) {
            throw new IllegalArgumentException("invalid rate `" + rate + "`; " + Rate.help(rate));
        }
        return new Rule(calls, SiteSetting.ofRate(read), GroupSettings.Source.OTHER, true);
    }

    /** Switches calls, by the words of a rule; an error if a text is wrong. */
    public static Rule ofSwitches(String selector, String words) {
        Selector calls = selector(selector, false);
        try {
            SiteSetting setting = SiteSetting.parse(words);
            if (calls.isByArguments() && setting.isOfCalls()) {
                throw new IllegalArgumentException(SiteRules.BY_ARGUMENT + "; " + SiteRules.BY_ARGUMENT_HELP);
            }
            return new Rule(calls, setting, GroupSettings.Source.OTHER, true);
        } catch (SiteSetting.BadWord e) {
            throw new IllegalArgumentException("unknown word `" + e.word() + "`; " + SiteRules.BAD_WORD, e);
        }
    }

    private static Selector selector(String text, boolean isOfCalls) {
        try {
            Selector read = Selector.parse(text);
            if (isOfCalls && read.isByArguments()) {
                throw new IllegalArgumentException(SiteRules.BY_ARGUMENT + "; " + SiteRules.BY_ARGUMENT_HELP);
            }
            return read;
        } catch (SelectorException e) {
            throw new IllegalArgumentException(e.getMessage() + "; " + e.help(), e);
        }
    }

    /** The words after {@code =}. */
    public String words() {
        return setting.toString();
    }

    private boolean isOfSame(Rule other) {
        return selector.text().equals(other.selector.text());
    }

    /**
     * Adds a rule in the place of earlier ones of its source and selector. One that only ends
     * others ends those of its selector; where there are none, it stays, for what other rules do,
     * and what groups declare that come later. The configuration file takes no rule of others away:
     * what it ends holds again without its line.
     */
    static void add(List<Rule> all, Rule added) {
        if (added.setting.resets()) {
            boolean isOfFile = added.source == GroupSettings.Source.CONFIG_FILE;
            boolean isOfAll = added.selector.text().equals(ALL_CALLS);
            // One that only ends others is no rule to end: it holds after the second request, too.
            boolean hasEnded = all.stream().anyMatch(old -> old.isOfSame(added) && old.setting.acts());
            all.removeIf(old -> (isOfAll || old.isOfSame(added)) && (!isOfFile || old.source == added.source));
            if (!added.setting.acts() && hasEnded && all.stream().noneMatch(added::isOfSame)) {
                dropIdle(all);
                return;
            }
        }
        all.replaceAll(old -> old.isOfSame(added) && old.source == added.source
                ? new Rule(old.selector, old.setting.before(added.setting), old.source, old.waits) : old);
        all.removeIf(old -> !old.setting.resets() && !old.setting.acts());
        if (all.size() >= MAX) {
            // Those that groups declare go last.
            all.remove(all.stream().filter(old -> old.source != GroupSettings.Source.GROUP).findFirst().orElse(all.get(0)));
        }
        all.add(added);
        dropIdle(all);
    }

    /** Drops rules that only end others, where there are none before them and none are to come. */
    private static void dropIdle(List<Rule> all) {
        for (int at = 0; at < all.size() && !all.get(at).setting.acts();) {
            Rule rule = all.get(at);
            if (rule.waits && !rule.selector.text().equals(ALL_CALLS)) {
                at++;
            } else {
                all.remove(at);
            }
        }
    }

    /** The rules without those of the configuration file, which others replace. */
    static List<Rule> withoutConfigFile(List<Rule> all) {
        return new ArrayList<>(all.stream().filter(rule -> rule.source != GroupSettings.Source.CONFIG_FILE).toList());
    }
}
