package dev.protolog.internal.control;

import dev.protolog.internal.files.FileStatus;
import dev.protolog.internal.files.Location;
import dev.protolog.internal.files.OpenDirectory;
import dev.protolog.internal.files.OutputRules;
import dev.protolog.internal.files.PatientOpening;
import dev.protolog.internal.groups.GroupSettings;
import dev.protolog.internal.groups.Groups;
import dev.protolog.internal.groups.SettingsText;
import dev.protolog.internal.process.RunningProgram;
import dev.protolog.internal.rules.Rule;
import dev.protolog.internal.rules.SessionSetting;
import dev.protolog.internal.rules.SiteRules;
import dev.protolog.internal.session.SessionLimits;
import dev.protolog.internal.write.Routing;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Settings from the variable and from files, for this program.
 *
 * <p>Invariants: an error quotes a file only if the file belongs to the user of the process; an
 * entry that is no file is not opened, since a pipe would wait for its writer. The state file's
 * path comes from the environment, which may be that of another user, as in {@code sudo -E}: that
 * user neither switches the program, nor is told by its errors what is in a file of its user.
 */
public final class SettingsFile {
    private static final int MAX_SIZE = 1 << 20;

    private SettingsFile() {}

    /**
     * Applies the settings of a file that the program names, if there is one. Returns the problems,
     * each with a help line.
     */
    public static List<String> apply(Path path, GroupSettings.Source source) {
        return applyRead(path, source, SettingsFile::readNamed);
    }

    /**
     * Applies those of the state file, if there is one. Returns the problems, each with a help
     * line.
     */
    public static List<String> applyState(Path path) {
        return applyRead(path, GroupSettings.Source.OTHER, SettingsFile::readTrusted);
    }

    /**
     * Applies the settings in a text from {@code origin}. Returns the problems, each with a help
     * line.
     */
    public static List<String> apply(String text, String origin, GroupSettings.Source source, boolean mayQuote) {
        SettingsText read = SettingsText.parse(text);
        List<GroupSettings.Entry> entries = new ArrayList<>();
        for (SettingsText.Item item : read.forThisProgram()) {
            entries.add(new GroupSettings.Entry(item.pattern(), item.setting(), source));
        }
        SiteRules rules = SiteRules.parse(text);
        List<Rule> forCalls = rules.forThisProgram().stream().map(item -> Rule.of(item, source).ofStart()).toList();
        if (source == GroupSettings.Source.CONFIG_FILE) {
            Groups.replaceConfigFile(entries);
            Routing.replaceConfigFile(forCalls);
        } else {
            Groups.apply(entries);
            Routing.apply(forCalls);
        }
        SessionSetting.Read ofSessions = SessionSetting.parse(text);
        SessionLimits.apply(ofSessions.forThisProgram(), source);
        List<String> problems = new ArrayList<>();
        List<SettingsText.Problem> all = new ArrayList<>(read.problems());
        all.addAll(rules.problems());
        all.addAll(ofSessions.problems());
        for (SettingsText.Problem problem : all) {
            problems.add(origin + ": " + (mayQuote ? problem.message() : problem.unquoted()) + "\nhelp: " + problem.help());
        }
        return problems;
    }

    /** The text of a file. */
    private record Contents(String text, boolean mayQuote) {}

    /** A way to read a file. */
    private interface Reading {
        Contents of(Path path) throws IOException;
    }

    private static List<String> applyRead(Path path, GroupSettings.Source source, Reading reading) {
        Contents read;
        try {
            read = reading.of(path);
        } catch (NoSuchFileException e) {
            read = new Contents("", true);
        } catch (IOException e) {
            return List.of("can't read `" + path + "`: " + SocketPlace.reason(e) + "\nhelp: make it a readable file");
        }
        return apply(read.text(), path.toString(), source, read.mayQuote());
    }

    private static Contents readNamed(Path path) throws IOException {
        if (!Files.isRegularFile(path)) {
            if (Files.exists(path)) {
                throw new FileSystemException(path.toString(), null, "it is no file");
            }
            throw new NoSuchFileException(path.toString());
        }
        boolean mayQuote = Files.getAttribute(path, "unix:uid").equals(RunningProgram.user());
        // By now it may be a pipe.
        try (InputStream in = PatientOpening.regular(path)) {
            return new Contents(text(in), mayQuote);
        }
    }

    /**
     * A file of this user or of root, in a directory of theirs, which no link leads to, nor one of
     * another user's to its directory.
     */
    private static Contents readTrusted(Path path) throws IOException {
        Location place = Location.of(path);
        try (OpenDirectory directory = OpenDirectory.of(place)) {
            FileStatus found = directory.status(place.name());
            if (found == null) {
                throw new NoSuchFileException(path.toString());
            }
            OutputRules.checkToRead(place, directory, found);
            try (InputStream in = directory.reader(place.name(), found.key())) {
                return new Contents(text(in), found.owner() == RunningProgram.user());
            }
        }
    }

    private static String text(InputStream in) throws IOException {
        try {
            byte[] bytes = in.readNBytes(MAX_SIZE + 1);
            if (bytes.length > MAX_SIZE) {
                throw new IOException("File too large");
            }
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException e) {
            throw new IOException("stream did not contain valid UTF-8");
        }
    }
}
