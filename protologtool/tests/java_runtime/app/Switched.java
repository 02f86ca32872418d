package app;

import static app.SwitchedLog.DISK;
import static app.SwitchedLog.NET;
import static app.SwitchedLog.OUT;

import dev.protolog.Init;
import dev.protolog.InitException;
import dev.protolog.LogLevel;
import dev.protolog.ProtoLog;
import dev.protolog.Session;
import dev.protolog.Summary;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A program that is switched from outside, and does what it reads on standard input:
 * {@code Switched [CONFIG]}.
 */
public final class Switched {
    private static Session session;

    private Switched() {}

    public static void main(String[] args) throws Exception {
        Init init = new Init().groups(SwitchedLog.values());
        if (args.length > 0) {
            init.configFile(Path.of(args[0])).reload();
        }
        String problem = "";
        try {
            init.start();
        } catch (InitException e) {
            problem = e.getMessage().replace('\n', '|');
        }
        System.out.println("ready " + problem);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            switch (words[0]) {
                case "log" -> log();
                case "fail" -> ProtoLog.wtf(NET, "this can't happen");
                case "spin" -> spin();
                case "record" -> record(Path.of(words[1]));
                case "flood" -> flood();
                case "stop" -> {
                    Summary summary = session.stop();
                    System.err.println(summary.messages() + " " + summary.lost());
                }
                case "daemons" -> daemons();
                default -> throw new IllegalArgumentException(line);
            }
            ProtoLog.flushText(Duration.ofSeconds(60));
            System.err.println("---");
        }
    }

    private static void log() {
        ProtoLog.d(NET, "a datagram of %d bytes", 512);
        ProtoLog.w(NET, "no answer from %s", "example.org");
        ProtoLog.d(DISK, "read %d blocks", 3);
        ProtoLog.wtf(OUT, "never");
    }

    /** Into the smallest buffer there is, which a flood fills while the session's thread wakes. */
    private static void record(Path path) throws Exception {
        session = Session.builder().file(path).bufferBytes(256 << 10).enableAll().start();
    }

    /** Logs faster than a session writes, sooner or later. */
    private static void flood() {
        String page = "p".repeat(4000);
        for (int i = 0; i < 5_000; i++) {
            ProtoLog.v(NET, "page %d: %s", i, page);
        }
    }

    /** Logs at DEBUG until that is off, then until it is on again. */
    private static void spin() {
        long count = 0;
        while (ProtoLog.isEnabled(DISK, LogLevel.DEBUG)) {
            count++;
        }
        System.out.println("off");
        while (!ProtoLog.isEnabled(DISK, LogLevel.DEBUG)) {
            count++;
        }
        System.err.println("seen " + (count > 0));
    }

    /** Names the threads of the runtime that would keep the program from ending. */
    private static void daemons() {
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().startsWith("protolog")) {
                System.err.println(thread.getName() + " " + thread.isDaemon());
            }
        }
    }
}
