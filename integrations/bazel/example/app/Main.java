package app;

import dev.protolog.ProtoLog;
import dev.protolog.Session;
import net.AppLog;
import net.Net;

import java.io.IOException;

/** Logs one message of its own and one of the library, into the trace that the argument names. */
public final class Main {
    private Main() {}

    public static void main(String[] args) throws IOException {
        try (Session session = Session.builder().file(args[0]).enableAll().start()) {
            ProtoLog.i(AppLog.APP, "started with %d argument", args.length);
            Net.send(42, "example.org");
        }
    }
}
