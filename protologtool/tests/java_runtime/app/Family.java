package app;

import static app.AppLog.NET;

import dev.protolog.Init;
import dev.protolog.LogLevel;
import dev.protolog.ProtoLog;
import dev.protolog.Session;
import dev.protolog.Triggers;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.time.Duration;

/**
 * One of a family of programs, that does what it reads on standard input:
 * {@code Family NAME DIRECTORY [BEFORE AFTER]}, times in milliseconds.
 */
public final class Family {
    private Family() {}

    public static void main(String[] args) throws Exception {
        new Init().groups(AppLog.values()).start();
        Triggers triggers = Triggers.to(Path.of(args[1]).resolve(args[0] + ".pftrace")).onLevel(LogLevel.ERROR)
                .after(Duration.ofSeconds(2)).family("shop");
        if (args.length > 2) {
            triggers = triggers.before(Duration.ofMillis(Long.parseLong(args[2]))).after(Duration.ofMillis(Long.parseLong(args[3])));
        }
        Session session = Session.builder().enableAll().triggers(triggers).start();
        ProtoLog.d(NET, "%s works", args[0]);
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ", 2);
            switch (words[0]) {
                case "error" -> {
                    ProtoLog.e(NET, "%s failed", args[0]);
                    System.out.println("done");
                }
                case "tick" -> {
                    Thread thread = new Thread(Family::tick);
                    thread.setDaemon(true);
                    thread.start();
                    System.out.println("done");
                }
                case "event" -> System.out.println(ProtoLog.triggerEvent(words[1]));
                case "join" -> System.out.println(ProtoLog.joinEvent(words[1]));
                default -> session.triggerCounts().forEach(it -> System.out.println(it.cause() + ": " + it.fired() + "+" + it.suppressed()));
            }
        }
        session.stop();
    }

    /** Logs a message each millisecond, or nearly. */
    private static void tick() {
        try {
            for (int i = 0;; i++) {
                ProtoLog.d(NET, "tick %d", i);
                Thread.sleep(1);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
