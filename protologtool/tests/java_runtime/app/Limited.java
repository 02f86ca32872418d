package app;

import static app.AppLog.DISK;
import static app.AppLog.NET;

import dev.protolog.Init;
import dev.protolog.ProtoLog;
import dev.protolog.Session;
import dev.protolog.Summary;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Path;

/**
 * A program whose single calls are switched and limited from outside; it does what it reads on
 * standard input. Its session records INFO and more severe messages: {@code Limited TRACE}.
 */
public final class Limited {
    private Limited() {}

    public static void main(String[] args) throws Exception {
        new Init().groups(AppLog.values()).start();
        Session session = Session.builder().file(Path.of(args[0])).logFrom(dev.protolog.LogLevel.INFO).reportLosses(false).start();
        System.out.println("ready ");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("end"); line = in.readLine()) {
            String[] words = line.split(" ");
            if (words[0].equals("log")) {
                log(Integer.parseInt(words[1]));
            } else {
                Summary summary = session.stop();
                System.err.println(summary.messages() + " " + summary.lost());
            }
            System.err.println("---");
        }
    }

    private static void log(int times) {
        for (int i = 0; i < times; i++) {
            ProtoLog.d(NET, "retry %d", i);
            ProtoLog.d(NET, "no retry of %d", i);
            ProtoLog.w(DISK, "/var is full, %d blocks are lost", i);
        }
    }
}
