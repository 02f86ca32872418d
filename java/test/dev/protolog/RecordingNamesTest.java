package dev.protolog;

import static dev.protolog.SelfTest.check;

import dev.protolog.internal.process.RunningProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * A directory in which somebody else has taken all names that recordings of this program would
 * have.
 */
final class RecordingNamesTest {
    private static final int TAKEN = 100;

    private RecordingNamesTest() {}

    static void run() throws IOException {
        // The program is called the same when it was replaced while it runs.
        check("a name", RunningProgram.nameOf("/opt/app/bin/server"), "server");
        check("a name after an upgrade", RunningProgram.nameOf("/opt/app/bin/server (deleted)"), "server");
        check("an odd directory", RunningProgram.nameOf("/opt/app (deleted)/java"), "java");
        Path directory = Files.createTempDirectory("protolog-names");
        try {
            String first = recording(directory);
            String prefix = first.substring(0, first.length() - "0.rec".length());
            check("the first recording", first, prefix + "0.rec");
            Files.deleteIfExists(directory.resolve(first));
            for (int number = 0; number < TAKEN; number++) {
                Files.createSymbolicLink(directory.resolve(prefix + number + ".rec"), Path.of("nowhere"));
            }
            // Who looks for recordings knows this form.
            String last = recording(directory);
            check(last, last.startsWith(prefix) && last.substring(prefix.length()).matches("[0-9]+\\.rec"), true);
            check("a number that nobody knows: " + last, last.length() > first.length() + 4, true);
        } finally {
            try (Stream<Path> files = Files.walk(directory)) {
                files.sorted((one, other) -> other.compareTo(one)).forEach(path -> path.toFile().delete());
            }
        }
    }

    /** The name of a recording that is made there. */
    private static String recording(Path directory) throws IOException {
        try (Session session = Session.builder().bufferBytes(256 << 10).recordTo(directory).start()) {
            String name = session.recording().getFileName().toString();
            session.stop();
            return name;
        }
    }
}
