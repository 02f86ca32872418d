package dev.protolog;

import static dev.protolog.SelfTest.check;

import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;

/** A trace has numbers for so many threads at a time; what a further one logs is counted. */
final class ManyThreadsTest {
    private ManyThreadsTest() {}

    static void run() throws Exception {
        Path file = Files.createTempFile("protolog", ".pftrace");
        Session session = Session.builder().file(file).enableAll().start();
        ProtoLog.v(LevelsTest.Group.QUIET, "a thread with a number");
        giveOutAllNumbers();
        Thread further = new Thread(() -> {
            ProtoLog.v(LevelsTest.Group.QUIET, "one without");
            ProtoLog.v(LevelsTest.Group.QUIET, "another message of it");
        });
        further.start();
        further.join();
        ProtoLog.v(LevelsTest.Group.QUIET, "the first one goes on");
        Summary summary = session.stop();
        check("threads without numbers", summary.messages() + " and " + summary.lost() + " lost", "2 and 2 lost");
        Files.delete(file);
    }

    /** As if as many threads lived. */
    private static void giveOutAllNumbers() throws ReflectiveOperationException {
        Field given = SessionCore.class.getDeclaredField("sequences");
        given.setAccessible(true);
        for (SessionCore session : Sessions.running()) {
            synchronized (session) {
                given.setInt(session, PageLayout.MAX_WRITER_ID);
            }
        }
    }
}
