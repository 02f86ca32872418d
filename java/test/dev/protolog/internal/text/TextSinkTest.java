package dev.protolog.internal.text;

import static dev.protolog.SelfTest.check;

import dev.protolog.Captured;
import dev.protolog.LevelsTest;
import dev.protolog.LogLevel;
import dev.protolog.ProtoLog;
import dev.protolog.RotatingFile;
import dev.protolog.Session;
import dev.protolog.SystemLogger;
import dev.protolog.TextLine;
import dev.protolog.internal.process.RunningProgram;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Sinks of printed messages: the form of lines, files that are rotated, the choice of the sink. */
public final class TextSinkTest {
    private static final String HEADER = "\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\\.\\d\\d\\d [ 0-9]{5,} [ 0-9]{5,} ";

    /** A user other than root. */
    private static final int OTHER_USER = 65534;

    private TextSinkTest() {}

    public static void run(Path vectors) throws IOException {
        controls(vectors);
        form();
        systemLogger();
        Path directory = Files.createTempDirectory("protolog-text");
        try {
            rotation(directory.resolve("app.log"));
            trouble(directory);
        } finally {
            try (Stream<Path> all = Files.walk(directory)) {
                all.sorted((one, other) -> other.compareTo(one)).forEach(path -> path.toFile().delete());
            }
        }
        choice();
    }

    private static void controls(Path vectors) throws IOException {
        Map<Integer, String> escapes = new HashMap<>();
        // Not unescaped: the escapes are what is tested.
        for (String line : Files.readAllLines(vectors.resolve("controls.tsv")).subList(1, 80)) {
            String[] row = line.split("\t");
            escapes.put(Integer.parseInt(row[0], 16), row[1]);
        }
        for (int code = 0; code <= Character.MAX_CODE_POINT; code++) {
            String text = Character.toString(code);
            String expected = code == '\t' ? text : escapes.getOrDefault(code, text);
            if (!Controls.escaped(code).equals(expected)) {
                check("U+" + Integer.toHexString(code), Controls.escaped(code), expected);
            }
        }
        check("a text", Controls.escaped("a\n\tb\u202e\u009b[31m"), "a\n\tb\\u{202e}\\u{9b}[31m");
        String printed = Captured.lines(() -> LogPrinter.print(LogLevel.INFO, "T\u001b", "a\u2028\n\u200f"));
        check("printed", printed, "INFO T\\u{1b}: a\\u{2028}\n\\u{200f}\n");
    }

    private static List<String> lines(LogLevel level, String tag, String text, boolean isColored) {
        List<String> lines = new ArrayList<>();
        ThreadtimeLines.print(new TextLine(level, tag, text), isColored, line -> lines.add(new String(line, StandardCharsets.UTF_8)));
        return lines;
    }

    private static void form() {
        String[][] rows = {
            {"plain", "D Net     : plain"},
            {"", "D Net     : "},
            {"two\nlines\n", "D Net     : two", "D Net     : lines"},
            {"\n\n", "D Net     : ", "D Net     : "},
            {"tab\tbell\u0007 return\r", "D Net     : tab\tbell\\u{7} return\\r"},
            {"größer 😀", "D Net     : größer 😀"},
        };
        for (String[] row : rows) {
            List<String> lines = lines(LogLevel.DEBUG, "Net", row[0], false);
            check(row[0], lines.size(), row.length - 1);
            for (int i = 1; i < row.length; i++) {
                String line = lines.get(i - 1);
                check("the header of " + line, line.replaceFirst(HEADER, ""), row[i] + "\n");
            }
        }
        check("a long tag", lines(LogLevel.WTF, "t".repeat(99), "x", false).get(0).replaceFirst(HEADER, ""), "F " + "t".repeat(64) + ": x\n");
        String colored = lines(LogLevel.ERROR, "Net", "x", true).get(0);
        check("colors", colored.startsWith("\033[31m") && colored.endsWith("E Net     : x\033[0m\n"), true);
        for (String text : new String[] {"x".repeat(9000), "é".repeat(9000), "x" + "é".repeat(9000), "😀".repeat(3000)}) {
            String line = lines(LogLevel.INFO, "Net", text, false).get(0);
            int size = line.getBytes(StandardCharsets.UTF_8).length;
            check("a line that is cut", line.endsWith("…\n") && size <= 4096 && size > 4088 && !line.contains("\ufffd"), true);
        }
    }

    private static void rotation(Path path) throws IOException {
        int length = lines(LogLevel.INFO, "Net", "message 00", false).get(0).length();
        try (RotatingFile file = RotatingFile.open(path, 3L * length, 2)) {
            for (int i = 10; i < 20; i++) {
                file.show(new TextLine(LogLevel.INFO, "Net", "message " + i));
            }
            check("no problem", file.problem() == null, true);
            check("the newest", texts(path), List.of("message 19"));
            check("older ones", texts(path.resolveSibling("app.log.1")), texts(16, 19));
            check("the oldest", texts(path.resolveSibling("app.log.2")), texts(13, 16));
            check("no more", Files.exists(path.resolveSibling("app.log.3")), false);
            check("the mode", PosixFilePermissions.toString(Files.getPosixFilePermissions(path)), "rw-------");
            check("a second one", refused(path).contains("another program or session writes it"), true);
            check("a session", refusedSession(path).contains("another program or session writes it"), true);
        }
        try (RotatingFile file = RotatingFile.open(path, 3L * length, 0)) {
            for (int i = 20; i < 23; i++) {
                file.show(new TextLine(LogLevel.INFO, "Net", "message " + i));
            }
            check("appended, then begun anew", texts(path), List.of("message 22"));
            check("none is kept", texts(path.resolveSibling("app.log.1")), texts(16, 19));
        }
        gone(path, length);
        foreign(path, length);
    }

    /** Older files of another user keep their names. */
    private static void foreign(Path path, int length) throws IOException {
        Path older = path.resolveSibling("app.log.1");
        Files.deleteIfExists(path.resolveSibling("app.log.2"));
        deleteAll(older);
        if (RunningProgram.user() != 0) {
            return;
        }
        Files.writeString(older, "of another user");
        Files.setAttribute(older, "unix:uid", OTHER_USER);
        try (RotatingFile file = RotatingFile.open(path, 3L * length, 2)) {
            for (int i = 10; i < 20; i++) {
                file.show(new TextLine(LogLevel.INFO, "Net", "message " + i));
            }
            check("no problem", file.problem() == null, true);
        }
        check("another user's file stays", Files.readString(older), "of another user");
        check("the next number has the older lines", texts(path.resolveSibling("app.log.2")), texts(16, 19));
        try (RotatingFile file = RotatingFile.open(path, 3L * length, 1)) {
            for (int i = 20; i < 24; i++) {
                file.show(new TextLine(LogLevel.INFO, "Net", "message " + i));
            }
            check("no name is left", file.problem().getMessage().contains("belong to other users"), true);
        }
        check("it grows", texts(path), texts(19, 24));
        check("and the file stays", Files.readString(older), "of another user");
        Files.delete(path);
    }

    private static void deleteAll(Path path) throws IOException {
        try (Stream<Path> all = Files.exists(path) ? Files.walk(path) : Stream.empty()) {
            for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(each);
            }
        }
    }

    /** A file that somebody else takes away, and a rotation that fails. */
    private static void gone(Path path, int length) throws IOException {
        Path older = path.resolveSibling("app.log.1");
        try (RotatingFile file = RotatingFile.open(path, 3L * length, 2)) {
            Files.delete(path);
            for (int i = 10; i < 12; i++) {
                file.show(new TextLine(LogLevel.INFO, "Net", "message " + i));
            }
            check("begun anew", texts(path), texts(10, 12));
            Files.move(path, path.resolveSibling("moved"));
            for (int i = 12; i < 15; i++) {
                file.show(new TextLine(LogLevel.INFO, "Net", "message " + i));
            }
            check("and again", texts(path), texts(12, 15));
            check("no problem", file.problem() == null, true);
            check("older ones stay", texts(older), texts(16, 19));
            check("the oldest stays", texts(path.resolveSibling("app.log.2")), texts(13, 16));
        }
        Files.delete(older);
        Files.createDirectories(older.resolve("none of ours"));
        try (RotatingFile file = RotatingFile.open(path, 3L * length, 1)) {
            for (int i = 15; i < 17; i++) {
                file.show(new TextLine(LogLevel.INFO, "Net", "message " + i));
            }
            check("a name that is taken", file.problem() != null, true);
            check("it grows", texts(path), texts(12, 17));
        }
        RotatingFile closed = RotatingFile.open(path, 3L * length, 1);
        closed.close();
        Files.delete(path);
        closed.show(new TextLine(LogLevel.INFO, "Net", "message 17"));
        check("a closed file begins no other one", Files.exists(path), false);
        try (Stream<Path> files = Files.list(path.getParent())) {
            check("no other files", files.filter(file -> file.toString().endsWith(".part")).count(), 0L);
        }
    }

    private static List<String> texts(int from, int to) {
        return IntStream.range(from, to).mapToObj(i -> "message " + i).toList();
    }

    private static List<String> texts(Path path) throws IOException {
        return Files.readAllLines(path).stream().map(line -> line.replaceFirst(HEADER + ". Net     : ", "")).toList();
    }

    private static String refused(Path path) {
        try {
            RotatingFile.open(path, 1, 1).close();
            return "opened";
        } catch (IOException e) {
            return e.getMessage();
        }
    }

    private static String refusedSession(Path path) {
        try {
            Session.builder().file(path).start().stop();
            return "started";
        } catch (IOException e) {
            return e.getMessage();
        }
    }

    private static void trouble(Path directory) throws IOException {
        Path full = Path.of("/dev/full");
        if (Files.exists(full)) {
            try (RotatingFile file = RotatingFile.open(full, 1 << 20, 1)) {
                file.show(new TextLine(LogLevel.INFO, "Net", "lost"));
                check("a full disk", file.problem().getMessage().contains("No space left"), true);
                check("once", file.problem() == null, true);
            }
        }
        check("a missing directory", refused(directory.resolve("none/app.log")).contains("none/app.log"), true);
    }

    private static void systemLogger() {
        Logger logger = Logger.getLogger("SinkTag");
        List<String> shown = new ArrayList<>();
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord record) {
                shown.add(record.getLevel() + " " + record.getMessage());
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        logger.setLevel(Level.ALL);
        logger.setUseParentHandlers(false);
        logger.addHandler(handler);
        SystemLogger sink = new SystemLogger();
        for (LogLevel level : LogLevel.values()) {
            sink.show(new TextLine(level, "SinkTag", "{0} of " + level));
        }
        check("System.Logger", shown, List.of("FINER {0} of VERBOSE", "FINE {0} of DEBUG", "INFO {0} of INFO", "WARNING {0} of WARN",
                "SEVERE {0} of ERROR", "SEVERE {0} of WTF"));
    }

    /** The first sink stays. One that throws, or logs, does not hurt the call. */
    private static void choice() {
        List<String> shown = new ArrayList<>();
        ProtoLog.setSink(line -> {
            shown.add(line.level() + " " + line.tag() + " " + line.text());
            ProtoLog.wtf(LevelsTest.Group.NET, "from the sink");
            if (line.text().contains("bad")) {
                throw new UncheckedIOException(new IOException("broken"));
            }
        });
        String printed = Captured.lines(() -> {
            ProtoLog.i(LevelsTest.Group.NET, "good %d", 1);
            ProtoLog.i(LevelsTest.Group.NET, "bad %d", 2);
            ProtoLog.printGroup(LevelsTest.Group.NET, LogLevel.ERROR);
            ProtoLog.i(LevelsTest.Group.NET, "not printed");
            ProtoLog.printGroup(LevelsTest.Group.NET, LogLevel.VERBOSE);
        });
        check("the sink", shown, List.of("INFO TagNET good 1", "INFO TagNET bad 2"));
        check("standard error", printed, "WTF TagNET: from the sink\nWTF TagNET: from the sink\nINFO TagNET: bad 2\n");
        try {
            ProtoLog.setSink(new SystemLogger());
            check("a second sink", "set", "refused");
        } catch (IllegalStateException e) {
            check("a second sink", e.getMessage(), "text has a sink already");
        }
    }
}
