package app;

import static app.AppLog.DISK;
import static app.AppLog.NET;

import dev.protolog.BridgedLogger;
import dev.protolog.LogLevel;
import dev.protolog.ProtoLog;
import dev.protolog.ProtoLogImpl;
import dev.protolog.Session;
import java.nio.file.Path;

/**
 * Logs to a session that asks for places and stack traces, and to one that does not:
 * {@code Places DIRECTORY}.
 */
public final class Places {
    private Places() {}

    public static void main(String[] args) throws Exception {
        Path directory = Path.of(args[0]);
        Session.Builder plain = Session.builder().file(directory.resolve("plain.pftrace")).enableAll();
        Session.Builder asking = Session.builder().file(directory.resolve("places.pftrace")).enableAll();
        try (Session one = plain.start(); Session other = asking.locations().collectStacktrace(NET).start()) {
            ProtoLog.i(NET, "from %s", "main");
            nested(3);
            for (int i = 0; i < 2; i++) {
                ProtoLog.d(DISK, "block %d", i);
            }
            ProtoLog.d(DISK, "block %d", 2);
            Runnable lambda = () -> ProtoLog.d(DISK, "in a lambda");
            lambda.run();
            thrown(new IllegalStateException("no memory", new RuntimeException("the cause")));
            ProtoLogImpl.e(NET, 0x1234, 0);
            BridgedLogger.of("app.bridged").log(LogLevel.WARN, "to {}", new Object[] {"another logger"}, null, null);
            System.out.println(one.stop().lost() + " " + other.stop().lost());
        }
    }

    private static void nested(int depth) {
        if (depth > 0) {
            nested(depth - 1);
        } else {
            ProtoLog.w(NET, "nested");
        }
    }

    private static void thrown(Throwable failure) {
        ProtoLog.e(NET, "failed: %s, %s", failure, ProtoLogImpl.s(toString(failure)));
        ProtoLog.e(DISK, "failed: %s", failure);
        deep(new RuntimeException("deep"), 500);
    }

    /** The text of another message's exception, which has that one's stack trace neither. */
    private static String toString(Throwable failure) {
        return "because of " + failure.getCause().getMessage();
    }

    private static void deep(Throwable failure, int depth) {
        if (depth > 0) {
            deep(failure, depth - 1);
        } else {
            ProtoLog.e(NET, "%s", new IllegalStateException("as deep", failure));
        }
    }
}
