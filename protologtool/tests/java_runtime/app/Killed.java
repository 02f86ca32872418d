package app;

import dev.protolog.ProtoLog;
import dev.protolog.Session;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;

/**
 * Logs until it is killed: {@code Killed DIRECTORY THREADS record|stream}. Each thread counts its
 * messages, and prints now and then how many of them it has logged.
 */
public final class Killed {
    private Killed() {}

    public static void main(String[] args) throws Exception {
        Path directory = Path.of(args[0]);
        Session.Builder builder = Session.builder().enableAll();
        if (args[2].equals("record")) {
            builder.recordTo(directory.resolve("killed.rec"));
        } else {
            builder.file(directory.resolve("killed.pftrace"));
        }
        Session session = builder.start();
        try (PrintStream out = new PrintStream(new FileOutputStream(java.io.FileDescriptor.out), true)) {
            Thread[] threads = new Thread[Integer.parseInt(args[1])];
            for (int t = 0; t < threads.length; t++) {
                int number = t;
                Callable<Void> counter = () -> count(number, out);
                threads[t] = new Thread(new FutureTask<>(counter), "counter-" + t);
                threads[t].start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
        }
        session.stop();
    }

    private static Void count(int thread, PrintStream out) throws InterruptedException {
        // No more than the ring has room for.
        for (int i = 0; i < 5_000; i++) {
            ProtoLog.i(AppLog.DISK, "%d of %s, long %d", i, "thread " + thread, (long) i << 40);
            if (i % 50 == 0) {
                out.println(thread + " " + i);
            }
        }
        out.println(thread + " done");
        Thread.sleep(Long.MAX_VALUE);
        return null;
    }
}
