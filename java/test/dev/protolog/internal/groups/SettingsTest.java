package dev.protolog.internal.groups;

import static dev.protolog.SelfTest.check;

import dev.protolog.LevelsTest;
import dev.protolog.LogLevel;
import dev.protolog.SelfTest;
import dev.protolog.internal.control.SettingsFile;
import dev.protolog.internal.process.RunningProgram;
import dev.protolog.internal.text.LevelSet;
import dev.protolog.internal.text.WrittenName;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Settings from outside, by the vectors that Rust has, too; and the switches that they are for. */
public final class SettingsTest {
    private static final int OTHER_USER = 65534;

    private SettingsTest() {}

    public static void run(Path vectors) throws IOException {
        for (String[] row : SelfTest.rows(vectors.resolve("settings.tsv"), "settings\tread")) {
            List<Object> read = SettingsText.parse(row[0]).all();
            check(row[0], read.stream().map(Object::toString).collect(Collectors.joining(" | ")), row[1]);
        }
        for (String[] row : SelfTest.rows(vectors.resolve("patterns.tsv"), "pattern\tgroup\tnames it by")) {
            check(row[0] + " in " + row[1], kind(GroupPattern.closeness(row[0], row[1])), row[2]);
        }
        for (String[] row : SelfTest.rows(vectors.resolve("filters.tsv"), "names\tgroup\tlevel")) {
            check(row[0] + " for " + row[1], filter(row[0]).levels(row[1]), LevelSet.andAbove(LogLevel.valueOf(row[2])));
        }
        names(vectors.resolve("names.tsv"));
        for (String[] row : SelfTest.rows(vectors.resolve("switches.tsv"), "word\tchange\tlevels\tchanged")) {
            switched(row[0], row[1], row[2], row[3]);
        }
        switches();
        sources();
        misspelled(vectors.resolve("misspelled.tsv"));
        stateFile();
    }

    private static Filter filter(String names) {
        Map<String, Integer> levels = new LinkedHashMap<>();
        for (String one : names.isEmpty() ? new String[0] : names.split(" ")) {
            String[] parts = one.split("=");
            levels.put(parts[0], LevelSet.andAbove(LogLevel.valueOf(parts[1])));
        }
        return new Filter(LevelSet.andAbove(LogLevel.INFO), levels, List.of());
    }

    private static String kind(int closeness) {
        return switch (closeness) {
            case GroupPattern.NONE -> "no";
            case GroupPattern.ALL -> "all";
            case GroupPattern.END -> "end";
            case GroupPattern.WHOLE -> "whole";
            default -> "beginning";
        };
    }

    /** Names, and the forms in which they are written. Cells have bytes as numbers behind `%`. */
    private static void names(Path vectors) throws IOException {
        List<String> lines = Files.readAllLines(vectors);
        check("vectors of names", lines.size() > 20, true);
        for (String line : lines.subList(1, lines.size())) {
            String[] row = Stream.of(line.split("\t", -1)).map(it -> URLDecoder.decode(it.replace("+", "%2B"), StandardCharsets.UTF_8)).toArray(String[]::new);
            check(line, WrittenName.of(row[0]), row[1]);
            check(line, WrittenName.word(row[0]), row[2]);
            for (String written : List.of(row).subList(1, row.length)) {
                check(line + ": " + written, WrittenName.read(written), row[0]);
            }
        }
        check("halves of characters", WrittenName.of("a\ud83e#\udd80"), "\"a?#?\"");
        Levels levels = Levels.parse("warn, \"a, b=c\"=debug ,X=off");
        check("a level of a name in quotation marks", levels.printed("a, b=c", false), LevelSet.andAbove(LogLevel.DEBUG));
        check("a level of the next name", levels.printed("X", true), 0);
        check("a level of others", levels.printed("Y", true), LevelSet.andAbove(LogLevel.WARN));
    }

    private static void switched(String word, String change, String levels, String changed) {
        SwitchPages.Place place = new SwitchPages().add();
        Switch.store(place.memory(), place.at(), Integer.parseUnsignedInt(word, 16));
        int set = Integer.parseInt(levels, 16);
        switch (change) {
            case "session" -> Switch.setSessionLevels(place.memory(), place.at(), set);
            case "allowed" -> Switch.setAllowedLevels(place.memory(), place.at(), set);
            default -> Switch.setTextLevels(place.memory(), place.at(), set);
        }
        String what = word + " with " + levels + " as levels of " + change;
        check(what, String.format("%08x", Switch.load(place.memory(), place.at())), changed);
    }

    private static void switches() {
        check("the first word", Switch.initial(0), 0x3f0000);
        check("a level of sessions", Switch.isEnabled(0x3c3f203c, LogLevel.INFO), true);
        check("a level of none", Switch.isEnabled(0x3c3f203c, LogLevel.DEBUG), false);
        check("a level of the text", Switch.isEnabled(0x3f2000, LogLevel.WTF), true);
    }

    private static void sources() {
        GroupState state = new GroupState(LevelsTest.Group.NET, GroupAnswers.of(LevelsTest.Group.NET), new SwitchPages().add());
        GroupSettings settings = new GroupSettings();
        List<GroupState> groups = List.of(state);
        int own = Switch.textLevels(state.word());
        settings.add(entries("NET=info,text:error", GroupSettings.Source.OTHER), groups);
        check("an operator's", Switch.textLevels(state.word()), LevelSet.andAbove(LogLevel.ERROR));
        settings.replaceConfigFile(entries("*=notext;net=warn", GroupSettings.Source.CONFIG_FILE), groups);
        check("the file's", Switch.textLevels(state.word()), 0);
        settings.replaceConfigFile(entries("net=warn", GroupSettings.Source.CONFIG_FILE), groups);
        check("the operator's again", Switch.textLevels(state.word()), LevelSet.andAbove(LogLevel.ERROR));
        GroupSettings others = new GroupSettings();
        GroupState other = new GroupState(LevelsTest.Group.NET, GroupAnswers.of(LevelsTest.Group.NET), new SwitchPages().add());
        others.replaceConfigFile(entries("net=off", GroupSettings.Source.CONFIG_FILE), List.of(other));
        others.replaceConfigFile(List.of(), List.of(other));
        check("the group's own", Switch.textLevels(other.word()), own);
        check("before it is called", others.wordBeforeRegistration("a.B.NET"), 0x3f0080);
        GroupSettings ordered = new GroupSettings();
        ordered.add(entries("NET=text;*=notext;NET=debug;NET=info", GroupSettings.Source.OTHER), List.of());
        check("before it is called, printed by no earlier setting", ordered.wordBeforeRegistration("a.B.NET"), 0x3c0080);
        check("before it is called, with settings", settings.wordBeforeRegistration("a.B.NET"), 0x303080 | 0x380000);
    }

    private static List<GroupSettings.Entry> entries(String text, GroupSettings.Source source) {
        return SettingsText.parse(text).items().stream()
                .map(item -> new GroupSettings.Entry(item.pattern(), item.setting(), source)).toList();
    }

    private static void misspelled(Path vectors) throws IOException {
        Set<String> known = Set.of("app::AppLog::Net", "app::AppLog::Disk", "com.foo.AppLog.UI", "my logger", "🦀🦀🦀");
        for (String[] row : SelfTest.rows(vectors, "name\tmeant")) {
            String meant = MisspelledGroups.meant(row[0], known);
            check(row[0], meant == null ? "" : meant, row[1]);
        }
    }

    /**
     * Of another user, who may have set the variables of the program's environment, nothing is
     * applied, and no file is quoted.
     */
    private static void stateFile() throws IOException {
        Path directory = Files.createTempDirectory("protolog-state").toRealPath();
        try {
            Path file = Files.writeString(directory.resolve("settings"), "secret!\n");
            String quoted = state(file);
            check("a mistake in a state file", quoted.contains("secret!") && quoted.startsWith(file + ": "), true);
            check("no state file", state(directory.resolve("none")), "");
            check("no directory of a state file", state(directory.resolve("none/settings")), "");
            Path others = Files.createDirectory(directory.resolve("others"));
            Path link = Files.createSymbolicLink(others.resolve("link"), file);
            refused(link, "it is a link to `" + file + "`");
            refused(others, "it is no file");
            if (RunningProgram.user() != 0) {
                return;
            }
            Files.createLink(others.resolve("settings"), file);
            Path lead = Files.createSymbolicLink(others.resolve("lead"), directory);
            for (Path path : List.of(others, lead)) {
                Files.setAttribute(path, "unix:uid", OTHER_USER, LinkOption.NOFOLLOW_LINKS);
            }
            refused(others.resolve("settings"), "its directory belongs to another user");
            refused(lead.resolve("settings"), "`" + lead + "`, on the way to it, is a link to `" + directory + "`");
            check("no state file of another user", state(others.resolve("none")), "");
            Files.setAttribute(file, "unix:uid", OTHER_USER);
            refused(file, "it belongs to another user");
        } finally {
            try (Stream<Path> files = Files.walk(directory)) {
                files.sorted((one, other) -> other.compareTo(one)).forEach(path -> path.toFile().delete());
            }
        }
    }

    private static String state(Path path) {
        return String.join("\n", SettingsFile.applyState(path));
    }

    private static void refused(Path path, String why) {
        check("a state file at " + path, state(path), "can't read `" + path + "`: " + why + "\nhelp: make it a readable file");
    }
}
