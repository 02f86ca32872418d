package app;

import static app.AppLog.DISK;
import static app.AppLog.NET;

import dev.protolog.Init;
import dev.protolog.ProtoLog;
import dev.protolog.Session;
import dev.protolog.Summary;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/**
 * A program whose calls say the same again and again: {@code Repeated DIRECTORY random SEED} logs
 * on several threads to two sessions, and writes to the file {@code said} what each has said;
 * {@code Repeated DIRECTORY asked} does what it reads on standard input;
 * {@code Repeated DIRECTORY killed} waits to be killed.
 */
public final class Repeated {
    private static final String LONG = "x".repeat(300);

    private Repeated() {}

    public static void main(String[] args) throws Exception {
        Path directory = Path.of(args[0]);
        switch (args[1]) {
            case "random" -> random(directory, Long.parseLong(args[2]));
            case "asked" -> asked(directory);
            default -> killed(directory);
        }
    }

    private static void random(Path directory, long seed) throws Exception {
        Session stream = Session.builder().file(directory.resolve("stream.pftrace")).enableAll().repeat("NET").start();
        Session ring = Session.builder().file(directory.resolve("ring.pftrace")).keepNewest().bufferBytes(32 << 20).enableAll().start();
        List<String> said = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int number = 0; number < 3; number++) {
            Random random = new Random(seed << 8 | number);
            Thread thread = new Thread(() -> {
                List<String> own = new ArrayList<>();
                log(random, own);
                String name = Thread.currentThread().getName();
                synchronized (said) {
                    own.forEach(text -> said.add(name + "\t" + text));
                }
            }, "t" + number);
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        Files.write(directory.resolve("said"), said);
        for (Session session : List.of(stream, ring)) {
            Summary summary = session.stop();
            System.out.println(summary.messages() + " " + summary.repeated() + " " + summary.lost());
        }
    }

    private static void log(Random random, List<String> said) {
        int[] numbers = new int[2];
        String text = "a";
        for (int i = 0; i < 8_000; i++) {
            if (random.nextInt(5) == 0) {
                numbers[random.nextInt(2)] = random.nextInt(3);
                text = List.of("a", "b", "", LONG).get(random.nextInt(4));
            }
            switch (random.nextInt(4)) {
                case 0 -> {
                    ProtoLog.d(NET, "numbers %d %d", numbers[0], numbers[1]);
                    said.add("numbers " + numbers[0] + " " + numbers[1]);
                }
                case 1 -> {
                    ProtoLog.w(NET, "text %s", text);
                    said.add("text " + text);
                }
                case 2 -> {
                    ProtoLog.i(NET, "both %s %d", text, numbers[1]);
                    said.add("both " + text + " " + numbers[1]);
                }
                default -> {
                    ProtoLog.i(DISK, "disk");
                    said.add("disk");
                }
            }
        }
    }

    private static void answer(int count, String from) {
        for (int i = 0; i < count; i++) {
            ProtoLog.w(NET, "no answer from %s", from);
        }
    }

    private static void asked(Path directory) throws Exception {
        new Init().groups(AppLog.values()).start();
        Session session = Session.builder().file(directory.resolve("app.pftrace")).enableAll().start();
        System.out.println("ready ");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("end"); line = in.readLine()) {
            String[] words = line.split(" ");
            if (words[0].equals("log")) {
                answer(Integer.parseInt(words[1]), words[2]);
            } else {
                Summary summary = session.stop();
                System.err.println(summary.messages() + " " + summary.repeated() + " " + summary.lost());
            }
            System.err.println("---");
        }
    }

    private static void killed(Path directory) throws Exception {
        Session.Builder stream = Session.builder().file(directory.resolve("stream.pftrace"));
        Session.Builder ring = Session.builder().recordTo(directory.resolve("ring.rec"));
        for (Session.Builder each : Stream.of(stream, ring).toList()) {
            each.enableAll().repeat("NET").start();
        }
        answer(10, "a");
        answer(20, "b");
        answer(300, "c");
        System.out.println("ready ");
        Thread.sleep(Long.MAX_VALUE);
    }
}
