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
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Logs in requests, each way into a trace of its own: {@code Requests DIRECTORY WAY...}. Each
 * message ends with the id of the request that it belongs to, or {@code none}.
 */
@SuppressWarnings("try")
public final class Requests {
    private static final int MANY = 20_000;
    private static Session recording;

    private Requests() {}

    private interface Work {
        void run() throws Exception;
    }

    public static void main(String[] args) throws Exception {
        for (int i = 1; i < args.length; i++) {
            Path file = Path.of(args[0], args[i], "app.pftrace");
            file.getParent().toFile().mkdir();
            Session.Builder builder = Session.builder().file(file).enableAll().reportLosses(false);
            Work work = work(args[i], builder, file.resolveSibling("other.pftrace"));
            try (Session session = builder.start()) {
                recording = session;
                work.run();
            }
        }
    }

    private static Work work(String way, Session.Builder builder, Path other) {
        return switch (way) {
            case "nested" -> Requests::nested;
            case "deep" -> Requests::deep;
            case "leaked" -> Requests::leaked;
            case "empty" -> Requests::empty;
            case "elsewhere" -> Requests::elsewhere;
            case "threads" -> Requests::threads;
            case "tasks" -> Requests::tasks;
            case "virtual" -> Requests::virtual;
            case "bridged" -> Requests::bridged;
            case "pinned" -> {
                builder.bufferBytes(1 << 20).pin(new Pinned().level(LogLevel.ERROR));
                yield () -> pinned(other);
            }
            case "ring" -> {
                builder.bufferBytes(256 << 10).keepNewest();
                yield Requests::ring;
            }
            case "segments" -> {
                builder.segmentBytes(16 << 10);
                yield Requests::thirds;
            }
            case "compressed" -> {
                builder.compress(6);
                yield Requests::thirds;
            }
            case "cut" -> {
                yield () -> cut(other.resolveSibling("app.pftrace"));
            }
            default -> throw new IllegalArgumentException(way);
        };
    }

    private static void note(String request) {
        ProtoLog.i(NET, "in %s", request);
    }

    private static void nested() {
        note("none");
        RequestScope one = ProtoLog.request("one");
        note("one");
        Request two = new Request(2);
        try (RequestScope scope = two.enter()) {
            note("2");
            try (RequestScope again = one.request().enter()) {
                note(again.id());
            }
            note("2");
            scope.close();
            note("one");
        }
        note("one");
        same(Request.current(), one.request());
        RequestScope inner = two.enter();
        one.close();
        note("2");
        RequestScope last = ProtoLog.request("last");
        inner.close();
        note("last");
        last.close();
        last.close();
        note("none");
        same(Request.current(), null);
        try (RequestScope thrown = ProtoLog.request("thrown")) {
            thrown.keepIfFailed(() -> {
                note("thrown");
                throw new IllegalStateException();
            });
        } catch (IllegalStateException e) {
            note("none");
        }
        try (RequestScope ofNothing = ProtoLog.request(null)) {
            note("null");
        }
    }

    private static void deep() {
        Request outer = new Request("ä".repeat(100));
        List<RequestScope> scopes = new ArrayList<>(List.of(outer.enter()));
        note(outer.id());
        for (int depth = 1; depth < 64; depth++) {
            scopes.add(ProtoLog.request(depth));
        }
        note("63");
        scopes.stream().skip(1).forEach(RequestScope::close);
        note(outer.id());
        for (int depth = 1; depth < 100; depth++) {
            scopes.add(ProtoLog.request("forgotten"));
        }
        note("forgotten");
        scopes.forEach(RequestScope::close);
        note("none");
    }

    /**
     * Code on a pool's thread that closes no scope, as after an exception: the next request is
     * marked all the same.
     */
    private static void leaked() throws Exception {
        ExecutorService pool = Executors.newSingleThreadExecutor();
        for (int i = 0; i < 1000; i++) {
            String id = "request " + i;
            pool.submit(() -> {
                RequestScope scope = ProtoLog.request(id);
                note(scope.id());
                throw new IllegalStateException();
            });
        }
        pool.submit(() -> {
            try (RequestScope last = ProtoLog.request("last")) {
                note("last");
            }
        }).get();
        pool.shutdown();
    }

    private static void empty() {
        note("none");
        for (int i = 0; i < 1000; i++) {
            try (RequestScope scope = ProtoLog.request("empty " + i)) {
                same(scope.request(), Request.current());
            }
        }
        note("none");
    }

    /** A scope that another thread closes ends when its own thread enters or leaves one next. */
    private static void elsewhere() throws Exception {
        RequestScope left = ProtoLog.request("left");
        note("left");
        Thread thread = new Thread(left::close);
        thread.start();
        thread.join();
        same(Request.current(), null);
        note("none");
        try (RequestScope next = ProtoLog.request("next")) {
            note("next");
        }
        note("none");
    }

    private static void threads() throws Exception {
        List<Request> requests = List.of(new Request("a"), new Request("b"), new Request("c"), new Request("d"));
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 8; t++) {
            int number = t;
            threads.add(new Thread(() -> {
                for (int turn = 0; turn < 200; turn++) {
                    Request request = requests.get((number + turn) % requests.size());
                    note("none");
                    try (RequestScope scope = request.enter(); Span span = ProtoLog.span(DISK, "turn %d", turn)) {
                        note(scope.id());
                    }
                }
            }));
        }
        run(threads);
    }

    private static void run(List<Thread> threads) throws InterruptedException {
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** A task that hands in the next one. */
    private static void repeated(Executor executor, CountDownLatch left, String id) {
        note(id);
        left.countDown();
        if (left.getCount() > 0) {
            executor.execute(() -> repeated(executor, left, id));
        }
    }

    /** Pools, of which one erases the locals of its threads, and futures. */
    private static void tasks() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(3);
        ExecutorService carrying = Request.wrapTasks(pool);
        Executor common = Request.wrapTasks((Executor) ForkJoinPool.commonPool());
        List<Future<?>> tasks = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            String id = "task " + i;
            try (RequestScope scope = ProtoLog.request(id)) {
                tasks.add(pool.submit(scope.request().wrap(() -> {
                    note(id);
                    // Nobody closes it: it ends with the task.
                    ProtoLog.request("left");
                    note("left");
                })));
                Callable<String> wrapped = scope.request().wrap(() -> Request.current().id());
                tasks.add(pool.submit(() -> same(wrapped.call(), id)));
                tasks.add(carrying.submit(() -> note(id)));
                tasks.addAll(carrying.invokeAll(List.of(() -> Request.current().id())));
                tasks.add(CompletableFuture.runAsync(() -> note(id), common).thenRunAsync(() -> note("none"), pool));
            }
            tasks.add(carrying.submit(() -> note("none")));
        }
        try (RequestScope scope = ProtoLog.request("repeated")) {
            CountDownLatch ours = new CountDownLatch(10);
            carrying.execute(() -> repeated(carrying, ours, "repeated"));
            ours.await();
            CountDownLatch nobodys = new CountDownLatch(10);
            pool.execute(() -> repeated(pool, nobodys, "none"));
            nobodys.await();
        }
        for (Future<?> task : tasks) {
            task.get();
        }
        carrying.shutdown();
        same(carrying.awaitTermination(10, TimeUnit.SECONDS) && pool.isShutdown(), true);
    }

    /** Events of another logger, whose context names their requests, some of other threads. */
    private static void bridged() {
        BridgedLogger logger = BridgedLogger.of("app.Server");
        EventOrigin other = new EventOrigin(0, "other", null, null);
        Map<String, String> one = Map.of("request_id", "one", "user", "ann");
        for (int i = 0; i < 3; i++) {
            logger.log(LogLevel.INFO, "in one", null, null, one);
            logger.log(LogLevel.INFO, "in {}", new Object[] {"one"}, null, one, other);
            logger.log(LogLevel.INFO, "in two", null, null, Map.of("request_id", "two"), other);
            logger.log(LogLevel.INFO, "in none", null, null, Map.of("user", "ann"));
            try (RequestScope scope = ProtoLog.request("own")) {
                logger.log(LogLevel.INFO, "in own", null, null, null);
                logger.log(LogLevel.INFO, "in one", null, null, one);
                // What another thread has logged is none of this one's request.
                logger.log(LogLevel.INFO, "in none", null, null, null, other);
                note(scope.id());
            }
        }
        String cut = "x".repeat(61) + "…";
        logger.log(LogLevel.INFO, "in {}", new Object[] {cut}, null, Map.of("request_id", "x".repeat(70)));
        logger.log(LogLevel.INFO, "in {}", new Object[] {cut}, null, Map.of("request_id", "x".repeat(70)));
    }

    /** Without names of Java 21, so that Java 17 compiles it. */
    private static void virtual() throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 2000; t++) {
            Request request = new Request("of " + t % 100);
            Runnable task = request.wrap(() -> {
                note(request.id());
                // Perhaps another thread of the kernel goes on.
                sleep();
                try (Span span = ProtoLog.span(DISK, "virtual")) {
                    note(request.id());
                }
            });
            Runnable whole = () -> {
                note("none");
                task.run();
                note("none");
            };
            threads.add((Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, whole));
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void sleep() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void pinned(Path other) throws Exception {
        rounds(50);
        try (Session stream = Session.builder().file(other).enableAll().start()) {
            rounds(50);
        }
        rounds(50);
    }

    private static void rounds(int count) {
        for (int i = 0; i < count; i++) {
            note("none");
            try (RequestScope scope = ProtoLog.request("r")) {
                ProtoLog.e(DISK, "in r");
                note("r");
                ProtoLog.e(DISK, "in r");
            }
            ProtoLog.e(DISK, "in none");
            ProtoLog.e(DISK, "in none");
        }
    }

    /** A chunk says by itself which request its thread is in, whatever was overwritten. */
    private static void ring() {
        try (RequestScope scope = ProtoLog.request("long")) {
            for (int i = 0; i < MANY; i++) {
                ProtoLog.d(NET, "%d: in long", i);
            }
            // It crosses chunks.
            ProtoLog.d(NET, "%s: in long", "x".repeat(4000) + "y".repeat(90));
            note("long");
        }
    }

    /** A third of the messages is in a request; files begin within a chunk of it. */
    private static void thirds() throws Exception {
        for (int i = 0; i < MANY; i += 100) {
            boolean isIn = i / 100 % 3 == 0;
            try (RequestScope scope = isIn ? ProtoLog.request("third") : null) {
                for (int n = 0; n < 100; n++) {
                    note(isIn ? "third" : "none");
                    if (n == 50) {
                        recording.flush();
                    }
                }
            }
        }
    }

    /** The file is emptied while a chunk of a request is half written to it. */
    private static void cut(Path file) throws Exception {
        try (RequestScope scope = ProtoLog.request("cut")) {
            for (int i = 0; i < 30; i++) {
                note("cut");
                Thread.sleep(100);
                if (i == 15) {
                    new java.io.FileOutputStream(file.toFile()).close();
                }
            }
        }
        note("none");
    }

    private static Object same(Object actual, Object expected) {
        if (actual == null ? expected != null : !actual.equals(expected)) {
            throw new AssertionError(actual + ", not " + expected);
        }
        return actual;
    }
}
