package dev.protolog.internal.files;

import static dev.protolog.SelfTest.check;

import dev.protolog.LogLevel;
import dev.protolog.RotatingFile;
import dev.protolog.Session;
import dev.protolog.StopException;
import dev.protolog.TextLine;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

/**
 * The replacements of an output's directory once it is open: a link, a pipe, a new directory, which
 * others may have made or not.
 */
public final class DirectoryTest {
    private static final String BEFORE = "precious\n";

    private final Path around;
    private final Path logs;
    /** Another directory, with a file of the same name. */
    private final Path other;

    private DirectoryTest(Path around) throws IOException {
        this.around = around;
        logs = Files.createDirectory(around.resolve("logs"));
        other = Files.createDirectory(around.resolve("other"));
        for (String name : List.of("app.log", "app.log.1", "kept.pftrace", "trace.0001.pftrace")) {
            Files.writeString(other.resolve(name), BEFORE);
        }
    }

    public static void run() throws Exception {
        closedMeanwhile();
        keptOnes();
        stoppedAgain();
        // What takes the directory's place, and whether it is used by a program whose directories
        // only it can change, and by others.
        for (String[] row : new String[][] {
            {"a link", "refused", "refused"},
            {"a pipe", "refused", "refused"},
            {"another directory", "used", "refused"},
            {"a new directory", "used", "refused"},
            {"nothing", "refused", "refused"},
            {"the same directory", "used", "used"},
        }) {
            for (boolean isShared : new boolean[] {false, true}) {
                Path around = Files.createTempDirectory("protolog-directory");
                Files.setAttribute(around, "unix:mode", isShared ? 0777 : 0755);
                try {
                    new DirectoryTest(around).tryOne(row[0], row[isShared ? 2 : 1]);
                } finally {
                    try (Stream<Path> files = Files.walk(around)) {
                        files.sorted((one, two) -> two.compareTo(one)).forEach(path -> path.toFile().delete());
                    }
                }
            }
        }
    }

    /**
     * A directory that is kept open is not looked for among all descriptors again, as long as its
     * path leads there.
     */
    private static void keptOnes() throws IOException {
        Path around = Files.createTempDirectory("protolog-kept");
        Path logs = Files.createDirectory(around.resolve("logs"));
        Location place = Location.of(logs.resolve("app.log"));
        OpenDirectory kept = OpenDirectory.keep(place);
        OpenDirectory used = OpenDirectory.of(place);
        check("the one that is kept", used.here(), kept.here());
        kept.close();
        kept.close();
        check("it stays while it is used", FileStatus.behind(used.here()).key(), place.directory());
        used.close();
        check("it is closed then", OpenFiles.anyWithKey(place.directory()), -1);
        try (OpenDirectory again = OpenDirectory.keep(place)) {
            Files.move(logs, around.resolve("moved"));
            Files.createDirectory(logs);
            try (OpenDirectory other = OpenDirectory.of(place)) {
                check("a new one is another one", other.here().equals(again.here()), false);
            }
        }
        for (String each : List.of("logs", "moved", ".")) {
            Files.delete(around.resolve(each).normalize());
        }
    }

    /**
     * A trace whose directory is gone when its session is stopped, and back when it is stopped
     * again: its recording, if there is one, stays for recovery.
     */
    private static void stoppedAgain() throws IOException {
        for (boolean isRecorded : new boolean[] {false, true}) {
            Path logs = Files.createTempDirectory("protolog-again");
            Session.Builder settings = builder().file(logs.resolve("a.pftrace"));
            Session session = isRecorded ? settings.record().start() : settings.keepNewest().start();
            Files.delete(logs);
            check("a stop without a directory", outcome(session), "refused");
            Files.createDirectory(logs);
            if (isRecorded) {
                try {
                    session.stop();
                    check("a stop after that", "used", "refused");
                } catch (StopException e) {
                    check("the same reason", e.getCause() instanceof NoSuchFileException, true);
                    check("its recording", Files.deleteIfExists(session.recording()), true);
                }
            } else {
                check("a stop after that", outcome(session), "used");
                Files.delete(logs.resolve("a.pftrace"));
            }
            Files.delete(logs);
        }
    }

    /** Descriptors that other threads close while they are looked at. */
    private static void closedMeanwhile() throws Exception {
        AtomicBoolean isOver = new AtomicBoolean();
        Thread other = new Thread(() -> {
            while (!isOver.get()) {
                try {
                    Files.newByteChannel(Path.of("/dev/null")).close();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        });
        other.start();
        try {
            int known = 0;
            for (int i = 0; i < 20_000; i++) {
                known += OpenFiles.position(i % 32) >= 0 ? 1 : 0;
            }
            check("some are open", known > 0, true);
        } finally {
            isOver.set(true);
            other.join();
        }
    }

    private void tryOne(String what, String expected) throws Exception {
        Session kept = builder().keepNewest().file(logs.resolve("kept.pftrace")).start();
        Session divided = builder().file(logs.resolve("trace.pftrace")).segmentBytes(1).keepSegments(1).start();
        try (RotatingFile text = RotatingFile.open(logs.resolve("app.log"), 1, 1)) {
            text.show(new TextLine(LogLevel.INFO, "Net", "before"));
            replace(what);
            text.show(new TextLine(LogLevel.INFO, "Net", "after"));
            check("text where there is " + what, text.problem() == null ? "used" : "refused", expected);
        }
        check("a kept trace where there is " + what, outcome(kept), expected);
        stop(divided);
        if (what.equals("another directory") && expected.equals("used")) {
            return;
        }
        Path there = Files.exists(other) ? other : logs;
        if (!what.equals("a new directory") && !what.equals("the same directory")) {
            try (Stream<Path> files = Files.list(there)) {
                check("files where there is " + what, files.count(), 4L);
            }
            check("a file where there is " + what, Files.readString(there.resolve("app.log")), BEFORE);
        }
    }

    private static Session.Builder builder() {
        return Session.builder().bufferBytes(256 << 10);
    }

    private static String outcome(Session session) {
        try {
            session.stop();
            return "used";
        } catch (IOException e) {
            return "refused";
        }
    }

    private static void stop(Session session) {
        try {
            session.stop();
        } catch (IOException e) {
            // Its directory is another one.
        }
    }

    private void replace(String what) throws Exception {
        if (what.equals("the same directory")) {
            return;
        }
        Files.move(logs, around.resolve("moved"));
        switch (what) {
            case "a link" -> Files.createSymbolicLink(logs, other);
            case "a pipe" -> check("mkfifo", new ProcessBuilder("mkfifo", logs.toString()).inheritIO().start().waitFor(), 0);
            case "another directory" -> Files.move(other, logs);
            case "a new directory" -> Files.createDirectory(logs);
            default -> { }
        }
    }
}
