package app;

import dev.protolog.IProtoLogGroup;
import dev.protolog.Init;
import dev.protolog.LogLevel;
import dev.protolog.ProtoLog;
import dev.protolog.ProtoLogImpl;
import dev.protolog.ProtoLogProducer;
import dev.protolog.RequestScope;
import dev.protolog.Session;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.LongFunction;

/**
 * Connects to the tracing service, and does what the lines of its standard input say, with a line
 * {@code @done} after each; at their end it exits. {@code Connected LOGGED JOB}: the file of what
 * it logged, in plain text, and words such as {@code threads=4 count=1000 size=20}.
 */
public final class Connected {
    /** More than anything takes, even on a busy machine. */
    private static final long LONG = 60_000_000_000L;
    private static final long PID = ProcessHandle.current().pid();

    private final Path logged;
    private final String job;
    private long number;
    /** The session of a burst. */
    private Session session;

    private Connected(Path logged, String job) {
        this.logged = logged;
        this.job = job;
    }

    private enum Log implements IProtoLogGroup {
        WORK,
        OTHER;

        @Override
        public String getTag() {
            return name();
        }
    }

    public static void main(String[] args) throws Exception {
        ProtoLog.v(Log.WORK, "before any session");
        ProtoLog.v(Log.OTHER, "before any session");
        if (args[1].contains("settings")) {
            new Init().control(false).start();
        } else if (args[1].contains("init")) {
            new Init().control(false).perfetto().start();
        } else if (args[1].contains("startup=")) {
            ProtoLogProducer.Connect options = new ProtoLogProducer.Connect().startupBuffer((int) word(args[1], "startup", 0));
            options.startupLogFrom(LogLevel.values()[(int) word(args[1], "startup_from", LogLevel.VERBOSE.ordinal())]).start();
        } else {
            ProtoLogProducer.connect();
        }
        Connected program = new Connected(Path.of(args[0]), args[1]);
        say("ready");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ", 2);
            say("done " + program.obey(words[0], words.length > 1 ? words[1] : ""));
        }
    }

    private static void say(String line) {
        System.out.println("@" + line);
    }

    private String obey(String word, String rest) throws Exception {
        switch (word) {
            case "connected" -> await(() -> ProtoLogProducer.status().isConnected());
            case "disconnected" -> {
                await(() -> !ProtoLogProducer.status().isConnected());
                return String.valueOf(ProtoLogProducer.status().lastError());
            }
            case "failed" -> {
                await(() -> ProtoLogProducer.status().lastError() != null);
                return ProtoLogProducer.status().lastError();
            }
            case "sessions" -> await(() -> ProtoLogProducer.status().sessions() == Integer.parseInt(rest));
            case "notice" -> {
                return String.valueOf(ProtoLogProducer.status().notice());
            }
            case "status" -> {
                return String.valueOf(ProtoLogProducer.status());
            }
            case "lost" -> {
                return String.valueOf(ProtoLogProducer.status().lost());
            }
            case "mixed" -> logMixed(Integer.parseInt(rest));
            case "requests" -> logInRequests(Integer.parseInt(rest));
            case "enabled" -> await(() -> ProtoLog.isEnabled(Log.WORK, LogLevel.DEBUG));
            case "disabled" -> await(() -> !ProtoLog.isEnabled(Log.WORK, LogLevel.WTF));
            case "log" -> append(log(rest));
            case "endless" -> logUntilKilled();
            case "levels" -> {
                ProtoLog.v(Log.WORK, "verbose");
                ProtoLog.d(Log.WORK, "debug");
                ProtoLog.wtf(Log.WORK, "fatal");
                ProtoLog.i(Log.OTHER, "other info");
                ProtoLog.wtf(Log.OTHER, "other fatal");
            }
            case "templates" -> logTemplates(rest);
            case "own" -> {
                Session session = Session.builder().file(rest).enableAll().start();
                append(log(""));
                return String.valueOf(session.stop().messages());
            }
            // A rule of the program, which stays.
            case "sample" -> Session.builder().keepNewest().sample("WORK", rest).start().stop();
            case "long" -> ProtoLog.i(Log.WORK, "long %s", "x".repeat(Integer.parseInt(rest)));
            case "interrupt" -> interruptAll();
            case "leave" -> ProtoLogProducer.disconnect();
            case "connect" -> ProtoLogProducer.connect();
            case "threads" -> {
                return String.join(",", runtimeThreads());
            }
            case "memory" -> {
                return String.valueOf(directMemory());
            }
            case "memory-below" -> await(() -> {
                System.gc();
                sleep(50);
                return directMemory() < Long.parseLong(rest);
            });
            case "burst" -> burst(Long.parseLong(rest));
            case "second" -> runSecond();
            case "start" -> {
                return String.valueOf(new ProcessBuilder("sleep", rest).start().pid());
            }
            case "open" -> session = Session.builder().file(rest).enableAll().start();
            case "close" -> session.stop();
            default -> throw new IllegalArgumentException(word);
        }
        return "";
    }

    /** Runs another program of the same classes in this JVM, with a runtime of its own. */
    private static void runSecond() throws Exception {
        URL[] classes = {Connected.class.getProtectionDomain().getCodeSource().getLocation()};
        // It is not closed: the runtime's threads go on.
        URLClassLoader loader = new URLClassLoader(classes, ClassLoader.getPlatformClassLoader());
        Runnable second = (Runnable) loader.loadClass("app.Second").getConstructor().newInstance();
        if (second.getClass() == Second.class) {
            throw new IllegalStateException("the runtime is the same");
        }
        second.run();
    }

    /** Logs once with each of some templates, all of which differ, by their numbers. */
    private static void logTemplates(String numbers) {
        String[] range = numbers.split("\\.\\.");
        for (int number = Integer.parseInt(range[0]); number < Integer.parseInt(range[1]); number++) {
            ProtoLog.i(Log.WORK, "template " + number + " of many, with " + "words ".repeat(12) + " and %d", number);
        }
    }

    /** The memory outside of the heap, of sessions among others. */
    private static long directMemory() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
    }

    private static void await(BooleanSupplier condition) {
        long begun = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - begun > LONG) {
                throw new IllegalStateException(ProtoLogProducer.status().toString());
            }
            sleep(1);
        }
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            // As if it had slept.
        }
    }

    /** The threads of the producer. */
    private static List<String> runtimeThreads() {
        List<String> names = new ArrayList<>();
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().startsWith("protolog-")) {
                names.add(thread.getName() + (thread.isDaemon() ? "" : " that keeps the JVM"));
            }
        }
        names.sort(null);
        return names;
    }

    private static void interruptAll() {
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().startsWith("protolog-")) {
                thread.interrupt();
            }
        }
    }

    /** Logs so many messages of two integers, as the tool makes calls, with pauses between them. */
    private static void burst(long count) throws InterruptedException {
        for (long at = 0; at < count; at++) {
            ProtoLogImpl.d(Log.WORK, 0x1234_5678_9abc_def0L, 0, at, count);
            if (at % 500 == 0) {
                Thread.sleep(0, 200_000);
            }
        }
        Thread.sleep(500);
    }

    private void append(List<String> lines) throws IOException {
        Files.write(logged, lines, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    private long jobWord(String words, String name, long otherwise) {
        return word(words + " " + job, name, otherwise);
    }

    private static long word(String words, String name, long otherwise) {
        for (String each : words.split(" ")) {
            if (each.startsWith(name + "=")) {
                return Long.parseLong(each.substring(name.length() + 1));
            }
        }
        return otherwise;
    }

    /** Logs on several threads, and gives the lines that they logged. */
    private List<String> log(String more) throws InterruptedException {
        long count = jobWord(more, "count", 100);
        long size = jobWord(more, "size", 8);
        long pause = jobWord(more, "pause", 0);
        long threads = jobWord(more, "threads", 1);
        // With `together=1` none ends before all have logged, however slowly they start.
        CountDownLatch busy = new CountDownLatch((int) (threads * jobWord(more, "together", 0)));
        long first = number;
        number += 1_000_000;
        return inThreads(threads, thread -> {
            List<String> lines = new ArrayList<>();
            for (long at = first; at < first + count; at++) {
                String text = "y".repeat((int) (at % (size + 1)));
                ProtoLog.d(Log.WORK, "%d of %d in %d: %s, %f", at, thread, PID, text, at / 4.0);
                lines.add(at + " of " + thread + " in " + PID + ": " + text + ", " + at / 4 + "." + at % 4 * 25 / 10 + at % 4 * 25 % 10 + "0000");
                if (pause > 0) {
                    sleep(pause);
                }
            }
            busy.countDown();
            awaitZero(busy);
            return lines;
        });
    }

    private static void awaitZero(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Messages that say which request they are in. */
    private static void logInRequests(int count) {
        for (int i = 0; i < count; i++) {
            try (RequestScope scope = ProtoLog.request("request " + i)) {
                ProtoLog.d(Log.WORK, "first in %s", scope.id());
                ProtoLog.wtf(Log.WORK, "second in %s", scope.id());
            }
            if (i % 3 == 0) {
                ProtoLog.d(Log.WORK, "in %s", "none");
                ProtoLog.wtf(Log.WORK, "in %s", "none");
            }
        }
    }

    /** Logs at two levels, with texts that the second message shares with the first. */
    private static void logMixed(int number) {
        ProtoLog.d(Log.WORK, "quiet %d %s %s", number, "text-" + number, "text-" + number / 2);
        ProtoLog.wtf(Log.WORK, "fatal %d %s %s", number, "text-" + number, "text-" + number / 2);
    }

    private static List<String> inThreads(long threads, LongFunction<List<String>> work) throws InterruptedException {
        List<Thread> all = new ArrayList<>();
        List<String> lines = new ArrayList<>();
        for (long i = 0; i < threads; i++) {
            long thread = i;
            Thread started = new Thread(() -> {
                List<String> own = work.apply(thread);
                synchronized (lines) {
                    lines.addAll(own);
                }
            });
            started.start();
            all.add(started);
        }
        for (Thread each : all) {
            each.join();
        }
        return lines;
    }

    /** Logs until it is killed. What a thread logged is in the file 150 ms later. */
    private void logUntilKilled() {
        AtomicLong numbers = new AtomicLong();
        for (int i = 0; i < 2; i++) {
            Thread started = new Thread(() -> {
                while (true) {
                    long at = numbers.incrementAndGet();
                    ProtoLog.d(Log.WORK, "%d until the end", at);
                    sleep(150);
                    try {
                        append(List.of(at + " until the end"));
                    } catch (IOException e) {
                        return;
                    }
                }
            });
            started.setDaemon(true);
            started.start();
        }
    }
}
