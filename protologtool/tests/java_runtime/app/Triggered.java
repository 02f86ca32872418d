package app;

import static app.AppLog.DISK;
import static app.AppLog.NET;

import dev.protolog.Init;
import dev.protolog.LogLevel;
import dev.protolog.ProtoLog;
import dev.protolog.Session;
import dev.protolog.Triggers;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * Keeps its newest messages, and writes them to a file of its own at each error:
 * {@code Triggered DIRECTORY wait|fail}. Its threads count their messages until it is killed, and
 * print now and then how many they have logged; or one of them fails.
 */
public final class Triggered {
    private static final int THREADS = 4;

    private Triggered() {}

    public static void main(String[] args) throws Exception {
        Path directory = Path.of(args[0]);
        new Init().groups(AppLog.values()).start();
        Triggers triggers = Triggers.to(directory.resolve("app.pftrace")).onLevel(LogLevel.ERROR).onUncaught()
                .after(Duration.ofMillis(20)).interval(Duration.ofMillis(20));
        Session.builder().enableAll().bufferBytes(1 << 20).recordTo(directory.resolve("app.rec")).triggers(triggers).start();
        PrintStream out = new PrintStream(new FileOutputStream(java.io.FileDescriptor.out), true);
        out.println("ready ");
        if (args[1].equals("fail")) {
            ProtoLog.d(NET, "about to fail");
            throw new IllegalStateException("on purpose");
        }
        for (int t = 0; t < THREADS; t++) {
            int number = t;
            new Thread(() -> count(number, out)).start();
        }
    }

    private static void count(int thread, PrintStream out) {
        for (int i = 0;; i++) {
            if (i % 20 == 0) {
                // So that what was there at an error still is when the session's thread looks.
                LockSupport.parkNanos(1_000_000);
            }
            ProtoLog.d(NET, "%d of thread %d", i, thread);
            if (i % 100 == 0) {
                out.println(thread + " " + i);
            }
            if (i % 2_000 == 0) {
                ProtoLog.e(DISK, "an error of thread %d", thread);
            }
        }
    }
}
