package app;

import dev.protolog.IProtoLogGroup;
import dev.protolog.ProtoLog;
import dev.protolog.Session;
import dev.protolog.Summary;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Keeps more messages than the heap has room for: {@code Kept DIRECTORY}. It prints the messages of
 * a snapshot and of the trace, and those that were lost.
 */
public final class Kept {
    private static final int BUFFER = 48 << 20;
    private static final int MESSAGES = 16_000;

    private Kept() {}

    private enum Log implements IProtoLogGroup {
        WORK;

        @Override
        public String getTag() {
            return "Work";
        }
    }

    public static void main(String[] args) throws IOException {
        Path directory = Path.of(args[0]);
        Session session = Session.builder().file(directory.resolve("a.pftrace")).record().enableAll().bufferBytes(BUFFER).start();
        for (int i = 0; i < MESSAGES; i++) {
            ProtoLog.i(Log.WORK, "%d %s", i, i + " ".repeat(3000));
        }
        for (Summary summary : new Summary[] {session.snapshot(directory.resolve("b.pftrace")), session.stop()}) {
            System.out.println(summary.messages() + " " + summary.lost());
        }
    }
}
