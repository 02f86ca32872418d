package app;

import static app.AppLog.NET;

import dev.protolog.LogLevel;
import dev.protolog.ProtoLog;
import dev.protolog.RotatingFile;
import dev.protolog.Session;
import dev.protolog.TextLine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Logs to files that are there: {@code Existing DIRECTORY}. With
 * {@code Existing DIRECTORY meanwhile}, somebody else takes the names of a segment and of an older
 * recording meanwhile. It prints the outcomes.
 */
public final class Existing {
    private Existing() {}

    public static void main(String[] args) {
        Path directory = Path.of(args[0]);
        if (args.length > 1) {
            attempt("segment", () -> divide(directory));
            attempt("recording", () -> builder().recordTo(directory.resolve("app.rec")).start().stop());
            return;
        }
        attempt("emptied", () -> {
            Session session = builder().file(directory.resolve("emptied")).start();
            ProtoLog.i(NET, "a secret");
            session.stop();
        });
        attempt("text", () -> {
            try (RotatingFile text = RotatingFile.open(directory.resolve("text"), 1 << 20, 2)) {
                text.show(new TextLine(LogLevel.INFO, "Net", "a secret"));
            }
        });
    }

    private static Session.Builder builder() {
        return Session.builder().bufferBytes(256 << 10).enableAll();
    }

    private static void divide(Path directory) throws IOException {
        Session session = builder().file(directory.resolve("app.pftrace")).segmentBytes(2000).start();
        Files.writeString(directory.resolve("app.0001.pftrace"), "precious");
        for (int i = 0; i < 200; i++) {
            ProtoLog.i(NET, "message %d", i);
            session.flush();
        }
        session.stop();
    }

    private interface Step {
        void run() throws IOException;
    }

    private static void attempt(String name, Step step) {
        try {
            step.run();
            System.out.println(name + ": done");
        } catch (IOException e) {
            System.out.println(name + ": " + e.getClass().getSimpleName() + ": " + e.getMessage());
        }
    }
}
