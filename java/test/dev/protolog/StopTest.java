package dev.protolog;

import static dev.protolog.SelfTest.check;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The error of {@code stop} where the trace can't be written: its reason and the number of
 * messages.
 */
final class StopTest {
    private static final Path FULL = Path.of("/dev/full");
    private static final int MESSAGES = 3;

    private StopTest() {}

    static void run() throws IOException {
        check("a stream whose directory was removed", removed(), "0 in the trace, 3 lost");
        check("a kept trace", counts(Session.builder().file(FULL).keepNewest().enableAll().start()), "3 in the trace, 0 lost");
        check("a recorded one", counts(Session.builder().file(FULL).keepNewest().record().enableAll().start()), "3 in the trace, 0 lost");
    }

    private static String removed() throws IOException {
        Path directory = Files.createTempDirectory("protolog-stop");
        Session session = Session.builder().file(directory.resolve("app.pftrace")).reportLosses(false).enableAll().start();
        Files.delete(session.running().file());
        Files.delete(directory);
        return counts(session);
    }

    private static String counts(Session session) throws IOException {
        for (int i = 0; i < MESSAGES; i++) {
            ProtoLog.d(LevelsTest.Group.QUIET, "message %d", i);
        }
        try {
            Summary summary = session.stop();
            throw new AssertionError("written all the same: " + summary);
        } catch (StopException e) {
            check("the reason", e.getMessage() != null, true);
            if (session.recording() != null) {
                Files.deleteIfExists(session.recording());
            }
            return e.summary().messages() + " in the trace, " + e.summary().lost() + " lost";
        }
    }
}
