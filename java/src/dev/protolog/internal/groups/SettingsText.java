package dev.protolog.internal.groups;

import dev.protolog.LogLevel;
import dev.protolog.internal.process.RunningProgram;
import dev.protolog.internal.text.LevelSet;
import dev.protolog.internal.text.WrittenName;
import java.util.ArrayList;
import java.util.List;

/**
 * The syntax of settings, in the variable {@code PROTOLOG}, in files and in the request
 * {@code set}. It is that of {@code protolog-core/src/control/setting.rs};
 * {@code protolog-core/testdata/settings.tsv} has vectors for both.
 *
 * <p>Invariant: a part that is wrong is a problem, and keeps no other from being read.
 */
public final class SettingsText {
    private static final String WORDS =
            "use verbose, debug, info, warn, error, wtf, off, text, text:LEVEL, notext or notrace, with commas between";

    private final List<Item> items = new ArrayList<>();
    private final List<Problem> problems = new ArrayList<>();
    /** Items and problems, as they come. */
    private final List<Object> all = new ArrayList<>();

    /**
     * A setting of the groups that {@code pattern} names, in one program, or in all if
     * {@code program} is null.
     */
    public record Item(String program, String pattern, Setting setting) {
        @Override
        public String toString() {
            return (program == null ? "" : "[" + program + "] ") + pattern + "=" + setting;
        }
    }

    /** The ways in which a setting can be wrong: in words with the text, and without. */
    private enum Kind {
        NO_EQUALS("missing `=` in", "missing `=`",
                "write GROUP=WORDS, as in `net=debug,text`, or a level for all groups, as in `debug`"),
        COMMA("`,` between settings in", "`,` between settings", "write `;` between settings, as in `info;net=debug,text`"),
        BAD_GROUP("invalid group name", "invalid group name",
                "write the name of a group, as in `app::AppLog::Net` or `net`, one with other characters as in `\"my logger\"`, or `*` for all"),
        BAD_WORD("unknown word", "unknown word", WORDS),
        NO_WORD("missing level or keyword in", "missing level or keyword", WORDS),
        BAD_PROGRAM("invalid program name", "invalid program name", "write the name of a program between brackets, as in `[indexer]`");

        final String before;
        final String unquoted;
        final String help;

        Kind(String before, String unquoted, String help) {
            this.before = before;
            this.unquoted = unquoted;
            this.help = help;
        }
    }

    /**
     * A part that is wrong. {@code message} quotes it; {@code unquoted} is for readers who may not
     * know the file.
     */
    public record Problem(String message, String unquoted, String help) {
        @Override
        public String toString() {
            return message + " / " + help;
        }
    }

    /** The part of a setting that is wrong. */
    private static final class Wrong extends Exception {
        private static final long serialVersionUID = 1;

        final String text;
        final Kind kind;

        Wrong(String text, Kind kind) {
            super(text, null, false, false);
            this.text = text;
            this.kind = kind;
        }
    }

    public static SettingsText parse(String text) {
        SettingsText read = new SettingsText();
        for (SettingParts.Part part : SettingParts.of(text)) {
            if (part.rule() != null || part.ofSessions() != null) {
                // For single calls and sessions: `dev.protolog.internal.rules` has these.
                continue;
            }
            try {
                if (part.text().startsWith("[")) {
                    throw new Wrong(part.text(), Kind.BAD_PROGRAM);
                }
                read.add(item(part.program(), part.text()));
            } catch (Wrong wrong) {
                read.add(wrong, part.line());
            }
        }
        return read;
    }

    public List<Item> items() {
        return items;
    }

    /** The settings that are for this program. */
    public List<Item> forThisProgram() {
        String own = RunningProgram.name();
        return items.stream().filter(item -> item.program() == null || item.program().equals(own)).toList();
    }

    public List<Problem> problems() {
        return problems;
    }

    List<Object> all() {
        return all;
    }

    /** A text with each control character, line ends included, as a question mark. */
    public static String oneLine(String text) {
        StringBuilder line = new StringBuilder(text);
        for (int i = 0; i < line.length(); i++) {
            if (Character.isISOControl(line.charAt(i))) {
                line.setCharAt(i, '?');
            }
        }
        return line.toString();
    }

    private void add(Item item) {
        items.add(item);
        all.add(item);
    }

    private void add(Wrong wrong, int line) {
        String where = line > 1 ? "line " + line + ": " : "";
        String message = where + wrong.kind.before + " `" + oneLine(wrong.text) + "`";
        Problem problem = new Problem(message, "line " + line + ": " + wrong.kind.unquoted, wrong.kind.help);
        problems.add(problem);
        all.add(problem);
    }

    /** {@code GROUP=WORD,WORD}, or {@code WORD,WORD} for all groups. */
    private static Item item(String program, String text) throws Wrong {
        int equals = text.indexOf('=', WrittenName.quotedEnd(text, 0));
        String group = equals < 0 ? "*" : SettingParts.trim(text.substring(0, equals));
        String words = SettingParts.trim(text.substring(equals + 1));
        if (equals < 0 && !isWord(text.split(",", -1)[0])) {
            throw new Wrong(text, Kind.NO_EQUALS);
        }
        if (group.contains(",") && !WrittenName.isQuoted(group) || words.contains("=")) {
            throw new Wrong(text, Kind.COMMA);
        }
        if (!isGroup(group)) {
            throw new Wrong(group.isEmpty() ? text : group, Kind.BAD_GROUP);
        }
        return new Item(program, group, setting(text, words));
    }

    private static Setting setting(String text, String words) throws Wrong {
        Integer trace = null;
        Integer own = null;
        boolean prints = false;
        boolean isOff = false;
        for (String each : words.split(",", -1)) {
            String word = SettingParts.trim(each);
            int colon = word.indexOf(':');
            String name = colon < 0 ? word : SettingParts.trim(word.substring(0, colon));
            boolean isText = is(name, "text");
            if (word.isEmpty()) {
                throw new Wrong(text, Kind.NO_WORD);
            } else if (colon >= 0 && isText) {
                own = level(SettingParts.trim(word.substring(colon + 1)));
            } else if (colon >= 0) {
                throw new Wrong(word, Kind.BAD_WORD);
            } else if (isText) {
                prints = true;
            } else if (is(name, "notext")) {
                own = 0;
            } else if (is(name, "off") || is(name, "notrace")) {
                trace = 0;
                isOff |= is(name, "off");
            } else {
                trace = level(word);
            }
        }
        // Without a level, those that are traced are printed, or all if the setting says nothing of
        // tracing.
        int printed = trace == null || trace == 0 ? LevelSet.ALL : trace;
        if (own == null && prints) {
            own = printed;
        }
        return new Setting(trace, own == null && isOff ? Integer.valueOf(0) : own);
    }

    private static boolean isWord(String text) {
        try {
            setting(text, text);
            return true;
        } catch (Wrong wrong) {
            return false;
        }
    }

    private static boolean isGroup(String text) {
        return text.equals("*") || WrittenName.isPlain(text) || WrittenName.isQuoted(text);
    }

    /** True if {@code word} is this one, in any case. */
    private static boolean is(String word, String name) {
        return word.equalsIgnoreCase(name) && word.chars().allMatch(it -> it < 0x80);
    }

    private static int level(String word) throws Wrong {
        for (LogLevel level : LogLevel.values()) {
            if (is(word, level.name()) || is(word, LevelSet.letter(level))) {
                return LevelSet.andAbove(level);
            }
        }
        throw new Wrong(word, Kind.BAD_WORD);
    }
}
