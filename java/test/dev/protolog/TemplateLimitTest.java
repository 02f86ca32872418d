package dev.protolog;

import static dev.protolog.SelfTest.check;

import dev.protolog.internal.session.SessionStats;
import dev.protolog.internal.text.BraceTemplate;
import dev.protolog.internal.write.Routing;
import java.io.IOException;

/** Templates that a program makes as it runs. The last test, since those that were kept stay. */
final class TemplateLimitTest {
    private static final int LENGTH = 100_000;
    private static final int MANY = 200;

    private TemplateLimitTest() {}

    static void run() throws IOException {
        braces();
        try (Session session = Session.builder().keepNewest().enableAll().start()) {
            for (int i = 0; i < MANY; i++) {
                ProtoLog.v(LevelsTest.Group.QUIET, i + "x".repeat(LENGTH));
            }
            SessionStats stats = session.running().stats();
            check("long templates are recorded", stats.messages(), (long) MANY);
            check("and none is lost", stats.lost(), 0L);
            check("but not all are kept", kept() < MANY / 2, true);
            ProtoLog.w(LevelsTest.Group.QUIET, "of %04d, with %s", 7, "an argument");
            ProtoLog.w(LevelsTest.Group.QUIET, "of " + "x".repeat(LENGTH) + " %d", "no number");
            check("their arguments, too", session.running().stats().messages(), MANY + 2L);
        }
    }

    private static long kept() {
        return Routing.of(LevelsTest.Group.QUIET).messages[LogLevel.VERBOSE.ordinal()].values().stream().filter(it -> it.text().length() > LENGTH).count();
    }

    /** Templates of braces only, which take as long as others. */
    private static void braces() {
        String open = "{".repeat(1 << 20);
        check("the innermost braces", BraceTemplate.message(open + "}", new Object[] {1}, false, null).template().text(), "{".repeat(open.length() - 1) + "%d");
        check("those with a number", BraceTemplate.message(open + "0}", new Object[] {1}, true, null).template().text(), "{".repeat(open.length() - 1) + "%d");
        for (int i = 0; i < 3; i++) {
            BraceTemplate.message(open + i, new Object[] {1}, true, null);
        }
        check("a template that is too much is a text", BraceTemplate.message(open, new Object[] {1}, true, null).template().text(), "%s");
    }
}
