package dev.protolog;

import static dev.protolog.SelfTest.check;

import dev.protolog.internal.dictionary.Dictionaries;
import dev.protolog.internal.groups.GroupSettings;
import dev.protolog.internal.proto.ProtoReader;
import dev.protolog.internal.rules.Randomness;
import dev.protolog.internal.rules.Rule;
import dev.protolog.internal.rules.SiteRules;
import dev.protolog.internal.text.LevelSet;
import dev.protolog.internal.write.Losses;
import dev.protolog.internal.write.Routing;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/**
 * Sampling: messages that are kept by chance say at which rate, and the others are counted by group
 * and level, in every kind of session.
 */
final class SamplingTest {
    private static final String RADIO = "group RADIO";
    private static final int CALLS = 20_000;
    /** The calls of a dictionary, by their levels. */
    private static final Map<LogLevel, Long> IDS = new EnumMap<>(LogLevel.class);

    private SamplingTest() {}

    /** Groups that no other test has. */
    enum Group implements SilentGroup {
        RADIO,
        TAPE
    }

    /** What a trace has: messages by rate, 0/0 for none, and those passed over, by level. */
    private record Read(Map<String, Integer> kept, Map<LogLevel, Long> passedOver, double estimate, double variance) {
        long messages() {
            return kept.values().stream().mapToLong(it -> it).sum();
        }
    }

    static void run() throws Exception {
        for (LogLevel level : LogLevel.values()) {
            IDS.put(level, MessageId.of("app/Radio.java", "heard %d", level, MessageId.fullName(Group.RADIO)));
        }
        Path dir = Files.createTempDirectory("protolog-sampling");
        try (DictionaryLoader loader = new DictionaryLoader(dictionary())) {
            Dictionaries.addLoader(loader);
            eachKindOfSession(dir);
            warningsByName(dir);
            atRunTime(dir);
            ratesEnd(dir);
            whatIsPrinted();
            limitedAndSampled(dir);
            byArgument(dir);
            byBytes(dir);
            ratesChangeInFlight(dir);
            cutFiles(dir);
            wrongRates();
        } finally {
            clear();
            for (Path file : files(dir)) {
                Files.delete(file);
            }
            Files.delete(dir);
        }
    }

    private static void eachKindOfSession(Path dir) throws Exception {
        for (String kind : List.of("stream", "segments", "newest", "first", "record")) {
            Path file = dir.resolve(kind + ".pftrace");
            Session.Builder builder = Session.builder().file(file).enableAll().sample(RADIO, "1/100");
            switch (kind) {
                case "segments" -> builder.segmentBytes(16 << 10);
                case "newest" -> builder.keepNewest();
                case "first" -> builder.keepFirst();
                case "record" -> builder.recordTo(dir.resolve("record.rec"));
                default -> check("a stream", kind, "stream");
            }
            Session session = builder.start();
            for (int i = 0; i < CALLS; i++) {
                ProtoLogImpl.d(Group.RADIO, IDS.get(LogLevel.DEBUG), 1, i);
                ProtoLogImpl.i(Group.RADIO, IDS.get(LogLevel.INFO), 1, i);
                if (i == CALLS / 2) {
                    session.flush();
                }
            }
            for (int i = 0; i < 50; i++) {
                ProtoLogImpl.w(Group.RADIO, IDS.get(LogLevel.WARN), 1, i);
                ProtoLog.d(Group.TAPE, "of another group %d", i);
            }
            check(kind + ": none is lost", session.running().stats().lost(), 0L);
            Summary summary = session.stop();
            long passedOver = summary.passedOver().stream().mapToLong(PassedOver::count).sum();
            check(kind + ": each is there or counted", List.of(summary.messages() + passedOver, summary.lost()), List.of(2L * CALLS + 100, 0L));
            check(kind + ": by group", summary.passedOver().stream().allMatch(it -> it.group().endsWith("Group.RADIO")), true);
            Read read = read(Stream.of(files(dir)).flatMap(List::stream).filter(it -> it.getFileName().toString().startsWith(kind)
                    && it.toString().endsWith(".pftrace")).toList());
            check(kind + ": messages", read.messages(), summary.messages());
            check(kind + ": their rates", read.kept.keySet(), Set.of("0/0", "1/100"));
            check(kind + ": others have none", read.kept.get("0/0"), 100);
            for (PassedOver each : summary.passedOver()) {
                check(kind + ": " + each, read.passedOver.get(each.level()), each.count());
            }
            check(kind + ": levels", read.passedOver.keySet(), Set.of(LogLevel.DEBUG, LogLevel.INFO));
            isNear(kind, read, 2L * CALLS);
            clear();
        }
    }

    private static void warningsByName(Path dir) throws Exception {
        Path file = dir.resolve("named.pftrace");
        Session session = Session.builder().file(file).enableAll()
                .sample("RADIO", "1/10").sample("RADIO and warn", "1/1000").sample("RADIO and debug", "1/20").start();
        for (int i = 0; i < 5_000; i++) {
            ProtoLogImpl.d(Group.RADIO, IDS.get(LogLevel.DEBUG), 1, i);
            ProtoLogImpl.i(Group.RADIO, IDS.get(LogLevel.INFO), 1, i);
            ProtoLogImpl.w(Group.RADIO, IDS.get(LogLevel.WARN), 1, i);
            ProtoLogImpl.e(Group.RADIO, IDS.get(LogLevel.ERROR), 1, i);
        }
        Summary summary = session.stop();
        Read read = read(List.of(file));
        check("each is there or counted", summary.messages() + sum(read), 20_000L);
        // `RADIO and debug` is the later rule of INFO as well; ERROR is named by `warn`.
        check("rates", read.kept.keySet(), Set.of("1/20", "1/1000"));
        for (LogLevel level : List.of(LogLevel.WARN, LogLevel.ERROR)) {
            check(level + ": " + read.passedOver, read.passedOver.get(level) >= 4_960 && read.passedOver.get(level) <= 5_000, true);
        }
        isNear("named", read, 20_000);
        clear();
    }

    /** A text that counts how often it is asked for. */
    private static final class Asked {
        private final AtomicInteger times = new AtomicInteger();

        @Override
        public String toString() {
            times.incrementAndGet();
            return "asked";
        }
    }

    private static void atRunTime(Path dir) throws Exception {
        Path file = dir.resolve("run-time.pftrace");
        Session session = Session.builder().file(file).enableAll().sample("\"at run time\"", "1/50").start();
        Asked argument = new Asked();
        Thread thread = new Thread(() -> {
            for (int i = 0; i < CALLS; i++) {
                ProtoLog.d(Group.TAPE, "at run time %s", argument);
            }
        });
        thread.start();
        thread.join();
        ProtoLog.w(Group.TAPE, "at run time, a warning %s", argument);
        Summary summary = session.stop();
        Read read = read(List.of(file));
        check("each is there or counted", summary.messages() + sum(read), CALLS + 1L);
        check("no argument of a message that is passed over is evaluated", (long) argument.times.get(), summary.messages());
        check("rates", read.kept.get("0/0"), 1);
        isNear("at run time", read, CALLS);
        clear();
    }

    private static void ratesEnd(Path dir) throws Exception {
        Path file = dir.resolve("ends.pftrace");
        Session session = Session.builder().file(file).enableAll().sample(RADIO, "1/1000000000").start();
        heard(1_000);
        apply("site group RADIO=sample:100%");
        heard(10);
        apply("site \"heard\"=sample:1/1000000000");
        heard(1_000);
        apply("site \"heard\" and debug=nosample");
        heard(20);
        clear();
        heard(30);
        Summary summary = session.stop();
        Read read = read(List.of(file));
        check("passed over", summary.passedOver().stream().map(PassedOver::count).toList(), List.of(2_000L));
        check("rates of those that are kept for sure", read.kept, Map.of("0/0", 60));
    }

    /** A rate holds for what is printed, too; nobody counts what no session would record. */
    private static void whatIsPrinted() throws IOException {
        try (Session session = Session.builder().keepNewest().logFrom(LogLevel.WTF).start()) {
            apply("site group RADIO=text,sample:1/10");
            String lines = Captured.lines(() -> heard(1_000));
            long printed = lines.lines().filter(it -> it.contains("heard")).count();
            check("lines: " + printed, printed > 40 && printed < 170, true);
            check("counted", session.running().stats().groups().stream().allMatch(it -> it.losses().isEmpty()), true);
            clear();
        }
    }

    private static void limitedAndSampled(Path dir) throws Exception {
        Path file = dir.resolve("limited.pftrace");
        Session session = Session.builder().file(file).reportLosses(false).enableAll().sample(RADIO, "1/10").limit(RADIO, "1/h burst 7").start();
        heard(CALLS);
        Summary summary = session.stop();
        Read read = read(List.of(file));
        check("messages", summary.messages(), 7L);
        check("each is there or counted", summary.messages() + summary.lost() + sum(read), (long) CALLS);
        check("sampled first: " + summary, Math.abs(summary.lost() - CALLS / 10) < 300, true);
        clear();
    }

    /**
     * Messages of one value are kept or passed over together, as a number and as a text; limits
     * count those that are kept; one without the argument is kept.
     */
    private static void byArgument(Path dir) throws Exception {
        Path file = dir.resolve("by.pftrace");
        Session session = Session.builder().file(file).reportLosses(false).enableAll().sample(RADIO, "1/20 by arg1")
                .limit("RADIO and debug-debug", "2/h burst 7").start();
        int kept = 0;
        long threshold = 0xf3_3333_3333_3333L;
        for (int i = 0; i < CALLS; i++) {
            kept += Randomness.of(i) >= threshold ? 1 : 0;
            ProtoLogImpl.d(Group.RADIO, IDS.get(LogLevel.DEBUG), 1, i);
            ProtoLogImpl.i(Group.RADIO, IDS.get(LogLevel.INFO), 1, i);
            ProtoLog.i(Group.RADIO, "request %s of many", Integer.toString(i));
        }
        ProtoLog.i(Group.RADIO, "without a request");
        Summary summary = session.stop();
        check("near one of 20: " + kept, Math.abs(kept - CALLS / 20) < 150, true);
        check("messages", summary.messages(), 7L + 2 * kept + 1);
        check("limited", summary.lost(), kept - 7L);
        Read read = read(List.of(file));
        check("passed over", sum(read), 3L * (CALLS - kept));
        check("rates", read.kept, Map.of("1/20", 7 + 2 * kept, "0/0", 1));
        clear();
    }

    /**
     * The totals are exact, and the weights of those that were kept add up to them within six
     * standard deviations, though threads log and end while the rate changes; also in several
     * sessions.
     */
    /** One byte of so many is kept, and with it its message; long ones are all kept. */
    private static void byBytes(Path dir) throws Exception {
        Path file = dir.resolve("bytes.pftrace");
        Session session = Session.builder().file(file).enableAll().sample(RADIO, "1/512 B").start();
        String page = "p".repeat(512);
        int pages = CALLS / 10;
        int files = 20;
        for (int i = 0; i < CALLS; i++) {
            ProtoLogImpl.d(Group.RADIO, IDS.get(LogLevel.DEBUG), 1, i % 60);
            if (i % 10 == 0) {
                ProtoLog.i(Group.RADIO, "a page %s", page);
            }
            if (i % (CALLS / files) == 0) {
                ProtoLog.i(Group.RADIO, "a file %s", page.repeat(5));
                ProtoLogImpl.w(Group.RADIO, IDS.get(LogLevel.WARN), 1, i);
            }
        }
        Summary summary = session.stop();
        Read read = read(List.of(file));
        long logged = CALLS + pages + 2 * files;
        check("each is there or counted", List.of(summary.messages() + sum(read), summary.lost()), List.of(logged, 0L));
        // More than 4.6 times the interval, and a warning.
        check("those that stand for themselves", read.kept.get("0/0"), 2 * files);
        check("two sizes", read.kept.size(), 3);
        isNear("bytes", read, logged);
        List<Integer> kept = read.kept.values().stream().sorted().toList();
        // 20 bytes of 512, and 542.
        isNear("small ones", CALLS * 0.0383, List.of(kept.get(1), kept.get(2)));
        isNear("pages", pages * 0.6532, List.of(kept.get(1), kept.get(2)));
        clear();
    }

    /** One of the numbers is the expected one. */
    private static void isNear(String what, double expected, List<Integer> found) {
        check(what + ": " + expected + " of " + found, found.stream().anyMatch(it -> Math.abs(it - expected) < 6 * Math.sqrt(expected)), true);
    }

    private static void ratesChangeInFlight(Path dir) throws Exception {
        List<String> rates = List.of("1/20", "1/50", "1/7", "1/200");
        Session one = Session.builder().file(dir.resolve("one.pftrace")).enableAll().sample(RADIO, rates.get(0)).start();
        Session other = Session.builder().file(dir.resolve("other.pftrace")).keepNewest().bufferBytes(16 << 20).enableAll().start();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            threads.add(new Thread(() -> heard(2 * CALLS)));
        }
        AtomicBoolean isDone = new AtomicBoolean();
        Thread changer = new Thread(() -> {
            for (int i = 0; !isDone.get(); i++) {
                apply("site group RADIO=sample:" + rates.get(i % rates.size()));
            }
        });
        threads.forEach(Thread::start);
        changer.start();
        for (Thread thread : threads) {
            thread.join();
        }
        isDone.set(true);
        changer.join();
        for (Session session : List.of(one, other)) {
            Summary summary = session.stop();
            Read read = read(List.of(summary.file()));
            check("each is there or counted", List.of(summary.messages() + sum(read), summary.lost()), List.of(16L * CALLS, 0L));
            check("the summary agrees", summary.passedOver().stream().mapToLong(PassedOver::count).sum(), sum(read));
            check("at several rates", read.kept.size() > 1 && !read.kept.containsKey("0/0"), true);
            isNear("in flight", read, 16L * CALLS);
        }
        clear();
    }

    /** What a cut has taken from the file is reported again, and what it has left is not. */
    private static void cutFiles(Path dir) throws Exception {
        Path file = dir.resolve("cut.pftrace");
        for (boolean isEmptied : List.of(true, false)) {
            Session session = Session.builder().file(file).truncate().reportLosses(false).enableAll().sample(RADIO, "1/1000000000").start();
            heard(1_000);
            session.flush();
            long size = Files.size(file);
            heard(500);
            session.flush();
            Captured.lines(() -> cut(file, isEmptied ? 0 : size));
            heard(200);
            Summary summary = session.stop();
            check("counted: " + isEmptied, summary.passedOver().stream().map(PassedOver::count).toList(), List.of(1_700L));
            check("in the file", sum(read(List.of(file))), 1_700L);
            clear();
        }
    }

    private static void cut(Path file, long size) {
        try (RandomAccessFile cut = new RandomAccessFile(file.toFile(), "rw")) {
            cut.setLength(size);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void wrongRates() {
        for (List<String> wrong : List.of(List.of("net and", "1/2"), List.of("net", "often"))) {
            try {
                Session.builder().sample(wrong.get(0), wrong.get(1));
                check("a wrong rate is refused", wrong, "");
            } catch (IllegalArgumentException e) {
                check("it says what is wrong: " + e.getMessage(), e.getMessage().contains(wrong.get(0).endsWith("and") ? "missing condition" : "`often`"), true);
            }
        }
    }

    private static void isNear(String what, Read read, long expected) {
        double error = Math.sqrt(read.variance);
        check(what + ": an estimate of " + read.estimate + " by " + error, Math.abs(read.estimate - expected) < 6 * error, true);
    }

    private static void heard(int times) {
        for (int i = 0; i < times; i++) {
            ProtoLogImpl.d(Group.RADIO, IDS.get(LogLevel.DEBUG), 1, i);
        }
    }

    private static long sum(Read read) {
        return read.passedOver.values().stream().mapToLong(it -> it).sum();
    }

    private static void apply(String text) {
        SiteRules read = SiteRules.parse(text);
        check("rules are read", read.problems(), List.of());
        Routing.apply(read.items().stream().map(item -> Rule.of(item, GroupSettings.Source.OTHER)).toList());
    }

    private static void clear() {
        for (String selector : List.of(RADIO, "RADIO", "RADIO and warn", "RADIO and debug", "RADIO and debug-debug", "\"at run time\"", "\"heard\"", "\"heard\" and debug")) {
            apply("site " + selector + "=default");
        }
    }

    private static List<Path> files(Path dir) throws IOException {
        try (Stream<Path> files = Files.list(dir)) {
            return files.toList();
        }
    }

    private static Read read(List<Path> files) throws Exception {
        Map<String, Integer> kept = new TreeMap<>();
        Map<LogLevel, Long> passedOver = new EnumMap<>(LogLevel.class);
        double estimate = 0;
        double variance = 0;
        for (Path file : files) {
            for (ProtoReader trace = new ProtoReader(Files.readAllBytes(file)); trace.next();) {
                for (ProtoReader packet = trace.message(); packet.next();) {
                    if (packet.field() == Losses.PASSED_OVER) {
                        readPassedOver(packet.message(), passedOver);
                    } else if (packet.field() == 104) {
                        long[] rate = rate(packet.message());
                        kept.merge(rate[0] + "/" + rate[1], 1, Integer::sum);
                        double weight = rate[0] == 0 ? 0 : (double) rate[1] / rate[0];
                        estimate += weight;
                        variance += weight * Math.max(0, weight - 1);
                    } else {
                        packet.skip();
                    }
                }
            }
        }
        return new Read(kept, passedOver, estimate, variance);
    }

    private static long[] rate(ProtoReader message) throws ProtoReader.MalformedException {
        long[] rate = new long[2];
        while (message.next()) {
            switch (message.field()) {
                case 1001 -> {
                    rate[1] = message.varint();
                    rate[0] = Math.max(rate[0], 1);
                }
                case 1002 -> rate[0] = message.varint();
                default -> message.skip();
            }
        }
        return rate;
    }

    private static void readPassedOver(ProtoReader record, Map<LogLevel, Long> to) throws ProtoReader.MalformedException {
        LogLevel level = null;
        long count = 0;
        while (record.next()) {
            switch (record.field()) {
                case 1 -> check("the group", (int) record.varint() != 0, true);
                case 2 -> level = LevelSet.ofWire(record.varint());
                case 3 -> count = record.varint();
                default -> check("a field of such a record", record.field(), 0);
            }
        }
        to.merge(level, count, Long::sum);
    }

    private static byte[] dictionary() {
        String group = MessageId.fullName(Group.RADIO);
        long id = Integer.toUnsignedLong(MessageId.ofGroup(group));
        Bytes config = new Bytes().message(2, new Bytes().varint(1, id).string(2, group).string(3, "RADIO"));
        IDS.forEach((level, message) -> config.message(1, new Bytes().fixed64(1, message).string(2, "heard %d")
                .varint(3, LevelSet.wire(level)).varint(4, id).string(5, "app/Radio.java:" + (10 + level.ordinal()))));
        return config.done();
    }
}
