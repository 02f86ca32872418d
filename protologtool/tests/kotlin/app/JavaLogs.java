package written;

import app.AppLog;
import dev.protolog.ProtoLog;

/**
 * Methods of Java that pass templates on, and calls of them and of Kotlin's: each prints the same
 * processed and unprocessed.
 */
public final class JavaLogs {
    static final String PREFIX = "java " + PrefixKt.OF_KOTLIN;

    public static void log(String message, Object... rest) {
        ProtoLog.v(AppLog.NET, PREFIX + ": " + message, rest);
    }

    static void text(String message) {
        ProtoLog.d(AppLog.DISK, message);
    }

    static void callAll(int n) {
        log("from Java %d of %s", n, CallsKt.evaluated("x"));
        text("from Java");
        new JavaLogs().callOwn(n);
        LogsKt.logTop("from Java %d", n);
        Log.d("from Java %s", "y");
        Log.INSTANCE.plain("plain from Java");
        if (n > 0) Server.Companion.e("from Java %d", n); else Log.d("not here");
        Runnable lambda = () -> log("from a lambda");
        lambda.run();
    }

    private void callOwn(int n) {
        own("of an instance %d, %s", n, /* kept */
            "lines");
        new Runnable() {
            @Override public void run() {
                own("of an anonymous class");
            }
        }.run();
    }

    private void own(String message, Object... rest) {
        ProtoLog.i(AppLog.DISK, message, rest);
    }
}
