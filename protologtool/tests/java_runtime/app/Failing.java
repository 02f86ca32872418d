package app;

import static app.AppLog.DISK;
import static app.AppLog.NET;

import dev.protolog.BridgedLogger;
import dev.protolog.EventOrigin;
import dev.protolog.LogLevel;
import dev.protolog.Pinned;
import dev.protolog.ProtoLog;
import dev.protolog.Request;
import dev.protolog.RequestScope;
import dev.protolog.Session;
import dev.protolog.Span;
import dev.protolog.Triggers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/**
 * Has requests fail: {@code Failing DIRECTORY WAY}. Prints the number of messages that it logs, and
 * those of failed requests, each with the number of the file that has it.
 */
@SuppressWarnings("try")
public final class Failing {
    private static final int MANY = 20_000;
    private static final AtomicLong LOGGED = new AtomicLong();
    private static final List<String> WANTED = new ArrayList<>();

    private final Path directory;
    private final Triggers triggers;

    private Failing(Path directory) {
        this.directory = directory;
        triggers = Triggers.to(directory.resolve("app.pftrace")).onFailedRequest().after(Duration.ZERO).interval(Duration.ZERO);
    }

    public static void main(String[] args) throws Exception {
        new Failing(Path.of(args[0])).run(args[1]);
        System.out.println(LOGGED);
        WANTED.forEach(System.out::println);
    }

    private Session.Builder builder() {
        return Session.builder().enableAll().bufferBytes(16 << 20).reportLosses(false).triggers(triggers);
    }

    private void run(String way) throws Exception {
        switch (way) {
            case "one" -> one();
            case "platform" -> many(Executors.newFixedThreadPool(8));
            case "virtual" -> many(Executors.newCachedThreadPool(virtual()));
            case "ring" -> ring();
            case "pinned" -> pinned();
            case "large" -> large();
            case "soon" -> soon();
            case "ways" -> ways();
            case "named" -> named();
            case "bridged" -> bridged();
            case "sessions" -> sessions();
            case "taken" -> taken();
            default -> killed();
        }
    }

    /** Logs a message, which is in a file with this number; 0 for none. */
    private static void log(int file, long number, String request) {
        ProtoLog.d(NET, "%d for %s", number, request);
        note(file, number + " for " + request);
    }

    private static void note(int file, String text) {
        LOGGED.incrementAndGet();
        if (file > 0) {
            synchronized (WANTED) {
                WANTED.add(file + " " + text);
            }
        }
    }

    /** Waits until there are so many files. */
    private void await(int count) throws Exception {
        while (true) {
            try (Stream<Path> all = Files.list(directory)) {
                if (all.filter(it -> it.toString().endsWith(".pftrace")).count() >= count) {
                    return;
                }
            }
            Thread.sleep(1);
        }
    }

    private void one() throws Exception {
        try (Session session = builder().start()) {
            Request failing = new Request("GET /cart/17");
            for (int i = 0; i < 100; i++) {
                int number = i;
                log(0, i, "none");
                int file = i % 2 == 0 ? 1 : 0;
                Request request = file == 1 ? failing : new Request(i);
                try (RequestScope scope = request.enter()) {
                    log(file, i, scope.id());
                    Thread thread = new Thread(() -> {
                        log(0, number, "none");
                        request.wrap(() -> {
                            log(file, number, request.id());
                            try (Span span = ProtoLog.span(DISK, "query %d", number)) {
                                log(file, number, request.id());
                            }
                        }).run();
                    });
                    thread.start();
                    thread.join();
                    log(file, i, scope.id());
                }
            }
            failing.fail(new IOException("no answer"));
            failing.fail("again");
        }
    }

    private static ThreadFactory virtual() throws ReflectiveOperationException {
        // Without names of Java 21, so that Java 17 compiles it.
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        return (ThreadFactory) Class.forName("java.lang.Thread$Builder").getMethod("factory").invoke(builder);
    }

    /** Texts that come again and again, in requests of which some fail, on several threads. */
    private void many(ExecutorService pool) throws Exception {
        List<Request> requests = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            requests.add(new Request("request " + i));
        }
        try (Session session = builder().file(directory.resolve("all.pftrace")).start()) {
            List<java.util.concurrent.Future<?>> tasks = new ArrayList<>();
            for (int t = 0; t < 8; t++) {
                Random random = new Random(t);
                int thread = t;
                tasks.add(pool.submit(() -> {
                    for (int i = 0; i < 2000; i++) {
                        int at = random.nextInt(44);
                        if (at >= 40) {
                            log(0, i, "none");
                            continue;
                        }
                        Request request = requests.get(at);
                        int file = at % 8 == 3 ? 1 : 0;
                        try (RequestScope scope = request.enter(); Span span = i % 10 == 0 ? ProtoLog.span(DISK, "work %s", scope.id()) : Span.none()) {
                            for (int n = random.nextInt(4); n > 0; n--) {
                                String host = "host " + random.nextInt(6);
                                ProtoLog.d(NET, "%d to %s, by %d, for %s", i, host, thread, scope.id());
                                note(file, i + " to " + host + ", by " + thread + ", for " + scope.id());
                            }
                        }
                    }
                }));
            }
            for (java.util.concurrent.Future<?> task : tasks) {
                task.get();
            }
            pool.shutdown();
            for (int at = 3; at < 40; at += 8) {
                requests.get(at).fail("no answer");
            }
        }
    }

    private void ring() throws Exception {
        try (Session session = builder().bufferBytes(256 << 10).start()) {
            Request failing = new Request("failing");
            for (int i = 0; i < MANY; i++) {
                boolean isIn = i / 10 % 3 == 0;
                try (RequestScope scope = isIn ? failing.enter() : null) {
                    log(isIn ? 1 : 0, i, isIn ? "failing" : "none");
                }
            }
            failing.fail("no answer");
        }
    }

    private void pinned() throws Exception {
        try (Session session = builder().bufferBytes(256 << 10).pin(new Pinned().level(LogLevel.ERROR)).start()) {
            Request failing = new Request("failing");
            try (RequestScope scope = failing.enter()) {
                ProtoLog.e(DISK, "long ago");
                note(1, "long ago");
            }
            ProtoLog.e(DISK, "of nobody");
            note(0, "");
            for (int i = 0; i < MANY; i++) {
                try (RequestScope scope = ProtoLog.request(i)) {
                    log(0, i, scope.id());
                }
            }
            try (RequestScope scope = failing.enter()) {
                log(1, 0, "just now");
            }
            failing.fail("no answer");
        }
    }

    /** Messages of several chunks are taken or left out. */
    private void large() throws Exception {
        String ours = "o".repeat(4000);
        try (Session session = builder().start()) {
            Request failing = new Request("failing");
            for (int i = 0; i < 20; i++) {
                ProtoLog.d(NET, "%s %s %s", "x".repeat(4000), "y".repeat(4000), "short");
                note(0, "");
                try (RequestScope scope = failing.enter()) {
                    ProtoLog.d(NET, "%s %s %s", ours, ours, "short");
                    note(1, ours + " " + ours + " short");
                    log(1, i, "short");
                }
            }
            failing.fail("too long");
        }
    }

    /** Those that fail too soon are in the next file. */
    private void soon() throws Exception {
        triggers.interval(Duration.ofMillis(400));
        try (Session session = builder().start()) {
            fail(1, "one");
            await(1);
            fail(2, "two");
            fail(2, "three");
            await(2);
            fail(3, "four");
        }
    }

    private static void fail(int file, String id) {
        try (RequestScope scope = ProtoLog.request(id)) {
            log(file, 0, id);
            scope.fail("no answer");
        }
    }

    /** Each way to fail, and what is none. */
    private void ways() throws Exception {
        try (Session session = builder().start()) {
            Request task = new Request("task");
            ExecutorService pool = Executors.newSingleThreadExecutor();
            pool.submit(task.wrap(() -> {
                log(1, 0, "task");
                throw new IllegalStateException("in a task");
            }));
            pool.shutdown();
            while (!pool.isTerminated()) {
                Thread.sleep(1);
            }
            await(1);
            try (RequestScope scope = ProtoLog.request("thrown")) {
                log(2, 0, "thrown");
                scope.keepIfFailed(() -> {
                    throw new IOException("no rows");
                });
            } catch (IOException e) {
                log(0, 0, "none");
            }
            await(2);
            try (RequestScope scope = ProtoLog.request("fine")) {
                long rows = scope.keepIfFailed(() -> 7L);
                log(0, rows, "fine");
            }
            // What a future has is for whoever asks it.
            ExecutorService carrying = Request.wrapTasks(Executors.newSingleThreadExecutor());
            try (RequestScope scope = ProtoLog.request("future")) {
                carrying.submit(() -> {
                    throw new IllegalStateException();
                });
            }
            carrying.shutdown();
        }
    }

    /** Whoever fires it by name has no request: all messages are wanted. */
    private void named() throws Exception {
        try (Session session = builder().start()) {
            log(1, 0, "nobody");
            session.trigger("failed request");
        }
    }

    /** A request that events of other loggers name, and one that only they know. */
    private void bridged() throws Exception {
        triggers.after(Duration.ofSeconds(1));
        BridgedLogger logger = BridgedLogger.of("app.Server");
        EventOrigin other = new EventOrigin(0, "other", null, null);
        try (Session session = builder().start()) {
            for (int i = 0; i < 100; i++) {
                logger.log(LogLevel.INFO, "query {}", new Object[] {i}, null, Map.of("request_id", i), other);
                note(i == 17 || i == 18 ? 1 : 0, "query " + i + " request_id=" + i);
                try (RequestScope scope = ProtoLog.request(i)) {
                    log(i == 17 ? 1 : 0, i, scope.id());
                    if (i == 17) {
                        scope.fail("no answer");
                        new Request(18).fail("no answer");
                    }
                }
            }
        }
    }

    /** Each session has its own file, and one with other triggers has none. */
    private void sessions() throws Exception {
        Path other = Files.createDirectory(directory.resolve("other"));
        Triggers same = Triggers.to(other.resolve("app.pftrace")).onFailedRequest().after(Duration.ZERO);
        Triggers level = Triggers.to(directory.resolve("level.pftrace")).onLevel(LogLevel.ERROR);
        try (Session one = builder().start();
                Session none = Session.builder().enableAll().triggers(level).start();
                Session stream = Session.builder().file(other.resolve("stream.txt")).enableAll().start()) {
            log(0, 0, "none");
            try (Session two = Session.builder().logFrom(LogLevel.WARN).triggers(same).start(); RequestScope scope = ProtoLog.request("r")) {
                log(1, 0, "r");
                ProtoLog.w(DISK, "a warning");
                note(1, "a warning");
                scope.fail("no answer");
            }
            log(0, 0, "none");
        }
    }

    /** Somebody has a file of the name by the time the file is complete. */
    private void taken() throws Exception {
        Thread other = new Thread(() -> {
            for (Path part = null; part == null;) {
                try (Stream<Path> all = Files.list(directory)) {
                    part = all.filter(it -> it.toString().endsWith(".part") && it.toString().contains(".app.failed-request.2")).findAny().orElse(null);
                    if (part != null) {
                        String name = part.getFileName().toString();
                        Files.createFile(directory.resolve(name.substring(1, name.indexOf(".pftrace") + ".pftrace".length())));
                    }
                } catch (IOException | java.io.UncheckedIOException e) {
                    // A file that was removed meanwhile.
                }
            }
        });
        try (Session session = builder().start()) {
            other.start();
            for (int i = 0; i < 10 * MANY; i++) {
                log(0, i, "none");
            }
            fail(1, "failing");
        }
        other.join();
    }

    /** Until it is killed. */
    private void killed() throws Exception {
        triggers.keepFiles(4);
        Pinned pinned = new Pinned().level(LogLevel.ERROR);
        Session session = builder().bufferBytes(1 << 20).pin(pinned).recordTo(directory.resolve("ring.rec")).start();
        for (int t = 0; t < 2; t++) {
            new Thread(() -> {
                for (int number = 0;; number++) {
                    RequestScope scope = ProtoLog.request("request " + number);
                    for (int step = 0; step < 10; step++) {
                        ProtoLog.d(NET, "%d for %s", step, scope.id());
                    }
                    if (number % 100 == 99) {
                        ProtoLog.e(DISK, "%d for %s", number, scope.id());
                        scope.fail("no answer");
                    }
                    scope.close();
                    ProtoLog.d(NET, "%d for %s", number, "none");
                }
            }).start();
        }
        Thread.sleep(600_000);
        session.stop();
    }
}
