package dev.protolog;

import static dev.protolog.SelfTest.check;

import dev.protolog.internal.process.BootClock;
import dev.protolog.internal.proto.ProtoReader;
import dev.protolog.internal.write.Causes;
import dev.protolog.internal.write.EventKey;
import java.io.IOException;
import java.io.PrintStream;
import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Triggers of a session: what fires them, what is in their files, and how many there are. */
final class TriggersTest {
    private static final int CAUSE_SEQUENCE = 1 << 17;
    private static final Duration SHORT = Duration.ofMillis(30);

    private TriggersTest() {}

    /** Groups that no other test has. */
    enum Group implements SilentGroup {
        CABLE,
        SWITCH
    }

    static void run() throws Exception {
        Path directory = Files.createTempDirectory("protolog-triggers");
        try {
            events(directory.resolve("events"));
            uncaught(directory.resolve("uncaught"));
            window(directory.resolve("window"));
            busy(directory.resolve("busy"));
            suppressed(directory.resolve("suppressed"));
            kept(directory.resolve("kept"));
            failing(directory.resolve("failing"));
            refused(directory.resolve("refused"));
            eventsOfOthers();
            eventsAtOnce(directory.resolve("at-once"));
        } finally {
            try (Stream<Path> all = Files.walk(directory)) {
                for (Path path : all.sorted((one, other) -> other.compareTo(one)).toList()) {
                    Files.delete(path);
                }
            }
        }
    }

    private static Triggers to(Path directory) throws IOException {
        Files.createDirectories(directory);
        return Triggers.to(directory.resolve("app.pftrace")).after(SHORT).interval(Duration.ofMinutes(1));
    }

    private static Session start(Triggers triggers) throws IOException {
        return Session.builder().enableAll().triggers(triggers).start();
    }

    /** Each kind of event makes a file of its own, with its cause, thread and messages. */
    private static void events(Path directory) throws Exception {
        Triggers triggers = to(directory).onLevel(LogLevel.ERROR).onGroup("SWITCH", LogLevel.WARN).onMessage("no answer from %s")
                .onMessage("CABLE and \"torn\" and info");
        try (Session session = start(triggers)) {
            ProtoLog.d(Group.CABLE, "before");
            check("nothing has happened", fired(session), List.of());
            ProtoLog.e(Group.CABLE, "an error");
            ProtoLog.i(Group.SWITCH, "of a lower level");
            ProtoLog.w(Group.SWITCH, "of the group's level");
            ProtoLog.d(Group.CABLE, "no answer from %s", "x");
            ProtoLog.d(Group.CABLE, "torn, below INFO");
            ProtoLog.i(Group.CABLE, "torn at %d", 7);
            check("a cause that somebody names", session.trigger("API call"), true);
            try (Deadline late = new Deadline("slow query", Duration.ZERO); Deadline early = new Deadline("early", Duration.ofHours(1))) {
                Thread.sleep(1);
                check("one that is late, and one that is not", late.isLate() && !early.isLate(), true);
            }
            check("of all sessions", ProtoLog.trigger("operator"), 1);
            check("one without a name", ProtoLog.trigger(" "), 1);
            check("those that fired", fired(session), List.of("error", "SWITCH", "no answer from %s", "CABLE and \"torn\" and info", "API call", "slow query",
                    "operator", "trigger"));
        }
        check("their files", causes(directory), new TreeSet<>(Set.of("error", "switch", "no-answer-from-s", "cable-and-torn-and-info", "api-call", "slow-query",
                "operator", "trigger")));
        for (Path file : files(directory)) {
            FileContent content = FileContent.of(file);
            check("a message about the cause in " + file, content.causes, 1);
            check("messages in " + file, content.messages >= 2, true);
            check("its name has the time", file.getFileName().toString().matches("app\\.[a-z-]+\\.\\d{8}T\\d{6}\\.\\d{3}Z\\.pftrace"), true);
            check("the thread of the event", content.thread, (long) dev.protolog.internal.process.ThreadIdentity.currentId());
        }
    }

    /** Events of another process are known again, several of them. */
    private static void eventsOfOthers() {
        Causes causes = new Causes(List.of(), "shop");
        long now = BootClock.wall();
        List<Boolean> joined = new ArrayList<>();
        for (long nanos : new long[] {0, 1, 0, 1, 2, 0, 2, 1}) {
            joined.add(causes.join(new EventKey(now + nanos, "slow"), 7, null));
        }
        check("the first makes a file", joined, List.of(true, false, false, false, false, false, false, false));
        check("each of the others is counted once", causes.all().get(0).suppressed(), 2L);
    }

    /** Two events within a millisecond are two to others of the family. */
    private static void eventsAtOnce(Path directory) throws Exception {
        String family = "at once " + ProcessHandle.current().pid();
        Set<String> expected = new TreeSet<>();
        try (Session other = start(to(directory.resolve("other")).family(family))) {
            try (Session session = start(to(directory.resolve("own")).family(family))) {
                for (int i = 0; i < 8; i++) {
                    session.trigger("cause " + i);
                    expected.add("joined cause-" + i);
                }
            }
            check("each is known to the other session", new TreeSet<>(fired(other)), expected);
        }
    }

    private static void uncaught(Path directory) throws Exception {
        Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
        AtomicInteger passedOn = new AtomicInteger();
        Thread.setDefaultUncaughtExceptionHandler((thread, thrown) -> passedOn.incrementAndGet());
        try (Session session = start(to(directory).onUncaught())) {
            fail();
            check("the handler before is called", passedOn.get(), 1);
            check("it fires", session.triggerCounts().get(0).fired(), 1L);
        }
        fail();
        check("the handler is there again", passedOn.get(), 2);
        check("one file", causes(directory), new TreeSet<>(Set.of("uncaught")));
        Thread.setDefaultUncaughtExceptionHandler(null);
        PrintStream errors = System.err;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setErr(new PrintStream(printed, true));
        try (Session session = start(to(directory).onUncaught())) {
            fail();
            check("it fires again", session.triggerCounts().get(0).fired(), 1L);
        } finally {
            System.setErr(errors);
        }
        String start = "Exception in thread \"fails\" java.lang.IllegalStateException: on purpose";
        check("without a handler it is printed as ever: " + printed, printed.toString().startsWith(start), true);
        check("no handler is left", Thread.getDefaultUncaughtExceptionHandler() == null, true);
        Thread.setDefaultUncaughtExceptionHandler(before);
    }

    private static void fail() throws InterruptedException {
        Thread thread = new Thread(() -> {
            throw new IllegalStateException("on purpose");
        }, "fails");
        thread.start();
        thread.join();
    }

    /** A file has what was logged before and after, as far as it goes. */
    private static void window(Path directory) throws Exception {
        try (Session session = start(to(directory).before(Duration.ofMillis(200)).after(Duration.ofMillis(300)))) {
            log(5_000);
            Thread.sleep(400);
            log(100);
            session.trigger("now");
            ProtoLog.d(Group.CABLE, "after");
            Path file = await(directory);
            FileContent content = FileContent.of(file);
            // A chunk has some 200 messages: the one before is there as a whole.
            check("messages within the window: " + content.messages, content.messages >= 101 && content.messages < 1000, true);
            check("those before are counted: " + content.overwritten, content.overwritten, 5_101 - content.messages);
        }
    }

    /** What came before the event is there, however much comes after it. */
    private static void busy(Path directory) throws Exception {
        Triggers triggers = to(directory).after(Duration.ofSeconds(2));
        try (Session session = Session.builder().enableAll().bufferBytes(256 << 10).triggers(triggers).start()) {
            log(1000);
            session.trigger("now");
            awaitCopy();
            log(100_000);
            FileContent content = FileContent.of(await(directory));
            check("those before, and the newest: " + content.messages, content.numbers.containsAll(List.of(0L, 1L, 500L, 999L, 99_999L)), true);
            check("each is there or counted", content.messages + content.overwritten, 101_000L);
        }
    }

    /** Waits until a session's thread has copied what there is, and waits for the time after. */
    private static void awaitCopy() throws InterruptedException {
        while (Thread.getAllStackTraces().keySet().stream()
                .noneMatch(it -> it.getName().equals("protolog trigger") && it.getState() == Thread.State.TIMED_WAITING)) {
            Thread.sleep(1);
        }
    }

    private static void suppressed(Path directory) throws Exception {
        try (Session session = start(to(directory).interval(Duration.ofMillis(200)))) {
            for (int i = 0; i < 5; i++) {
                session.trigger("often");
            }
            await(directory);
            check("four came too soon: " + session.triggerCounts(), session.triggerCounts().get(0).suppressed(), 4L);
            long deadline = System.nanoTime() + 10_000_000_000L;
            while (!session.trigger("often") && System.nanoTime() < deadline) {
                Thread.sleep(20);
            }
        }
        List<Path> files = files(directory);
        check("files", files.size(), 2);
        check("the first says how many came since", FileContent.of(files.get(0)).suppressed, 4L);
        check("the second says how many came after it", FileContent.of(files.get(1)).suppressed > 0, true);
    }

    private static void kept(Path directory) throws Exception {
        Path foreign = Files.createDirectories(directory).resolve("app.cause-1.20200101T000000.000Z.pftrace");
        Files.createFile(foreign);
        try (Session session = start(to(directory).keepFiles(2).after(Duration.ZERO))) {
            for (int i = 0; i < 5; i++) {
                session.trigger("cause " + i);
                while (session.triggerCounts().size() <= i || session.triggerCounts().get(i).written() == 0) {
                    Thread.sleep(5);
                }
            }
        }
        check("the newest two, and that of others", causes(directory), new TreeSet<>(Set.of("cause-1", "cause-3", "cause-4")));
        check("it is as it was", Files.size(foreign), 0L);
    }

    private static void failing(Path directory) throws Exception {
        try (Session session = start(to(directory).after(Duration.ZERO))) {
            Path moved = directory.resolveSibling("moved");
            Files.move(directory, moved);
            session.trigger("nowhere");
            while (session.triggerCounts().get(0).failed() == 0) {
                Thread.sleep(5);
            }
            check("the session goes on", session.running().stats().lost(), 0L);
            Files.move(moved, directory);
            session.trigger("there");
        }
        check("the next one is written", causes(directory), new TreeSet<>(Set.of("there")));
        Path left = Files.createFile(directory.resolve(".app.error.20261127T220509.123Z.pftrace.5ac1.part"));
        Path foreign = Files.createFile(directory.resolve(".other.error.20261127T220509.123Z.pftrace.5ac1.part"));
        start(to(directory)).stop();
        check("what a killed process has left goes, and nothing else", List.of(Files.exists(left), Files.exists(foreign)), List.of(false, true));
    }

    private static void refused(Path directory) throws IOException {
        try {
            start(Triggers.to(directory.resolve("app.pftrace")));
            check("a directory that is not there", "accepted", "");
        } catch (IOException e) {
            check("no session is left", ProtoLog.trigger("x"), 0);
        }
        try {
            Session.builder().enableAll().triggers(to(directory)).keepFirst().start();
            check("first messages", "accepted", "");
        } catch (IllegalStateException e) {
            check("it says why", e.getMessage().contains("keepFirst"), true);
        }
        try {
            to(directory).onMessage("CABLE and arg1 == 42");
            check("a condition on an argument", "accepted", "");
        } catch (IllegalArgumentException e) {
            check("it says why", e.getMessage(), "onMessage takes no condition on an argument: `CABLE and arg1 == 42`;"
                    + " name calls, or write a text of a template in quotation marks");
        }
    }

    private static void log(int times) {
        for (int i = 0; i < times; i++) {
            ProtoLog.d(Group.CABLE, "number %d", i);
        }
    }

    private static List<String> fired(Session session) {
        return session.triggerCounts().stream().filter(it -> it.fired() > 0).map(TriggerCounts::cause).toList();
    }

    private static Path await(Path directory) throws Exception {
        while (files(directory).isEmpty()) {
            Thread.sleep(5);
        }
        return files(directory).get(0);
    }

    private static List<Path> files(Path directory) throws IOException {
        try (Stream<Path> all = Files.list(directory)) {
            return all.filter(it -> it.getFileName().toString().startsWith("app.")).sorted().toList();
        }
    }

    private static TreeSet<String> causes(Path directory) throws IOException {
        return files(directory).stream().map(it -> it.getFileName().toString().split("\\.")[1]).collect(Collectors.toCollection(TreeSet::new));
    }

    /** The parts of a file that these tests look at. */
    private static final class FileContent {
        int causes;
        long thread;
        long suppressed;
        long messages;
        long overwritten;
        final List<Long> numbers = new ArrayList<>();

        static FileContent of(Path file) throws Exception {
            FileContent content = new FileContent();
            ProtoReader trace = new ProtoReader(Files.readAllBytes(file));
            while (trace.next()) {
                content.add(trace.message());
            }
            return content;
        }

        private void add(ProtoReader packet) throws Exception {
            long sequence = 0;
            long tid = 0;
            Long number = null;
            boolean isMessage = false;
            while (packet.next()) {
                switch (packet.field()) {
                    case 10 -> sequence = packet.varint();
                    case 104 -> {
                        isMessage = true;
                        ProtoReader message = packet.message();
                        while (message.next()) {
                            if (message.field() == 3) {
                                long value = message.varint();
                                number = value >>> 1 ^ -(value & 1);
                            } else {
                                message.skip();
                            }
                        }
                    }
                    case 1000 -> {
                        ProtoReader info = packet.message();
                        while (info.next()) {
                            if (info.field() == 2) {
                                tid = info.varint();
                            } else {
                                info.skip();
                            }
                        }
                    }
                    case 1001 -> {
                        var loss = dev.protolog.internal.write.Losses.Count.read(packet.field(), packet.message());
                        overwritten += loss.cause() == dev.protolog.internal.write.LossCause.OVERWRITTEN ? loss.count() : 0;
                    }
                    default -> packet.skip();
                }
            }
            if (sequence == CAUSE_SEQUENCE) {
                causes++;
                thread = tid;
                suppressed = number == null ? 0 : number;
            } else if (isMessage) {
                messages++;
                if (number != null) {
                    numbers.add(number);
                }
            }
        }
    }
}
