package dev.protolog.internal.control;

import static dev.protolog.SelfTest.check;

import dev.protolog.internal.files.FileStatus;
import dev.protolog.internal.files.OpenDirectory;
import dev.protolog.internal.files.PatientOpening;
import dev.protolog.internal.groups.GroupSettings;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * Somebody who puts a pipe that nobody writes in the place of a file, after the program has looked
 * at it: the program does not wait for that.
 */
public final class WaitingPipeTest {
    /** Long enough on a busy machine; a pipe without a writer is waited for for ever. */
    private static final long PATIENCE_MILLIS = 60_000;
    /** Openings by {@link PatientOpening} that fail; more than threads may be left behind. */
    private static final int OPENINGS = 8;
    private static final int MOST_LEFT = 4;

    private WaitingPipeTest() {}

    @SuppressWarnings("try")
    public static void run() throws Exception {
        Path directory = Files.createTempDirectory("protolog-pipes");
        Path pipe = directory.resolve("pipe");
        check("mkfifo", new ProcessBuilder("mkfifo", pipe.toString()).inheritIO().start().waitFor(), 0);
        try {
            inTime("files that become pipes", () -> opens(pipe, directory.resolve("app.conf")));
            check("threads that wait", left(), MOST_LEFT);
            keyed(directory);
        } finally {
            // They end with a writer.
            try (RandomAccessFile writer = new RandomAccessFile(pipe.toFile(), "rw")) {
                for (int i = 0; i < 1000 && left() > 0; i++) {
                    Thread.sleep(20);
                }
            }
            for (String name : new String[] {"pipe", "app.conf", "trace", "aside"}) {
                Files.deleteIfExists(directory.resolve(name));
            }
            Files.delete(directory);
        }
        check("threads that wait in the end", left(), 0);
        Path config = Files.createTempFile("protolog", ".conf");
        check("problems once they are gone", SettingsFile.apply(config, GroupSettings.Source.CONFIG_FILE).size(), 0);
        Files.delete(config);
    }

    private static void opens(Path pipe, Path config) throws Exception {
        for (int i = 0; i < OPENINGS; i++) {
            try {
                PatientOpening.open(pipe, () -> new FileInputStream(pipe.toFile())).close();
                throw new AssertionError("a pipe opens");
            } catch (FileSystemException e) {
                check("the reason", e.getReason().startsWith("it does not open"), true);
            }
        }
        // With that many left behind, a file is refused at once.
        Files.writeString(config, "net=debug\n");
        check("problems", SettingsFile.apply(config, GroupSettings.Source.CONFIG_FILE).size(), 1);
    }

    /** A file with another key is not read, whatever it is. */
    private static void keyed(Path directory) throws IOException {
        Path trace = Files.writeString(directory.resolve("trace"), "a trace");
        Object key = FileStatus.at(trace).key();
        Files.setAttribute(directory, "unix:mode", 0777);
        try (OpenDirectory open = OpenDirectory.open(directory)) {
            try (var in = open.reader("trace", key)) {
                check("the file", new String(in.readAllBytes()), "a trace");
            }
            Files.move(trace, directory.resolve("aside"), StandardCopyOption.ATOMIC_MOVE);
            Files.move(directory.resolve("pipe"), trace, StandardCopyOption.ATOMIC_MOVE);
            try {
                open.reader("trace", key).close();
                throw new AssertionError("a pipe is read");
            } catch (NoSuchFileException e) {
                check("the path", e.getFile(), trace.toString());
            }
            Files.move(trace, directory.resolve("pipe"), StandardCopyOption.ATOMIC_MOVE);
        }
    }

    private interface Work {
        void run() throws Exception;
    }

    private static void inTime(String what, Work work) throws Exception {
        Throwable[] failed = new Throwable[1];
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (Throwable e) {
                failed[0] = e;
            }
        });
        thread.setDaemon(true);
        thread.start();
        thread.join(PATIENCE_MILLIS);
        check(what + " keep the program", thread.isAlive(), false);
        if (failed[0] != null) {
            throw new AssertionError(what, failed[0]);
        }
    }

    private static int left() {
        return (int) Thread.getAllStackTraces().keySet().stream().filter(each -> each.getName().equals("protolog-open")).count();
    }
}
