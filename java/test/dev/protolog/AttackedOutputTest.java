package dev.protolog;

import static dev.protolog.SelfTest.check;

import dev.protolog.internal.process.RunningProgram;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

/**
 * Somebody who replaces what is at a path of a directory that everybody may write to, as fast as
 * possible, while the program writes there: no private file changes, and no pipe of another user
 * gets anything. Root takes the part of the other user, who could do less.
 */
final class AttackedOutputTest {
    private static final String SECRET = "private\n";
    private static final int OTHER_USER = 65534;
    /** The most openings of each kind. */
    private static final int OPENINGS = 150;

    private final Path shared;
    private final Path file;
    private final Path secret;
    private final Path absent;
    private final Path pipe;
    private int opened;

    private AttackedOutputTest(Path directory) throws IOException {
        Path home = Files.createDirectory(directory.resolve("home"));
        shared = Files.createDirectory(directory.resolve("shared"));
        Files.setAttribute(shared, "unix:mode", 01777);
        file = shared.resolve("app.log");
        secret = Files.writeString(home.resolve("secret"), SECRET);
        absent = home.resolve("absent");
        pipe = home.resolve("pipe");
    }

    static void run() throws Exception {
        Path directory = Files.createTempDirectory("protolog-attack");
        try {
            new AttackedOutputTest(directory).attack();
        } finally {
            try (Stream<Path> files = Files.walk(directory)) {
                files.sorted((one, other) -> other.compareTo(one)).forEach(path -> path.toFile().delete());
            }
        }
    }

    /** A way to open the file, write and close it. */
    private interface Use {
        void run() throws IOException;
    }

    @SuppressWarnings("try")
    private void attack() throws Exception {
        boolean isRoot = RunningProgram.user() == 0;
        check("mkfifo", new ProcessBuilder("mkfifo", pipe.toString()).inheritIO().start().waitFor(), 0);
        AtomicBoolean isOver = new AtomicBoolean();
        Thread attacker = new Thread(() -> {
            for (int i = 0; !isOver.get(); i++) {
                replace(i, isRoot);
            }
        });
        // The other user's end of the pipe.
        try (RandomAccessFile both = new RandomAccessFile(pipe.toFile(), "rw"); FileInputStream got = new FileInputStream(pipe.toFile())) {
            if (isRoot) {
                Files.setAttribute(pipe, "unix:uid", OTHER_USER);
            }
            attacker.start();
            try {
                use(() -> {
                    try (RotatingFile text = RotatingFile.open(file, 1 << 20, 1)) {
                        opened++;
                        text.show(new TextLine(LogLevel.INFO, "Net", "a line"));
                    }
                });
                use(() -> stop(builder().file(file).start()));
                use(() -> stop(builder().file(file).keepNewest().start()));
                use(() -> stop(builder().recordTo(file).start()));
            } finally {
                isOver.set(true);
                attacker.join();
            }
            check("bytes in the pipe", got.available(), 0);
        }
        check("the private file", Files.readString(secret), SECRET);
        check("a file behind a link", Files.exists(absent), false);
        // Else nothing was tried.
        check("openings", opened > 0, true);
    }

    private static Session.Builder builder() {
        return Session.builder().bufferBytes(256 << 10);
    }

    private void stop(Session session) throws IOException {
        opened++;
        try {
            session.stop();
        } catch (IOException e) {
            // It stays for whoever recovers the trace, in memory that outlives the tests.
            if (session.recording() != null) {
                Files.deleteIfExists(session.recording());
            }
            throw e;
        }
    }

    private void use(Use use) {
        for (int i = 0; i < OPENINGS; i++) {
            try {
                use.run();
            } catch (IOException e) {
                // Refused.
            }
        }
    }

    /** Puts something else at the path. */
    private void replace(int turn, boolean isRoot) {
        Path made = shared.resolve("made");
        try {
            switch (turn % 5) {
                case 0 -> Files.createSymbolicLink(made, secret);
                case 1 -> Files.createSymbolicLink(made, absent);
                case 2 -> Files.createLink(made, secret);
                case 3 -> Files.createLink(made, isRoot ? pipe : secret);
                default -> {
                    Files.deleteIfExists(file);
                    return;
                }
            }
            if (isRoot && turn % 5 < 2) {
                Files.setAttribute(made, "unix:uid", OTHER_USER, LinkOption.NOFOLLOW_LINKS);
            }
            Files.move(made, file, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            // The program was faster. A link over another one of the same file leaves both.
            made.toFile().delete();
        }
    }
}
