package app;

import dev.protolog.IProtoLogGroup;
import dev.protolog.ProtoLog;
import dev.protolog.Session;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A run at the path of earlier ones: {@code Restart TRACE RUN WORD...}. Words: {@code crash} or
 * {@code end}, {@code ring}, {@code zip}, {@code truncate}, {@code keep=N}.
 */
public final class Restart {
    private Restart() {}

    private enum Log implements IProtoLogGroup {
        WORK;

        @Override
        public String getTag() {
            return "Work";
        }

        @Override
        public boolean isLogToLogcat() {
            return false;
        }
    }

    public static void main(String[] args) throws IOException {
        Session.Builder builder = Session.builder().file(Path.of(args[0])).enableAll();
        boolean crashes = false;
        for (int i = 2; i < args.length; i++) {
            switch (args[i]) {
                case "crash" -> crashes = true;
                case "end" -> { }
                case "ring" -> builder.keepNewest();
                case "zip" -> builder.compress(6);
                case "truncate" -> builder.truncate();
                default -> builder.keepPrevious(Integer.parseInt(args[i].substring("keep=".length())));
            }
        }
        Session session = builder.start();
        for (int line = 0; line < 5; line++) {
            ProtoLog.i(Log.WORK, "line %d of run %d", line, Integer.parseInt(args[1]));
        }
        ProtoLog.flushText(Duration.ofSeconds(10));
        if (crashes) {
            Runtime.getRuntime().halt(3);
        }
        session.stop();
    }
}
