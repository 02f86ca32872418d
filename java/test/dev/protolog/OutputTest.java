package dev.protolog;

import static dev.protolog.SelfTest.check;

import dev.protolog.internal.process.RunningProgram;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

/**
 * Outputs, by a table: {@code outputs.tsv} has what is at the path and, for each way to write a
 * file, the outcome. A file that is refused stays as it was.
 */
final class OutputTest {
    private static final String[] WAYS = {"stream", "keep", "snapshot", "text", "record"};
    private static final String BEFORE = "precious\n";
    /** Nobody, on most systems. */
    private static final int OTHER_USER = 65534;

    /** The folder of a trial. What is tried is {@code folder/file}. */
    private final Path folder;
    private final Path file;
    /** The file that a link leads to, or what is at the path. */
    private Path precious;
    private final List<AutoCloseable> used = new ArrayList<>();
    private Reader reader;

    /** A group that is not printed. */
    private enum Log implements IProtoLogGroup {
        QUIET;

        @Override
        public String getTag() {
            return "Quiet";
        }

        @Override
        public boolean isLogToLogcat() {
            return false;
        }
    }

    private OutputTest(Path folder) {
        this.folder = folder;
        file = folder.resolve("file");
    }

    static void run(Path vectors) throws Exception {
        boolean isRoot = RunningProgram.user() == 0;
        Path all = Files.createTempDirectory("protolog-outputs");
        // At once, since some wait for the reader of a pipe.
        ExecutorService threads = Executors.newCachedThreadPool();
        try {
            String header = "there\t" + String.join("\t", WAYS) + "\treason";
            List<Callable<Void>> trials = new ArrayList<>();
            for (String[] row : SelfTest.rows(vectors.resolve("outputs.tsv"), header)) {
                for (int i = 0; i < WAYS.length && (isRoot || !row[0].contains("another user")); i++) {
                    Path folder = Files.createDirectory(all.resolve(row[0].replace(' ', '-') + "-" + WAYS[i]));
                    String way = WAYS[i];
                    String expected = row[i + 1];
                    trials.add(() -> {
                        new OutputTest(folder).tryOne(row[0], way, expected, row[WAYS.length + 1]);
                        return null;
                    });
                }
            }
            for (Future<Void> each : threads.invokeAll(trials)) {
                each.get();
            }
        } finally {
            threads.shutdown();
            try (Stream<Path> files = Files.walk(all)) {
                files.sorted((one, other) -> other.compareTo(one)).forEach(path -> path.toFile().delete());
            }
        }
    }

    private void tryOne(String there, String way, String expected, String reason) throws Exception {
        String what = way + " where there is " + there;
        Path path = prepare(there);
        String outcome;
        try {
            outcome = write(way, path);
            if (outcome == null) {
                outcome = outcome(path, there.equals("nothing"));
            }
        } catch (IOException e) {
            outcome = "refused";
            check(what + " is refused since " + e.getMessage(), e.getMessage().contains(reason), true);
        } finally {
            for (AutoCloseable each : used) {
                each.close();
            }
        }
        check(what, outcome, expected);
        if (expected.equals("refused") && precious != null) {
            check(what + " stays", Files.readString(precious), BEFORE);
        }
    }

    /** Puts something at the path that is tried, which is returned. */
    private Path prepare(String there) throws Exception {
        switch (there) {
            case "nothing" -> { }
            case "an empty file" -> Files.createFile(file);
            case "a file" -> precious = Files.writeString(file, BEFORE);
            case "a missing directory" -> {
                return folder.resolve("none/file");
            }
            case "a link to a file" -> link(precious());
            case "a link to nothing" -> link(folder.resolve("none"));
            case "a link to a device" -> link(Path.of("/dev/null"));
            case "a directory" -> Files.createDirectory(file);
            case "a socket" -> used.add(ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(file)));
            case "a pipe with a reader" -> {
                pipe();
                reader = new Reader(file);
            }
            case "a pipe without a reader" -> pipe();
            case "a device" -> {
                return Path.of("/dev/null");
            }
            case "a file of another user" -> {
                precious = Files.writeString(file, BEFORE);
                giveAway();
            }
            case "a pipe of another user" -> {
                pipe();
                giveAway();
            }
            case "a link of another user" -> {
                share();
                link(precious());
                giveAway();
            }
            case "a file with two names" -> Files.createLink(file, precious());
            case "a directory by way of a link" -> {
                return Files.createSymbolicLink(folder.resolve("way"), Files.createDirectory(folder.resolve("other"))).resolve("file");
            }
            case "a directory by way of a link of another user" -> {
                share();
                link(Files.createDirectory(folder.resolve("other")));
                giveAway();
                return file.resolve("file");
            }
            case "the file of a stream" -> used.add(builder().file(file).start());
            case "the file of a session that keeps" -> used.add(builder().file(file).keepFirst().start());
            case "the file of a text sink" -> used.add(RotatingFile.open(file, 1000, 1));
            case "a recording in use" -> used.add(builder().recordTo(file).start());
            default -> throw new AssertionError(there);
        }
        return file;
    }

    private static Session.Builder builder() {
        return Session.builder().bufferBytes(256 << 10).enableAll();
    }

    /** Writes a message, and returns the outcome if that is not told by the file. */
    private String write(String way, Path path) throws IOException {
        switch (way) {
            case "stream" -> stop(builder().file(path).truncate().start());
            case "keep" -> stop(builder().file(path).truncate().keepNewest().start());
            case "snapshot" -> {
                try (Session session = builder().keepNewest().start()) {
                    ProtoLog.i(Log.QUIET, "a message");
                    session.snapshot(path);
                }
            }
            case "text" -> {
                try (RotatingFile text = RotatingFile.open(path, 1 << 20, 1)) {
                    text.show(new TextLine(LogLevel.INFO, "Net", "a message"));
                    IOException problem = text.problem();
                    if (problem != null) {
                        throw problem;
                    }
                }
            }
            default -> {
                boolean isDirectory = Files.isDirectory(path);
                Path recording = stop(builder().recordTo(path).start());
                return isDirectory && recording.getParent().equals(path) ? "beside" : null;
            }
        }
        return null;
    }

    private static Path stop(Session session) throws IOException {
        try (session) {
            ProtoLog.i(Log.QUIET, "a message");
            session.stop();
        }
        return session.recording();
    }

    private String outcome(Path path, boolean isNew) throws Exception {
        if (reader != null) {
            return reader.bytes().length > 0 ? "passed" : "nothing was passed";
        } else if (!path.startsWith(folder)) {
            return "passed";
        }
        String mode = PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
        String contents = Files.readString(path, StandardCharsets.ISO_8859_1);
        Path old = path.resolveSibling("file.old");
        if (contents.isEmpty() || isNew && !mode.equals("rw-------")) {
            return "a file of mode " + mode + " with " + contents.length() + " bytes";
        } else if (contents.startsWith(BEFORE)) {
            return "appended";
        } else if (precious != null && Files.exists(old)) {
            return Files.readString(old).equals(BEFORE) ? "moved" : "moved something else";
        }
        return precious == null ? "written" : "replaced";
    }

    private Path precious() throws IOException {
        precious = Files.writeString(folder.resolve("precious"), BEFORE);
        return precious;
    }

    private void link(Path target) throws IOException {
        Files.createSymbolicLink(file, target);
    }

    private void pipe() throws Exception {
        check("mkfifo", new ProcessBuilder("mkfifo", file.toString()).inheritIO().start().waitFor(), 0);
    }

    private void giveAway() throws IOException {
        Files.setAttribute(file, "unix:uid", OTHER_USER, LinkOption.NOFOLLOW_LINKS);
    }

    private void share() throws IOException {
        Files.setAttribute(folder, "unix:mode", 01777);
    }

    /** Reads a pipe until the last writer has closed it. */
    private static final class Reader {
        private final ByteArrayOutputStream read = new ByteArrayOutputStream();
        private final Thread thread;

        Reader(Path pipe) throws InterruptedException {
            thread = new Thread(() -> {
                try (InputStream in = Files.newInputStream(pipe)) {
                    in.transferTo(read);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            thread.setDaemon(true);
            thread.start();
            // It waits in the kernel for a writer.
            while (Stream.of(thread.getStackTrace()).noneMatch(frame -> frame.isNativeMethod() && frame.getMethodName().startsWith("open"))) {
                Thread.onSpinWait();
            }
            Thread.sleep(10);
        }

        byte[] bytes() throws InterruptedException {
            thread.join();
            return read.toByteArray();
        }
    }
}
