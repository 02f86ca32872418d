package app;

import dev.protolog.ProtoLog;
import dev.protolog.Session;
import dev.protolog.Summary;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Threads that count, to a trace in several files, a compressed one, or a buffer that is full:
 * {@code Divided DIRECTORY OPTION…}. It prints the outcome, and with {@code kill} how far each
 * thread has come, until it is killed.
 */
public final class Divided {
    private static final int THREADS = 4;

    private Divided() {}

    public static void main(String[] args) throws Exception {
        Session.Builder builder = Session.builder().file(Path.of(args[0], "app.pftrace")).enableAll();
        int count = 5_000;
        boolean isKilled = false;
        for (String option : args) {
            switch (option) {
                case "segments" -> builder.segmentBytes(100_000);
                case "keep" -> builder.keepSegments(2);
                case "age" -> builder.segmentAge(Duration.ofMillis(20));
                case "compress" -> builder.compress(6);
                case "small" -> builder.bufferBytes(256 << 10);
                case "first" -> builder.keepFirst();
                case "newest" -> builder.keepNewest();
                case "wait" -> builder.waitAtMost(Duration.ofSeconds(60));
                case "many" -> count = 20_000;
                case "kill" -> isKilled = true;
                default -> { }
            }
        }
        Session session = builder.start();
        Thread[] threads = new Thread[THREADS];
        for (int t = 0; t < threads.length; t++) {
            int thread = t;
            int messages = isKilled ? Integer.MAX_VALUE : count;
            boolean isReporting = isKilled;
            threads[t] = new Thread(() -> count(thread, messages, isReporting), "counter-" + t);
            threads[t].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        Summary summary = session.stop();
        System.out.println(summary.messages() + " " + summary.lost() + " " + summary.file().getFileName());
    }

    private static void count(int thread, int messages, boolean isReporting) {
        for (int i = 0; i < messages; i++) {
            // Some are longer than a chunk.
            String text = i % 1000 == 999 ? "x".repeat(4000) + i : "text " + i % 50;
            ProtoLog.i(AppLog.DISK, "%d of %s: %s", i, thread, text);
            if (isReporting && i % 100 == 0) {
                System.out.println(thread + " " + i);
                Thread.yield();
            }
        }
    }
}
