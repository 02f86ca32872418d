package app;

import dev.protolog.ProtoLog;
import dev.protolog.Session;
import dev.protolog.Summary;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/**
 * Many threads that log a little and then rest, and many that end, before others log:
 * {@code Idle DIRECTORY BYTES IDLE SHORT ring|stream}. It prints the outcome.
 */
public final class Idle {
    private static final int LAST = 1_000;

    private Idle() {}

    public static void main(String[] args) throws Exception {
        Session.Builder builder = Session.builder().file(Path.of(args[0], "idle.pftrace")).enableAll();
        builder.bufferBytes(Integer.parseInt(args[1]));
        int idle = Integer.parseInt(args[2]);
        Session session = (args[4].equals("ring") ? builder.keepNewest() : builder.waitAtMost(Duration.ofSeconds(60))).start();
        CountDownLatch logged = new CountDownLatch(idle);
        CountDownLatch end = new CountDownLatch(1);
        for (int i = 0; i < idle; i++) {
            int number = i;
            Thread thread = new Thread(null, () -> rest(number, logged, end), "idle", 256 << 10);
            thread.setDaemon(true);
            thread.start();
        }
        logged.await();
        for (int i = Integer.parseInt(args[3]); i > 0; i--) {
            int number = i;
            Thread thread = new Thread(() -> ProtoLog.d(AppLog.NET, "short %d", number), "short");
            thread.start();
            thread.join();
        }
        for (int i = 0; i < LAST; i++) {
            ProtoLog.w(AppLog.DISK, "last %d", i);
        }
        Summary summary = session.stop();
        end.countDown();
        System.out.println(summary.messages() + " " + summary.lost());
    }

    /** Logs as much as a chunk of the second size has room for. */
    private static void rest(int number, CountDownLatch logged, CountDownLatch end) {
        for (int i = 0; i < 10; i++) {
            ProtoLog.i(AppLog.NET, "message %d of %d", i, number);
        }
        logged.countDown();
        try {
            end.await();
        } catch (InterruptedException e) {
            // The program ends.
        }
    }
}
