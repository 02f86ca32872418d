package app;

import static app.AppLog.DISK;
import static app.AppLog.NET;

import dev.protolog.LogLevel;
import dev.protolog.ProtoLog;
import dev.protolog.Session;
import dev.protolog.Summary;
import java.nio.file.Path;

/** Logs arguments of every kind, and prints the outcome: {@code Kinds DIRECTORY}. */
public final class Kinds {
    private Kinds() {}

    public static void main(String[] args) throws Exception {
        Path directory = Path.of(args[0]);
        ProtoLog.w(NET, "before any session");
        Session.Builder builder = Session.builder().file(directory.resolve("kinds.pftrace")).enableAll();
        try (Session session = builder.recordTo(directory.resolve("kinds.rec")).start()) {
            numbers();
            texts();
            for (int i = 0; i < 500; i++) {
                ProtoLog.d(DISK, "block %d of %s at %04x", i, "volume " + i % 80, i * 31);
            }
            session.snapshot(directory.resolve("snapshot.pftrace"));
            ProtoLog.wtf(DISK, "after the snapshot");
            Summary summary = session.stop();
            System.out.println(summary.messages() + " " + summary.lost() + " " + session.stop().equals(summary));
        }
        ProtoLog.w(NET, "after the session");
    }

    private static void numbers() {
        byte b = -7;
        short s = 300;
        Integer none = null;
        Long boxed = Long.MIN_VALUE;
        ProtoLog.v(NET, "%d %d %d %d %d", b, s, 'c', Integer.MAX_VALUE, boxed);
        ProtoLog.d(NET, "null %d", none);
        ProtoLog.i(NET, "%f %e %g", 1.5f, -0.0, Double.POSITIVE_INFINITY);
        float tenth = 0.1f;
        Float large = 16_777_217.3f;
        ProtoLog.i(NET, "%s %s %s %f %.9g", tenth, large, "and " + tenth, tenth, tenth);
        ProtoLog.w(NET, "%x %o %b %b", -1L, 8, true, Boolean.FALSE);
        ProtoLog.e(NET, "%d%% of %8.3f", 100, 2.0 / 3);
        ProtoLog.wtf(NET, "%d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7);
    }

    private static void texts() {
        Object thrower = new Object() {
            @Override
            public String toString() {
                throw new IllegalStateException("no text");
            }
        };
        Object logger = new Object() {
            @Override
            public String toString() {
                ProtoLog.i(DISK, "from toString");
                return "a logger";
            }
        };
        StringBuilder changing = new StringBuilder("first");
        ProtoLog.i(NET, "%s and %s", changing, null);
        changing.append(", changed");
        ProtoLog.i(NET, "%s, %s", LogLevel.WARN, "grün \ud83d\ude00 \ud800 ende");
        ProtoLog.i(NET, "thrown %s", thrower);
        ProtoLog.i(NET, "logged %s, %d", logger, 5);
        ProtoLog.i(NET, "long %s %s", "x".repeat(3000), "y".repeat(3500));
        ProtoLog.i(NET, "empty %s", "");
    }
}
