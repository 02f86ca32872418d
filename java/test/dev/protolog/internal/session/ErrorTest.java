package dev.protolog.internal.session;

import static dev.protolog.SelfTest.check;

import dev.protolog.LevelsTest;
import dev.protolog.ProtoLogImpl;
import dev.protolog.Session;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.List;

/** An error of the JVM after a message was recorded: it is kept, and not counted as lost too. */
public final class ErrorTest {
    private static final long ID = 0x1122334455667788L;

    private ErrorTest() {}

    public static void run() throws IOException {
        PrintStream before = System.err;
        try (Session session = Session.builder().keepNewest().enableAll().start()) {
            SessionCore core = Sessions.running().get(0);
            System.setErr(new PrintStream(OutputStream.nullOutputStream()) {
                @Override
                public void println(String line) {
                    throw new OutOfMemoryError();
                }
            });
            ProtoLogImpl.wtf(LevelsTest.Group.NET, ID, 1, 7L);
            long messages = core.sequences().stream().mapToLong(sequence -> sequence.messages).sum();
            check("a message that can't be printed", List.of(messages, core.total().all().size()), List.of(1L, 0));
            session.stop();
        } finally {
            System.setErr(before);
        }
    }
}
