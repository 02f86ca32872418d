package dev.protolog;

import static dev.protolog.SelfTest.check;

import dev.protolog.internal.text.MessageText;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** A locale whose digits are others: names of files and lines have those of ASCII. */
final class LocaleTest {
    private LocaleTest() {}

    static void run() throws Exception {
        Locale before = Locale.getDefault();
        Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));
        try {
            check("the locale has digits of its own", String.format("%d", 7).equals("7"), false);
            segments();
            Path lines = Files.createTempFile("protolog", ".log");
            try (RotatingFile file = RotatingFile.open(lines, 1 << 20, 2)) {
                file.show(new TextLine(LogLevel.INFO, "Net", "of locales"));
            }
            String text = Files.readString(lines);
            check("a line in ASCII: " + text, text.equals(new String(text.getBytes(StandardCharsets.US_ASCII), StandardCharsets.US_ASCII)), true);
            Files.delete(lines);
            check("an unknown message", MessageText.withoutTemplate(255, new Object[] {1L}), "#00000000000000ff (1)");
        } finally {
            Locale.setDefault(before);
        }
    }

    /** The segments of a run are found by the next one, which keeps two beside its last. */
    private static void segments() throws Exception {
        Path directory = Files.createTempDirectory("protolog");
        Path trace = directory.resolve("app.pftrace");
        for (int run = 0; run < 2; run++) {
            Session.Builder builder = Session.builder().file(trace).enableAll();
            Session session = builder.segmentBytes(64 << 10).keepSegments(2).start();
            for (int i = 0; i < 20_000; i++) {
                ProtoLog.v(LevelsTest.Group.QUIET, "message %d", i);
            }
            session.stop();
        }
        List<String> names;
        try (Stream<Path> files = Files.list(directory)) {
            names = files.map(file -> file.getFileName().toString()).filter(name -> name.endsWith(".pftrace")).sorted().toList();
        }
        check("segments that are kept: " + names, names.size(), 3);
        check("their names: " + names, names.stream().allMatch(name -> name.matches("app\\.[0-9]{4}\\.pftrace")), true);
        for (String name : names) {
            Files.delete(directory.resolve(name));
        }
        Files.delete(directory);
    }
}
