package app;

import dev.protolog.ProtoLog;
import dev.protolog.Session;
import dev.protolog.Summary;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

/**
 * Threads that count, over the smallest buffer:
 * {@code Stress DIRECTORY THREADS COUNT keep|stream|record|exit}. It prints how many messages are
 * in the trace, and how many are lost. With {@code exit} the program ends while all threads log;
 * with {@code -Dgarbage=true} another thread keeps the collector busy.
 */
public final class Stress {
    private static volatile Object garbage;
    private static volatile boolean isDone;

    private Stress() {}

    public static void main(String[] args) throws Exception {
        System.setProperty("protolog.level", "off");
        int count = Integer.parseInt(args[2]);
        boolean isExit = args[3].equals("exit");
        Session session = session(Path.of(args[0]), args[3]).bufferBytes(isExit ? 16 << 20 : 256 << 10).start();
        if (Boolean.getBoolean("garbage")) {
            new Thread(Stress::litter).start();
        }
        Thread[] threads = new Thread[Integer.parseInt(args[1])];
        CountDownLatch begun = new CountDownLatch(threads.length);
        for (int t = 0; t < threads.length; t++) {
            int number = t;
            threads[t] = new Thread(() -> count(number, count, begun));
            threads[t].start();
        }
        if (isExit) {
            begun.await();
            System.exit(0);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        isDone = true;
        Summary summary = session.stop();
        System.out.println(summary.messages() + " " + summary.lost());
    }

    private static Session.Builder session(Path directory, String mode) {
        Session.Builder builder = Session.builder().file(directory.resolve("stress.pftrace")).enableAll().reportLosses(false);
        return switch (mode) {
            case "keep" -> builder.keepNewest();
            case "record" -> builder.recordTo(directory.resolve("stress.rec"));
            default -> builder;
        };
    }

    private static void count(int number, int count, CountDownLatch begun) {
        for (int i = 0; i < count; i++) {
            String text = i % 1000 == 999 ? "x".repeat(3900) : "text " + i % 50;
            ProtoLog.i(AppLog.DISK, "%d of %d: %s %s", i, number, text, text);
            if (i == 0) {
                begun.countDown();
            }
        }
    }

    /** Allocates objects of all sizes, some of which live for a while. */
    private static void litter() {
        Object[] kept = new Object[64];
        for (int i = 0; !isDone; i++) {
            kept[i % kept.length] = new byte[i * 31 % 60_000];
            garbage = kept[i * 7 % kept.length];
        }
    }
}
