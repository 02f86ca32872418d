package app;

import dev.protolog.ProtoLog;
import dev.protolog.Session;
import dev.protolog.Summary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Logs where files can't be made or grow, as it would anywhere:
 * {@code Surrounded TRACE COUNT [record]}, or {@code Surrounded RECORDING COUNT recording}, which
 * it leaves. It prints which error its session starts or ends with, or how many messages are in the
 * trace and lost; and the folder of the recording. With {@code again} it removes {@code filler}
 * then, and logs one message to a new session.
 */
public final class Surrounded {
    private Surrounded() {}

    public static void main(String[] args) throws IOException {
        System.setProperty("protolog.level", "off");
        String kind = args.length > 2 ? args[2] : "stream";
        Session.Builder builder = Session.builder().enableAll();
        switch (kind) {
            case "record" -> builder.file(args[0]).record();
            case "recording" -> builder.recordTo(Path.of(args[0]));
            default -> builder.file(args[0]);
        }
        Session session = null;
        try {
            session = builder.start();
            Path recording = session.recording();
            System.out.println("recording in " + (recording == null ? "memory" : recording.getParent()));
        } catch (IOException e) {
            System.out.println("no session: " + e.getMessage());
        }
        for (int i = 0; i < Integer.parseInt(args[1]); i++) {
            ProtoLog.i(AppLog.DISK, "%d of %s", i, "a program that goes on");
            if (i % 1000 == 999) {
                flush(session);
            }
        }
        if (session != null) {
            stop(session);
        }
        if (kind.equals("again")) {
            // The disk has room by now.
            Files.delete(Path.of(args[0]).resolveSibling("filler"));
            try (Session next = Session.builder().enableAll().file(args[0]).start()) {
                ProtoLog.i(AppLog.DISK, "%d of %s", 0, "a program that goes on");
                stop(next);
            }
        }
    }

    /** An error of this is that of the end, too. */
    private static void flush(Session session) {
        try {
            if (session != null) {
                session.flush();
            }
        } catch (IOException e) {
            return;
        }
    }

    private static void stop(Session session) {
        try {
            Summary summary = session.stop();
            System.out.println(summary.messages() + " " + summary.lost());
        } catch (IOException e) {
            System.out.println("no end: " + e.getMessage());
        }
    }
}
