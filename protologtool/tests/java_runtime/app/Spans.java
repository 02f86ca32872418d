package app;

import static app.AppLog.DISK;
import static app.AppLog.NET;

import dev.protolog.LogLevel;
import dev.protolog.Pinned;
import dev.protolog.ProtoLog;
import dev.protolog.Session;
import dev.protolog.Span;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Spans in all the ways in which they come and go, each in a trace of its own:
 * {@code Spans DIRECTORY WAY...}.
 */
@SuppressWarnings("try")
public final class Spans {
    private static int evaluated;

    private Spans() {}

    public static void main(String[] args) throws Exception {
        for (int i = 1; i < args.length; i++) {
            Session.Builder builder = Session.builder().file(Path.of(args[0], args[i] + ".pftrace")).enableAll();
            switch (args[i]) {
                case "nested" -> run(builder, Spans::nested);
                case "off" -> run(builder.logFrom(LogLevel.WARN).group(DISK, LogLevel.INFO), Spans::off);
                case "levels" -> run(builder.logFrom(LogLevel.DEBUG), Spans::levels);
                case "names" -> run(builder, Spans::names);
                case "order" -> run(builder, Spans::order);
                case "elsewhere" -> run(builder, Spans::elsewhere);
                case "thrown" -> run(builder, Spans::thrown);
                case "deep" -> run(builder, Spans::deep);
                case "long" -> run(builder, Spans::longTexts);
                case "ring" -> run(builder.bufferBytes(256 << 10).pin(new Pinned().level(LogLevel.INFO)), Spans::ring);
                case "random" -> run(builder, Spans::random);
                case "threads" -> run(builder, Spans::threads);
                default -> run(builder, Spans::virtualThreads);
            }
        }
    }

    private interface Work {
        void run() throws Exception;
    }

    private static void run(Session.Builder builder, Work work) throws Exception {
        try (Session session = builder.start()) {
            work.run();
        }
    }

    private static void nested() throws IOException {
        String path = "/a=b";
        try (Span request = ProtoLog.span(NET, "request %s of %d", path, 7)) {
            ProtoLog.i(NET, "in the request");
            try (var lookup = ProtoLog.span(DISK, "lookup: %d %d %f %b %s", -5, Long.MAX_VALUE, 0.5, true, 'x')) {
                ProtoLog.i(NET, "in the lookup");
            }
            try (Span plain = ProtoLog.span(DISK, "plain")) {
                // Nothing.
            }
        }
        ProtoLog.i(NET, "in none");
    }

    private static int next() {
        return ++evaluated;
    }

    private static void off() {
        try (Span off = ProtoLog.span(NET, "off %d", next())) {
            System.out.println(off == Span.none());
        }
        try (Span on = ProtoLog.span(DISK, "on %d", next())) {
            System.out.println(on == Span.none());
        }
    }

    private static void levels() {
        try (Span verbose = ProtoLog.spanV(NET, "verbose"); Span debug = ProtoLog.spanD(NET, "debug %d", 1)) {
            System.out.println(verbose == Span.none());
            try (Span info = ProtoLog.span(NET, "info"); Span warn = ProtoLog.spanW(DISK, "warn"); Span error = ProtoLog.spanE(NET, "error")) {
                try (var wtf = ProtoLog.spanWtf(NET, "wtf")) {
                    ProtoLog.v(NET, "not recorded");
                }
            }
        }
    }

    /** Some have a name, and each kind is there. */
    private static void names() {
        try (Span request = ProtoLog.spanD(NET, "request %(path)s of %d: %(done-part)f%%", "/a", 7, 0.5)) {
            ProtoLog.i(NET, "sent %(bytes)04d of %d to %(host)s", 12, 20, "example");
            String at = "100%";
            try (Span plain = ProtoLog.span(NET, "at %s %(is-last)b", at, true)) {
                ProtoLog.i(DISK, "no name %d%%(x)", 5);
            }
        }
    }

    private static void order() {
        Span outer = ProtoLog.span(NET, "outer");
        Span inner = ProtoLog.span(NET, "inner");
        Span innermost = ProtoLog.span(NET, "innermost");
        inner.close();
        ProtoLog.i(NET, "in outer");
        inner.close();
        outer.close();
        Span next = ProtoLog.span(NET, "next");
        Span deeper = ProtoLog.span(NET, "deeper");
        innermost.close();
        outer.close();
        ProtoLog.i(NET, "in deeper");
        deeper.close();
        next.close();
        ProtoLog.i(NET, "in none");
        next.close();
        ProtoLog.i(NET, "still in none");
    }

    private static void elsewhere() throws InterruptedException {
        for (int round = 0; round < 100; round++) {
            Span left = ProtoLog.span(NET, "left");
            Span within = ProtoLog.span(NET, "within");
            Thread other = new Thread(() -> {
                within.close();
                left.close();
            }, "closes");
            other.start();
            other.join();
        }
        try (Span after = ProtoLog.span(DISK, "after %d %s", 7, "x")) {
            ProtoLog.i(NET, "in after");
        }
    }

    private static void thrown() {
        Object throwing = new Object() {
            @Override
            public String toString() {
                throw new IllegalStateException("on purpose");
            }
        };
        try (Span outer = ProtoLog.span(NET, "outer %s", throwing)) {
            try (Span inner = ProtoLog.span(NET, "inner")) {
                throw new IllegalStateException("on purpose");
            }
        } catch (IllegalStateException e) {
            ProtoLog.i(NET, "caught");
        }
    }

    private static void deep() {
        List<Span> spans = new ArrayList<>();
        for (int i = 0; i < 70; i++) {
            spans.add(ProtoLog.span(NET, "deep %d", i));
        }
        spans.get(0).close();
        spans.forEach(Span::close);
        try (Span last = ProtoLog.span(NET, "last")) {
            ProtoLog.i(NET, "in last");
        }
    }

    private static void longTexts() {
        String text = "\u00e4".repeat(5_000);
        try (Span one = ProtoLog.span(NET, "long %s %s %d", text, "s", 3); Span two = ProtoLog.span(NET, "two %s %s", text, text)) {
            ProtoLog.i(NET, "in two");
        }
    }

    /** Spans are never pinned, and chatter overwrites a part of them. */
    private static void ring() {
        for (int i = 0; i < 20_000; i++) {
            try (Span span = ProtoLog.span(NET, "turn %d", i)) {
                ProtoLog.d(NET, "chatter %d", i);
            }
        }
        ProtoLog.i(NET, "pinned");
    }

    /** By the rule: an end ends all that began later. Prints what a reader should show. */
    private static void random() {
        Random random = new Random(7);
        List<Span> all = new ArrayList<>();
        List<Integer> open = new ArrayList<>();
        for (int step = 0; step < 3_000; step++) {
            if (open.size() < 60 && random.nextInt(5) < 3) {
                System.out.println(open.size() + " random app.AppLog.NET 1=" + all.size());
                open.add(all.size());
                all.add(ProtoLog.span(NET, "random %d", all.size()));
            } else if (!all.isEmpty()) {
                int number = all.size() - 1 - random.nextInt(Math.min(all.size(), 40));
                all.get(number).close();
                if (open.contains(number)) {
                    open.removeIf(it -> it >= number);
                }
            }
        }
        all.forEach(Span::close);
    }

    private static void threads() throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 8; t++) {
            int number = t;
            threads.add(new Thread(() -> work(number, 200), "worker-" + t));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** Without names of Java 21, so that Java 17 compiles it. */
    private static void virtualThreads() throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 200; t++) {
            int number = t;
            Runnable task = () -> work(number, 8);
            threads.add((Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task));
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void work(int thread, int rounds) {
        for (int round = 0; round < rounds; round++) {
            try (Span outer = ProtoLog.span(NET, "outer %d %d", thread, round)) {
                Thread.yield();
                try (Span inner = ProtoLog.span(DISK, "inner %d %d", thread, round)) {
                    ProtoLog.i(NET, "in round %d of %d", round, thread);
                    Thread.yield();
                }
            }
        }
    }
}
