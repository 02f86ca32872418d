package app;

import dev.protolog.IProtoLogGroup;
import dev.protolog.LogLevel;
import dev.protolog.ProtoLog;
import dev.protolog.RotatingFile;
import dev.protolog.Session;
import dev.protolog.TextLine;
import java.io.IOException;
import java.nio.file.Path;

/**
 * A program that rotates and replaces its files, as often as it can:
 * {@code Rotating DIRECTORY (kept|anew)}. With {@code kept} it opens them once, before it says that
 * it is ready, and else again and again. Once standard input has a line it begins.
 */
public final class Rotating {
    private static final int TURNS = 3000;
    private static final int LINES = 4;
    private static final int OPENINGS = 150;

    private Rotating() {}

    private enum Log implements IProtoLogGroup {
        NET;

        @Override
        public String getTag() {
            return "Net";
        }

        @Override
        public boolean isLogToLogcat() {
            return false;
        }
    }

    public static void main(String[] args) throws Exception {
        Path directory = Path.of(args[0]);
        if (args[1].equals("kept")) {
            rotate(directory);
        } else {
            ready();
            openAgain(directory);
        }
        System.out.println("done");
    }

    private static void ready() throws IOException {
        System.out.println("ready");
        System.in.read();
    }

    private static Session.Builder builder() {
        return Session.builder().bufferBytes(256 << 10).enableAll();
    }

    private static void rotate(Path directory) throws IOException {
        RotatingFile text = RotatingFile.open(directory.resolve("app.log"), 150, 2);
        Session kept = builder().keepNewest().file(directory.resolve("kept.pftrace")).start();
        Session divided = builder().file(directory.resolve("trace.pftrace")).segmentBytes(1).keepSegments(2).start();
        ready();
        for (int turn = 0; turn < TURNS; turn++) {
            for (int line = 0; line < LINES; line++) {
                text.show(new TextLine(LogLevel.INFO, "Net", "a line of some length, so that a few of them are too many"));
            }
            ProtoLog.i(Log.NET, "turn %d", turn);
            if (turn % 10 == 0) {
                attempt(divided::flush);
            }
        }
        text.close();
        attempt(divided::stop);
        attempt(kept::stop);
    }

    private static void openAgain(Path directory) {
        for (int turn = 0; turn < OPENINGS; turn++) {
            attempt(() -> {
                try (RotatingFile text = RotatingFile.open(directory.resolve("app.log"), 150, 2)) {
                    for (int line = 0; line < 2 * LINES; line++) {
                        text.show(new TextLine(LogLevel.INFO, "Net", "a line of some length, so that a few of them are too many"));
                    }
                }
            });
            attempt(() -> builder().keepNewest().file(directory.resolve("kept.pftrace")).start().stop());
            attempt(() -> builder().file(directory.resolve("trace.pftrace")).segmentBytes(1).keepSegments(2).start().stop());
            attempt(() -> builder().file(directory.resolve("stream.pftrace")).start().stop());
            attempt(() -> builder().recordTo(directory.resolve("app.rec")).start().stop());
        }
    }

    private interface Step {
        void run() throws IOException;
    }

    private static void attempt(Step step) {
        try {
            step.run();
        } catch (IOException e) {
            // Somebody else has the directory now.
        }
    }
}
