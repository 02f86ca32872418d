package app;

import dev.protolog.ProtoLog;
import dev.protolog.Session;
import dev.protolog.Summary;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

/**
 * Threads that count, over the smallest buffer: {@code Stress DIRECTORY THREADS COUNT keep|stream|exit}. It prints how many messages are in
 * the trace, and how many are lost. With {@code exit} the program ends while all threads log.
 */
public final class Stress {
    private Stress() {}

    public static void main(String[] args) throws Exception {
        System.setProperty("protolog.level", "off");
        int count = Integer.parseInt(args[2]);
        Session.Builder builder = Session.builder().file(Path.of(args[0], "stress.pftrace")).enableAll();
        if (args[3].equals("keep")) {
            builder.keepNewest();
        }
        Session session = builder.bufferBytes(args[3].equals("exit") ? 16 << 20 : 256 << 10).start();
        Thread[] threads = new Thread[Integer.parseInt(args[1])];
        CountDownLatch begun = new CountDownLatch(threads.length);
        for (int t = 0; t < threads.length; t++) {
            int number = t;
            threads[t] = new Thread(() -> {
                for (int i = 0; i < count; i++) {
                    String text = i % 1000 == 999 ? "x".repeat(3900) : "text " + i % 50;
                    ProtoLog.i(AppLog.DISK, "%d of %d: %s %s", i, number, text, text);
                    if (i == 0) {
                        begun.countDown();
                    }
                }
            });
            threads[t].start();
        }
        if (args[3].equals("exit")) {
            begun.await();
            System.exit(0);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        // Threads that end after one message each.
        for (int t = 0; t < count / 10; t++) {
            Thread thread = new Thread(() -> ProtoLog.w(AppLog.NET, "short"));
            thread.start();
            thread.join();
        }
        Summary summary = session.stop();
        System.out.println(summary.messages() + " " + summary.lost());
    }
}
