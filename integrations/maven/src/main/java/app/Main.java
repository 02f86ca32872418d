package app;

import dev.protolog.ProtoLog;
import dev.protolog.Session;

/** Writes the trace that its argument names. */
final class Main {
    private Main() {}

    public static void main(String[] args) throws Exception {
        try (Session session = Session.builder().file(args[0]).enableAll().start()) {
            for (int n = 1; n <= 3; n++) {
                ProtoLog.d(AppLog.NET, "sent %d bytes to %s", n * 512, "example.org");
            }
            ProtoLog.w(AppLog.DISK, "%s is %.1f %% full", "/var", 97.5);
        }
    }
}
