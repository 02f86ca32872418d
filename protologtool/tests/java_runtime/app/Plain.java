package app;

import dev.protolog.ProtoLog;
import dev.protolog.Session;
import java.nio.file.Path;

/** Logs five messages to a trace: {@code Plain TRACE}. */
public final class Plain {
    private Plain() {}

    public static void main(String[] args) throws Exception {
        Session session = Session.builder().file(Path.of(args[0])).enableAll().start();
        for (int i = 0; i < 5; i++) {
            ProtoLog.i(SwitchedLog.NET, "message %d", i);
        }
        System.out.println(session.stop().messages());
    }
}
