package app;

import dev.protolog.ProtoLog;
import dev.protolog.RotatingFile;
import dev.protolog.Session;
import java.nio.file.Path;

/** Logs a message into a trace and as a line of a file: {@code Zone TRACE FILE}. */
public final class Zone {
    private Zone() {}

    public static void main(String[] args) throws Exception {
        Session session = Session.builder().file(Path.of(args[0])).enableAll().start();
        try (RotatingFile file = RotatingFile.open(Path.of(args[1]), 1 << 20, 1)) {
            ProtoLog.setSink(file);
            ProtoLog.i(AppLog.NET, "%s", System.currentTimeMillis());
        }
        session.stop();
    }
}
