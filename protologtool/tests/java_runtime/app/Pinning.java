package app;

import static app.AppLog.DISK;
import static app.AppLog.NET;

import dev.protolog.LogLevel;
import dev.protolog.Pinned;
import dev.protolog.ProtoLog;
import dev.protolog.Session;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Pins its errors, in a recording: {@code Pinning DIRECTORY chatter|threads|work|end|virtual}.
 *
 * <p>{@code chatter}: two errors with much between them; {@code threads}: more threads than have
 * counters, and more errors than the ring takes; {@code work}: threads that print what they have
 * logged, until the program is killed. These wait. {@code end} and {@code virtual} stop the
 * session.
 */
public final class Pinning {
    private static final int RING = 256 << 10;
    private static final int CHATTER = 100_000;
    private static final int THREADS = 700;
    private static final int LATER = 60_000;

    private Pinning() {}

    public static void main(String[] args) throws Exception {
        Path directory = Path.of(args[0]);
        Session.Builder builder = Session.builder().enableAll().bufferBytes(RING).recordTo(directory.resolve("ring.rec"));
        if (args[1].equals("end") || args[1].equals("virtual")) {
            builder.file(directory.resolve("app.pftrace"));
        }
        Session session = builder.pin(new Pinned().level(LogLevel.ERROR)).start();
        PrintStream out = new PrintStream(new FileOutputStream(java.io.FileDescriptor.out), true);
        switch (args[1]) {
            case "chatter", "end" -> {
                ProtoLog.e(DISK, "disk %s is full", "sda");
                chatter(CHATTER);
                ProtoLog.e(DISK, "the last error");
            }
            case "threads" -> manyThreads();
            case "virtual" -> virtualThreads();
            default -> {
                for (int t = 0; t < 3; t++) {
                    int number = t;
                    new Thread(() -> work(number, out)).start();
                }
            }
        }
        if (args[1].equals("end") || args[1].equals("virtual")) {
            session.stop();
            return;
        }
        out.println("ready");
        Thread.sleep(600_000);
    }

    private static void chatter(int count) {
        for (int i = 0; i < count; i++) {
            ProtoLog.d(NET, "chatter %d", i);
        }
    }

    private static void manyThreads() throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        Object end = new Object();
        synchronized (end) {
            for (int t = 0; t < THREADS; t++) {
                int number = t;
                threads.add(new Thread(() -> {
                    ProtoLog.e(DISK, "error of thread %d", number);
                    synchronized (end) {
                        // All are there at the same time.
                    }
                }));
                threads.get(t).start();
            }
        }
        for (Thread thread : threads) {
            thread.join();
        }
        for (int i = 0; i < LATER; i++) {
            ProtoLog.e(DISK, "error %d", i);
        }
    }

    /** Without names of Java 21, so that Java 17 compiles it. */
    private static void virtualThreads() throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
            int number = t;
            Runnable task = () -> {
                ProtoLog.d(NET, "chatter of thread %d", number);
                ProtoLog.e(DISK, "error of thread %d", number);
            };
            threads.add((Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        chatter(CHATTER);
    }

    private static void work(int thread, PrintStream out) {
        for (int i = 0;; i++) {
            ProtoLog.e(DISK, "error %d of %d", i, thread);
            // The call has returned: from here on it has to be there.
            out.println(i + " " + thread);
            chatter(2_000);
        }
    }
}
