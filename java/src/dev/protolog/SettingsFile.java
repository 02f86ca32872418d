package dev.protolog;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Settings from the variable and from files, for this program.
 *
 * <p>Invariants: an error quotes a file only if the file belongs to the user of the process; what is no file is not opened, since a pipe
 * would wait for its writer.
 */
final class SettingsFile {
    private static final int MAX_SIZE = 1 << 20;

    private SettingsFile() {}

    /** Applies the settings of a file, if there is one. Returns the problems, each with a help line. */
    static List<String> apply(Path path, GroupSettings.Source source) {
        String text;
        boolean mayQuote;
        try {
            if (!Files.isRegularFile(path)) {
                if (Files.exists(path)) {
                    return List.of("can't read `" + path + "`: it is no file\nhelp: make it a readable file");
                }
                throw new NoSuchFileException(path.toString());
            }
            mayQuote = Files.getAttribute(path, "unix:uid").equals(RunningProgram.user());
            text = read(path);
        } catch (NoSuchFileException e) {
            text = "";
            mayQuote = true;
        } catch (IOException e) {
            return List.of("can't read `" + path + "`: " + SocketPlace.reason(e) + "\nhelp: make it a readable file");
        }
        return apply(text, path.toString(), source, mayQuote);
    }

    /** Applies the settings in a text from {@code origin}. Returns the problems, each with a help line. */
    static List<String> apply(String text, String origin, GroupSettings.Source source, boolean mayQuote) {
        SettingsText read = SettingsText.parse(text);
        List<GroupSettings.Entry> entries = new ArrayList<>();
        for (SettingsText.Item item : forThisProgram(read)) {
            entries.add(new GroupSettings.Entry(item.pattern(), item.setting(), source));
        }
        if (source == GroupSettings.Source.CONFIG_FILE) {
            Groups.replaceConfigFile(entries);
        } else {
            Groups.apply(entries);
        }
        List<String> problems = new ArrayList<>();
        for (SettingsText.Problem problem : read.problems()) {
            problems.add(origin + ": " + (mayQuote ? problem.message() : problem.unquoted()) + "\nhelp: " + problem.help());
        }
        return problems;
    }

    /** The settings that are for this program. */
    static List<SettingsText.Item> forThisProgram(SettingsText read) {
        String own = RunningProgram.name();
        return read.items().stream().filter(item -> item.program() == null || item.program().equals(own)).toList();
    }

    private static String read(Path path) throws IOException {
        try (InputStream in = Files.newInputStream(path)) {
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
