package dev.protolog.internal.rules;

import dev.protolog.internal.groups.SettingParts;
import dev.protolog.internal.groups.SettingsText;
import dev.protolog.internal.process.RunningProgram;
import dev.protolog.internal.text.WrittenName;
import java.util.ArrayList;
import java.util.List;

/**
 * The rules of single calls in a text with settings: {@code site SELECTOR=WORDS}. As
 * {@code protolog-core/src/control/site_rule.rs} has them; {@code site_rules.tsv} in
 * {@code protolog-core/testdata} has vectors for both.
 *
 * <p>Invariant: a rule that is wrong is a problem, and keeps no other from being read.
 */
public final class SiteRules {
    private static final String NO_EQUALS = "write site SELECTOR=WORDS, as in `site net.rs:120-180=on`";
    static final String BAD_WORD =
            "use on, off, text, notext, notrace, limit:100/s, group-limit:100/s, sample:1/100, repeat, nolimit, nogroup-limit, nosample,"
                    + " norepeat or default, with commas between";

    static final String BY_ARGUMENT = "limit, rate or `repeat` of calls by an argument";
    static final String BY_ARGUMENT_HELP =
            "leave out the condition on the argument: only `on`, `off`, `text`, `notext`, `notrace` and `default` go with one";

    private final List<Item> items = new ArrayList<>();
    private final List<SettingsText.Problem> problems = new ArrayList<>();
    /** Items and problems, as they come. */
    private final List<Object> all = new ArrayList<>();

    private SiteRules() {}

    /** A rule of one program, or of all if {@code program} is null. */
    public record Item(String program, Selector selector, SiteSetting setting) {
        @Override
        public String toString() {
            return (program == null ? "" : "[" + program + "] ") + selector + "=" + setting;
        }
    }

    public static SiteRules parse(String text) {
        SiteRules read = new SiteRules();
        for (SettingParts.Part part : SettingParts.of(text)) {
            if (part.rule() != null) {
                read.add(part);
            }
        }
        return read;
    }

    /** The rules that are for this program. */
    public List<Item> forThisProgram() {
        String own = RunningProgram.name();
        return items.stream().filter(item -> item.program == null || item.program.equals(own)).toList();
    }

    public List<Item> items() {
        return items;
    }

    public List<SettingsText.Problem> problems() {
        return problems;
    }

    List<Object> all() {
        return all;
    }

    private void add(SettingParts.Part part) {
        String rule = part.rule();
        int equals = equals(rule);
        if (equals < 0) {
            addProblem(part, "missing `=` in `" + SettingsText.oneLine(part.text()) + "`", NO_EQUALS);
            return;
        }
        try {
            Selector selector = Selector.parse(SettingParts.trim(rule.substring(0, equals)));
            Item item = new Item(part.program(), selector, SiteSetting.parse(SettingParts.trim(rule.substring(equals + 1))));
            if (item.selector.isByArguments() && item.setting.isOfCalls()) {
                addProblem(part, BY_ARGUMENT + " in `" + SettingsText.oneLine(part.text()) + "`", BY_ARGUMENT_HELP);
                return;
            }
            items.add(item);
            all.add(item);
        } catch (SelectorException e) {
            addProblem(part, e.getMessage() + " of the selector in `" + SettingsText.oneLine(part.text()) + "`", e.help());
        } catch (SiteSetting.BadWord e) {
            String[] problem = e.problem();
            if (problem != null) {
                addProblem(part, problem[0], problem[1]);
                return;
            }
            String word = e.word().isEmpty() ? SettingsText.oneLine(part.text()) : e.word();
            addProblem(part, "unknown word `" + word + "`", BAD_WORD);
        }
    }

    /**
     * The first {@code =} that is neither between quotation marks nor a part of a comparison; else
     * -1.
     */
    private static int equals(String rule) {
        int at = 0;
        while (at < rule.length()) {
            char first = rule.charAt(at);
            boolean isComparison = "=!<>".indexOf(first) >= 0 && rule.startsWith("=", at + 1);
            if (first == '=' && !isComparison) {
                return at;
            }
            at = isComparison ? at + 2 : Math.max(at + 1, WrittenName.quotedEnd(rule, at));
        }
        return -1;
    }

    private void addProblem(SettingParts.Part part, String what, String help) {
        String where = part.line() > 1 ? "line " + part.line() + ": " : "";
        SettingsText.Problem problem = new SettingsText.Problem(where + what, "line " + part.line() + ": invalid rule of a site", help);
        problems.add(problem);
        all.add(problem);
    }
}
