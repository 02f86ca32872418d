package dev.protolog;

import static dev.protolog.SelfTest.check;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;

/**
 * The lines on standard error at a session's end: losses, and names that were meant for groups.
 */
final class EndReportTest {
    private static final int MANY = 100_000;

    private EndReportTest() {}

    /** A group whose name is almost that of another one. */
    enum Similar implements SilentGroup {
        SIMILAR_ONE, SIMILAR_TWO
    }

    static void run() throws IOException {
        ProtoLog.init(Similar.SIMILAR_ONE);
        Path file = Files.createTempFile("protolog-report", ".pftrace");
        try {
            Files.delete(file);
            String lost = said(it -> it.file(file).truncate().keepFirst(), MANY);
            String line = "protolog: `" + file + "` lacks ";
            check("a line: " + lost, lost.startsWith(line), true);
            check("numbers", lost.substring(line.length()).matches("\\d+ of " + MANY + " messages \\(\\d+: the buffer was full\\)\n"), true);
            check("where nobody wants it", said(it -> it.file(file).truncate().keepFirst().reportLosses(false), MANY), "");
            check("of a ring", said(it -> it.file(file).truncate().keepNewest(), MANY), "");
            check("of all that is there", said(it -> it.file(file).truncate().keepFirst(), 10), "");
        } finally {
            Files.deleteIfExists(file);
        }
        check("a name that is almost a group's", said(it -> it.keepFirst().group("simlar_one", LogLevel.WARN), 1),
                "protolog: `a session`: no group is named `simlar_one`\n  help: write `SIMILAR_ONE`\n");
        check("one for stack traces", said(it -> it.keepFirst().collectStacktrace("SIMILAR_ONNE"), 1),
                "protolog: `a session`: no group is named `SIMILAR_ONNE`\n  help: write `SIMILAR_ONE`\n");
        check("a name like none", said(it -> it.keepFirst().group("com.library", LogLevel.WARN), 1), "");
        check("beginning and end of a group's", said(it -> it.keepFirst().group("dev.protolog", LogLevel.WARN).group("SIMILAR_ONE", null), 1), "");
        check("a group that has logged nothing", said(it -> it.keepFirst().group(Similar.SIMILAR_TWO, LogLevel.WARN), 1), "");
    }

    private static String said(Consumer<Session.Builder> settings, int messages) {
        return Captured.lines(() -> {
            Session.Builder builder = Session.builder().enableAll().bufferBytes(256 << 10);
            settings.accept(builder);
            try {
                Session session = builder.start();
                for (int i = 0; i < messages; i++) {
                    ProtoLog.v(Similar.SIMILAR_ONE, "message %d", i);
                }
                session.stop();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }
}
