package app;

import dev.protolog.ProtoLog;
import dev.protolog.Session;

/** Writes the trace that its argument names. */
final class Main {
    private Main() {}

    public static void main(String[] args) throws Exception {
        String host = "example.org";
        double percent = 97.5;
        try (Session session = Session.builder().file(args[0]).enableAll().start()) {
            for (int n = 1; n <= 3; n++) {
                ProtoLog.d(AppLog.NET, "sent %d bytes to %s", n * 512, host);
            }
            ProtoLog.w(AppLog.DISK, "/var is %.1f %% full", percent);
        }
    }
}
