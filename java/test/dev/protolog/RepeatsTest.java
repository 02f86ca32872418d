package dev.protolog;

import static dev.protolog.SelfTest.check;

import dev.protolog.internal.dictionary.Dictionaries;
import dev.protolog.internal.proto.ProtoReader;
import dev.protolog.internal.write.LossCause;
import dev.protolog.internal.write.Losses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;

/**
 * Identical consecutive messages of a call become one and a count, in every kind of session: each
 * message is there or counted, once.
 */
final class RepeatsTest {
    private static final String NET = "group NET";
    private static final long ANSWER = 0x4000_0000_0000_0011L;
    private static final long OTHER = 0x5000_0000_0000_0012L;
    private static final long NUMBERS = 0x6000_0000_0000_0013L;

    private RepeatsTest() {}

    /** Groups that no other test has. */
    enum Group implements SilentGroup {
        NET,
        DISK
    }

    static void run() throws Exception {
        Path dir = Files.createTempDirectory("protolog-repeats");
        try (DictionaryLoader loader = new DictionaryLoader(dictionary())) {
            Dictionaries.addLoader(loader);
            whereTheyWere(dir);
            eachKindOfSession(dir);
            severalThreadsAndSessions(dir);
            requestsAndLimits(dir);
            sampledCalls(dir);
            aFullBuffer(dir);
            aRingThatIsOverwritten(dir);
            exceptions(dir);
            spans(dir);
            whatIsPrinted(dir);
            aTriggersFile(dir);
            rulesEnd(dir);
            wrongSelectors();
        } finally {
            clear();
            for (Path file : files(dir)) {
                Files.delete(file);
            }
            Files.delete(dir);
        }
    }

    private static void clear() {
        RulesTest.apply("site " + NET + "=default;site NET=default;site *=default");
    }

    private static void answer(int count, String from) {
        for (int i = 0; i < count; i++) {
            ProtoLogImpl.w(Group.NET, ANSWER, 0, from);
        }
    }

    /** The count stands behind the message, before the call's next one. */
    private static void whereTheyWere(Path dir) throws Exception {
        for (boolean keeps : new boolean[] {false, true}) {
            Path file = dir.resolve("where.pftrace");
            Session.Builder builder = Session.builder().file(file).truncate().enableAll().repeat(NET);
            Session session = (keeps ? builder.keepNewest() : builder).start();
            ProtoLogImpl.i(Group.DISK, OTHER, 0, "before");
            answer(1000, "a");
            ProtoLogImpl.i(Group.DISK, OTHER, 0, "same");
            answer(500, "a");
            answer(2, "b");
            answer(1, "a");
            ProtoLogImpl.i(Group.DISK, OTHER, 0, "same");
            Summary summary = session.stop();
            check("counts", List.of(summary.messages(), summary.repeated(), summary.lost()), List.of(6L, 1500L, 0L));
            check("where they were, kept: " + keeps, packets(file), List.of("disk", "net", "disk", "1499", "net", "1", "net", "disk"));
            clear();
        }
    }

    private static void eachKindOfSession(Path dir) throws Exception {
        for (String kind : List.of("stream", "segments", "newest", "first", "record", "pinned")) {
            Path file = dir.resolve(kind + ".pftrace");
            Session.Builder builder = Session.builder().file(file).enableAll().repeat("NET");
            switch (kind) {
                case "segments" -> builder.segmentBytes(16 << 10);
                case "newest" -> builder.keepNewest();
                case "first" -> builder.keepFirst();
                case "record" -> builder.recordTo(dir.resolve("record.rec"));
                case "pinned" -> builder.pin(new Pinned().level(LogLevel.WARN));
                default -> check("a stream", kind, "stream");
            }
            Session session = builder.start();
            Random random = new Random(kind.hashCode());
            int calls = 20_000;
            long value = 0;
            for (int i = 0; i < calls; i++) {
                value = random.nextInt(8) == 0 ? random.nextInt(3) : value;
                switch (random.nextInt(3)) {
                    case 0 -> ProtoLogImpl.d(Group.NET, NUMBERS, 0x5, value, i % 500 / 499);
                    case 1 -> answer(1, value == 0 ? "" : "x".repeat(100 * (int) value));
                    default -> ProtoLog.i(Group.NET, "at run time %s", value);
                }
                if (i % 5000 == 0) {
                    session.flush();
                }
            }
            check(kind + ": none is lost", session.running().stats().lost(), 0L);
            Summary summary = session.stop();
            check(kind + ": each is there or counted", List.of(summary.messages() + summary.repeated(), summary.lost()), List.of((long) calls, 0L));
            check(kind + ": many are counted", summary.repeated() > calls / 4, true);
            check(kind + ": reported once", reported(dir, kind), summary.repeated());
            clear();
        }
    }

    private static void severalThreadsAndSessions(Path dir) throws Exception {
        Session first = Session.builder().file(dir.resolve("one.pftrace")).enableAll().repeat(NET).start();
        Session second = Session.builder().file(dir.resolve("two.pftrace")).keepNewest().enableAll().start();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            String from = "thread " + i;
            threads.add(new Thread(() -> {
                for (int j = 0; j < 50; j++) {
                    answer(100, from + j);
                }
            }));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        for (Session session : List.of(first, second)) {
            Summary summary = session.stop();
            check("each in each session", List.of(summary.messages() + summary.repeated(), summary.lost()), List.of(20_000L, 0L));
            check("a message of each run", summary.messages() >= 200 && summary.messages() < 300, true);
        }
        check("reported by a stream", reported(dir, "one"), reported(dir, "two"));
        clear();
    }

    /** Requests end a run; a limit is asked after, and what it suppresses begins none. */
    private static void requestsAndLimits(Path dir) throws Exception {
        Path file = dir.resolve("requests.pftrace");
        Session session = Session.builder().file(file).enableAll().reportLosses(false).repeat("NET").limit("NET", "1/h burst 3").start();
        for (String id : List.of("one", "two")) {
            RequestScope scope = new Request(id).enter();
            answer(10, "a");
            scope.close();
        }
        answer(4, "b");
        answer(4, "c");
        Summary summary = session.stop();
        check("requests and limits", List.of(summary.messages(), summary.repeated(), summary.lost()), List.of(3L, 21L, 4L));
        clear();
    }

    private static void sampledCalls(Path dir) throws Exception {
        Session session = Session.builder().file(dir.resolve("sampled.pftrace")).enableAll().repeat("NET").sample("NET and warn", "1/10").start();
        answer(1000, "a");
        Summary summary = session.stop();
        check("sampled calls are not merged", List.of(summary.messages() + summary.passedOver().get(0).count(), summary.repeated()), List.of(1000L, 0L));
        clear();
    }

    /** A message that found no room is repeated by none. */
    private static void aFullBuffer(Path dir) throws Exception {
        Session session = Session.builder().file(dir.resolve("full.pftrace")).keepFirst().bufferBytes(256 << 10).reportLosses(false).enableAll().repeat(NET).start();
        for (int i = 0; i < 10_000; i++) {
            answer(2, "x".repeat(150) + i);
        }
        Summary summary = session.stop();
        check("there, counted or lost", summary.messages() + summary.repeated() + summary.lost(), 20_000L);
        check("of those that are there", summary.repeated() <= summary.messages() && summary.repeated() + 5 > summary.messages(), true);
        clear();
    }

    /** Packets that were overwritten leave the number by group. */
    private static void aRingThatIsOverwritten(Path dir) throws Exception {
        Path file = dir.resolve("ring.pftrace");
        Session session = Session.builder().file(file).keepNewest().bufferBytes(256 << 10).enableAll().repeat(NET).start();
        for (int i = 0; i < 20_000; i++) {
            answer(3, "round " + i);
            if (i == 10_000) {
                Summary summary = session.snapshot(dir.resolve("snapshot.pftrace"));
                check("so far", List.of(summary.messages() + summary.lost(), summary.repeated()), List.of(10_001L, 20_002L));
                check("a snapshot reports each", reported(dir, "snapshot"), 20_002L);
            }
        }
        Summary summary = session.stop();
        check("overwritten", List.of(summary.messages() + summary.lost(), summary.repeated()), List.of(20_000L, 40_000L));
        check("each once", reported(dir, "ring"), 40_000L);
        check("by group", losses(file).stream().filter(loss -> loss.cause() == LossCause.REPEATED && loss.message() == 0).count(), 1L);
        check("and those that are there", losses(file).stream().filter(loss -> loss.message() == ANSWER && loss.count() == 2).count() > 1000, true);
        clear();
    }

    private static void exceptions(Path dir) throws Exception {
        Session session = Session.builder().file(dir.resolve("exceptions.pftrace")).enableAll().repeat(NET).start();
        IOException one = new IOException("no route");
        IOException other = new IOException("no route to host");
        for (IOException thrown : List.of(one, other)) {
            for (int i = 0; i < 10; i++) {
                ProtoLog.e(Group.NET, "failed at %s", "a", thrown);
            }
        }
        Summary summary = session.stop();
        check("the trace of the exception is compared", List.of(summary.messages(), summary.repeated()), List.of(2L, 18L));
        clear();
    }

    private static void spans(Path dir) throws Exception {
        Path file = dir.resolve("spans.pftrace");
        Session session = Session.builder().file(file).enableAll().repeat(NET).start();
        for (int i = 0; i < 5; i++) {
            ProtoLog.span(Group.NET, "work on %s", "a").close();
        }
        check("spans are no repeats", List.of(session.stop().repeated(), losses(file).size()), List.of(0L, 0));
        clear();
    }

    /** What is printed has each message, and nobody counts what no session records. */
    private static void whatIsPrinted(Path dir) throws Exception {
        String printed = Captured.lines(() -> {
            RulesTest.apply("site NET=repeat,text");
            answer(3, "a");
        });
        check("without a session", printed.lines().count(), 3L);
        Session session = Session.builder().file(dir.resolve("printed.pftrace")).enableAll().start();
        printed = Captured.lines(() -> answer(3, "a"));
        Summary summary = session.stop();
        check("each is printed", List.of(printed.lines().count(), summary.messages(), summary.repeated()), List.of(3L, 1L, 2L));
        clear();
    }

    private static void aTriggersFile(Path dir) throws Exception {
        Path events = Files.createDirectory(dir.resolve("events"));
        Session session = Session.builder().enableAll().repeat(NET).triggers(Triggers.to(events.resolve("app.pftrace")).after(Duration.ofMillis(1))).start();
        answer(10, "a");
        answer(5, "b");
        session.trigger("cause");
        session.stop();
        List<Path> found = files(events);
        check("an event's file", found.size(), 1);
        List<Losses.Count> repeats = losses(found.get(0)).stream().filter(loss -> loss.cause() == LossCause.REPEATED).toList();
        check("its repeats", repeats.stream().map(loss -> loss.count() + " " + (loss.message() == ANSWER)).toList(), List.of("9 true", "4 true"));
        Files.delete(found.get(0));
        Files.delete(events);
        clear();
    }

    private static void rulesEnd(Path dir) throws Exception {
        Path file = dir.resolve("rules.pftrace");
        Session session = Session.builder().file(file).enableAll().start();
        for (String words : List.of("repeat", "norepeat", "repeat,notext", "default")) {
            RulesTest.apply("site " + NET + "=" + words);
            answer(10, "a");
        }
        Summary summary = session.stop();
        check("while there is a rule", List.of(summary.messages(), summary.repeated()), List.of(22L, 18L));
        check("reported by run", losses(file).stream().map(Losses.Count::count).toList(), List.of(9L, 9L));
        clear();
    }

    private static void wrongSelectors() {
        for (String wrong : List.of("NET and", "NET and arg1 == 5")) {
            String problem = "";
            try {
                Session.builder().repeat(wrong);
            } catch (IllegalArgumentException e) {
                problem = e.getMessage();
            }
            check(wrong, problem.contains(wrong.endsWith("and") ? "missing condition" : "limit, rate or `repeat`"), true);
        }
    }

    private static List<Path> files(Path dir) throws IOException {
        try (Stream<Path> all = Files.list(dir)) {
            return all.filter(Files::isRegularFile).sorted().toList();
        }
    }

    /** The repeats that the traces report whose names begin so. */
    private static long reported(Path dir, String name) throws Exception {
        long all = 0;
        for (Path file : files(dir)) {
            if (file.getFileName().toString().startsWith(name) && file.toString().endsWith(".pftrace")) {
                for (Losses.Count loss : losses(file)) {
                    all += loss.cause() == LossCause.REPEATED ? loss.count() : 0;
                }
            }
        }
        return all;
    }

    private static List<Losses.Count> losses(Path file) throws Exception {
        return RulesTest.losses(file);
    }

    /** The messages of a trace, by their groups, and the numbers of repeats, in their order. */
    private static List<String> packets(Path file) throws Exception {
        List<String> all = new ArrayList<>();
        ProtoReader trace = new ProtoReader(Files.readAllBytes(file));
        while (trace.next()) {
            ProtoReader packet = trace.message();
            while (packet.next()) {
                switch (packet.field()) {
                    case 104 -> {
                        ProtoReader message = packet.message();
                        check("an id", message.next(), true);
                        all.add(Map.of(ANSWER, "net", OTHER, "disk").get(message.fixed64()));
                    }
                    case Losses.LOSS -> {
                        Losses.Count loss = Losses.Count.read(Losses.LOSS, packet.message());
                        check("times", loss.first() > 0 && loss.first() <= loss.last(), true);
                        all.add(String.valueOf(loss.count()));
                    }
                    default -> packet.skip();
                }
            }
        }
        return all;
    }

    private static byte[] dictionary() {
        Bytes config = new Bytes();
        for (Group group : Group.values()) {
            long id = Integer.toUnsignedLong(MessageId.ofGroup(MessageId.fullName(group)));
            config.message(2, new Bytes().varint(1, id).string(2, MessageId.fullName(group)).string(3, group.name()));
        }
        add(config, ANSWER, "no answer from %s", 4, Group.NET);
        add(config, OTHER, "full: %s", 3, Group.DISK);
        add(config, NUMBERS, "numbers %d %d", 1, Group.NET);
        return config.done();
    }

    private static void add(Bytes config, long message, String text, int level, Group group) {
        long id = Integer.toUnsignedLong(MessageId.ofGroup(MessageId.fullName(group)));
        config.message(1, new Bytes().fixed64(1, message).string(2, text).varint(3, level).varint(4, id).string(5, "app/Net.java:" + message % 100));
    }
}
