package app;

import static app.AppLog.DISK;
import static app.AppLog.NET;

import dev.protolog.ProtoLog;
import dev.protolog.Session;
import dev.protolog.Span;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * A session that has all messages and spans, and beside it a ring that starts later and loses some:
 * {@code TwoSessions DIRECTORY VIRTUAL}.
 */
@SuppressWarnings("try")
public final class TwoSessions {
    private TwoSessions() {}

    public static void main(String[] args) throws Exception {
        Path directory = Path.of(args[0]);
        Session.Builder whole = Session.builder().file(directory.resolve("whole.pftrace")).enableAll().bufferBytes(1 << 20).maxStringBytes(4096);
        try (Session session = whole.waitAtMost(Duration.ofSeconds(60)).start()) {
            log(0);
            Session.Builder ring = Session.builder().file(directory.resolve("ring.pftrace")).enableAll();
            try (Span around = ProtoLog.span(NET, "around the start");
                    Session other = ring.keepNewest().bufferBytes(256 << 10).maxStringBytes(4096).start()) {
                log(1);
                onThreads(args[1].equals("virtual"));
            }
            log(98);
        }
    }

    private static void onThreads(boolean isVirtual) throws Exception {
        ExecutorService threads = isVirtual ? (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null)
                : Executors.newFixedThreadPool(4);
        List<Future<?>> all = new ArrayList<>();
        for (int round = 2; round < 98; round++) {
            int number = round;
            all.add(threads.submit(() -> log(number)));
        }
        for (Future<?> each : all) {
            each.get();
        }
        threads.shutdown();
        threads.awaitTermination(60, TimeUnit.SECONDS);
    }

    private static void log(int round) {
        try (Span request = ProtoLog.span(NET, "request %d of %s", round, "a host")) {
            for (int number = 0; number < 30; number++) {
                try (Span read = ProtoLog.span(DISK, "read %d", number)) {
                    ProtoLog.d(NET, "%d: a number", number);
                    ProtoLog.i(DISK, "%d: %s", round, "a text of its own " + number);
                    // Equal ones, one after the other.
                    ProtoLog.w(NET, "again");
                    ProtoLog.w(NET, "again");
                }
            }
            // Longer than a chunk.
            ProtoLog.i(DISK, "%d: %s%s", round, "long ".repeat(800), "text ".repeat(800));
        }
    }
}
