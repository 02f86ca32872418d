package dev.protolog;

import static dev.protolog.SelfTest.check;
import static dev.protolog.SelfTest.rows;

import dev.protolog.internal.session.PinnedMessages;
import dev.protolog.internal.write.LossCause;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * Pinned rings: messages that chatter never evicts, in one trace with it; each message is in one
 * ring of each session, and what a ring loses is counted.
 *
 * <p>Numbers of messages tell them apart: those of chatter are less than {@link #ERROR}.
 */
final class PinnedTest {
    private static final int RING = 256 << 10;
    private static final int CHATTER = 100_000;
    private static final long ERROR = 1_000_000_000;

    private PinnedTest() {}

    /** Groups that no other test has. */
    enum Group implements SilentGroup {
        PIPE,
        VALVE,
        GAUGE
    }

    static void run(Path vectors) throws Exception {
        levels(vectors);
        Path directory = Files.createTempDirectory("protolog-pinned");
        try {
            chatterEvictsNoError(directory);
            namedMessages(directory);
            triggers(Files.createDirectory(directory.resolve("triggers")));
            ownOldest(directory);
            threads(directory);
            manyThreads(directory);
            otherSessions(directory);
            rules(directory);
            switches(directory);
            again(Files.createDirectory(directory.resolve("again")));
            refused(directory);
        } finally {
            try (Stream<Path> all = Files.walk(directory)) {
                for (Path path : all.sorted((one, other) -> other.compareTo(one)).toList()) {
                    Files.delete(path);
                }
            }
        }
    }

    private static void levels(Path vectors) throws IOException {
        for (String[] row : rows(vectors.resolve("pinned.tsv"), "pinned\tgroup\tlevels")) {
            Pinned pinned = new Pinned();
            for (String part : row[0].split(";")) {
                String[] words = part.split(" ");
                LogLevel level = LogLevel.valueOf(words[words.length - 1]);
                pinned = words.length == 1 ? pinned.level(level) : pinned.group(words[0], level);
            }
            check("levels of `" + row[1] + "` by `" + row[0] + "`", HexFormat.of().toHexDigits((byte) pinned.settings().of(row[1])), row[2]);
        }
        check("nothing", new Pinned().settings(), new PinnedMessages(0, List.of(), RING));
    }

    private static Session.Builder builder(Path directory) {
        return Session.builder().file(directory.resolve("app.pftrace")).truncate().enableAll().bufferBytes(RING).reportLosses(false);
    }

    private static Pinned pinned() {
        return new Pinned().level(LogLevel.ERROR);
    }

    private static void chatter() {
        for (int i = 0; i < CHATTER; i++) {
            ProtoLog.d(Group.PIPE, "chatter %d", i);
        }
    }

    private static void error(long number) {
        ProtoLog.e(Group.VALVE, "error %d, %s", ERROR + number, ERROR + number + ". text");
    }

    /** The trace with this name, of so many messages, each of which is there or counted. */
    private static FaultTrace trace(Path file, long logged) throws Exception {
        FaultTrace trace = FaultTrace.read(List.of(file), Set.of());
        check("what a reader can't make sense of", trace.problems, List.of());
        check("messages that are there or counted", trace.messages + trace.lost(), logged);
        return trace;
    }

    private static FaultTrace stop(Session session, Path directory, long logged) throws Exception {
        Summary summary = session.stop();
        FaultTrace trace = trace(directory.resolve("app.pftrace"), logged);
        check("those of the summary", List.of(summary.messages(), summary.lost()), List.of(trace.messages, trace.lost()));
        return trace;
    }

    private static List<Long> errors(FaultTrace trace) {
        return trace.numbers.stream().filter(it -> it >= ERROR).map(it -> it - ERROR).sorted().toList();
    }

    private static List<Long> upTo(long count) {
        return LongStream.range(0, count).boxed().toList();
    }

    private static void chatterEvictsNoError(Path directory) throws Exception {
        try (Session session = builder(directory).keepNewest().start()) {
            error(0);
            chatter();
            check("without a pinned ring it does", errors(stop(session, directory, CHATTER + 1)), List.of());
        }
        // In memory, and in a file.
        for (boolean records : new boolean[] {false, true}) {
            Session.Builder builder = builder(directory);
            try (Session session = (records ? builder.recordTo(directory.resolve("app.rec")) : builder).pin(pinned()).start()) {
                error(0);
                chatter();
                Path snapshot = directory.resolve("snapshot.pftrace");
                check("messages of a snapshot", session.snapshot(snapshot).messages() > 5_000, true);
                FaultTrace trace = trace(snapshot, CHATTER + 1);
                check("a snapshot has the error", errors(trace), List.of(0L));
                check("and the newest others", trace.numbers.contains(CHATTER - 1L) && !trace.numbers.contains(0L), true);
                error(1);
                trace = stop(session, directory, CHATTER + 2);
                check("the trace has both", errors(trace), List.of(0L, 1L));
            }
        }
    }

    private static void namedMessages(Path directory) throws Exception {
        Pinned pinned = new Pinned().level(LogLevel.WARN).group("GAUGE", LogLevel.INFO).group(Group.VALVE, LogLevel.WTF);
        try (Session session = builder(directory).pin(pinned).start()) {
            ProtoLog.i(Group.GAUGE, "of the group %d", ERROR);
            ProtoLog.w(Group.PIPE, "of the level %d", ERROR + 1);
            ProtoLog.w(Group.VALVE, "of the level, too %d", ERROR + 2);
            ProtoLogImpl.e(Group.GAUGE, FaultSweep.ID, 1, ERROR + 3);
            ProtoLog.i(Group.VALVE, "of none %d", ERROR + 4);
            ProtoLog.d(Group.GAUGE, "below that of the group %d", ERROR + 5);
            chatter();
            session.stop();
            FaultTrace trace = FaultTrace.read(List.of(directory.resolve("app.pftrace")), Set.of(FaultSweep.ID));
            check("what was named", errors(trace), upTo(4));
            check("all are there or counted", trace.messages + trace.lost(), CHATTER + 6L);
        }
    }

    private static void triggers(Path directory) throws Exception {
        Triggers triggers = Triggers.to(directory.resolve("app.pftrace")).beforeBytes(8 << 10).after(Duration.ofHours(1)).onLevel(LogLevel.WTF)
                .onGroup("GAUGE", LogLevel.WARN);
        try (Session session = Session.builder().enableAll().bufferBytes(RING).triggers(triggers).pin(pinned()).start()) {
            // Some chunks.
            for (int i = 0; i < 500; i++) {
                error(i);
            }
            chatter();
            ProtoLog.wtf(Group.GAUGE, "the event %d", ERROR + 500);
            check("each cause fires once", session.triggerCounts().stream().map(it -> it.fired() + it.suppressed()).toList(), List.of(1L, 1L));
            check("so does one that somebody names", ProtoLog.trigger("now"), 1);
        }
        List<Path> files;
        try (Stream<Path> all = Files.list(directory)) {
            files = all.sorted().toList();
        }
        check("files", files.size(), 3);
        for (Path file : files) {
            FaultTrace trace = FaultTrace.read(List.of(file), Set.of());
            check("errors of " + file, errors(trace), upTo(501));
            check("what is there or counted, with the message about the cause", trace.messages + trace.lost(), CHATTER + 502L);
        }
    }

    private static void ownOldest(Path directory) throws Exception {
        try (Session session = builder(directory).pin(pinned().bufferBytes(RING)).start()) {
            ProtoLog.d(Group.PIPE, "of the usual ring %d", 7);
            for (int i = 0; i < CHATTER; i++) {
                ProtoLog.e(Group.PIPE, "error %d", ERROR + i);
            }
            FaultTrace trace = stop(session, directory, CHATTER + 1);
            check("the other ring has what it had", trace.numbers.contains(7L), true);
            check("the newest are there", trace.numbers.contains(ERROR + CHATTER - 1) && !trace.numbers.contains(ERROR), true);
            check("the others are counted as overwritten", trace.losses.get(LossCause.OVERWRITTEN), trace.lost());
        }
    }

    private static void threads(Path directory) throws Exception {
        try (Session session = builder(directory).pin(pinned().bufferBytes(1 << 20)).start()) {
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < 8; t++) {
                int first = 100 * t;
                threads.add(new Thread(() -> {
                    for (int i = 0; i < CHATTER / 10; i++) {
                        ProtoLog.d(Group.PIPE, "chatter %d", i);
                        if (i % 100 == 0) {
                            error(first + i / 100);
                        }
                    }
                }));
            }
            threads.forEach(Thread::start);
            for (Thread thread : threads) {
                thread.join();
            }
            check("no thread loses an error", errors(stop(session, directory, 8 * (CHATTER / 10 + 100))), upTo(800));
        }
    }

    /**
     * More threads than a ring has chunks, and than there are sequences of their own: those that
     * ended are used again, though the first message of each thread is for the other ring.
     */
    private static void manyThreads(Path directory) throws Exception {
        int count = 1_200;
        try (Session session = builder(directory).pin(pinned()).start()) {
            for (int i = 0; i < count; i++) {
                int number = i;
                Thread thread = new Thread(() -> {
                    ProtoLog.d(Group.PIPE, "debug %d", number);
                    error(number);
                });
                thread.start();
                thread.join();
            }
            List<Long> errors = errors(stop(session, directory, 2 * count));
            check("the newest error is there", errors.get(errors.size() - 1), count - 1L);
        }
    }

    /** Each session has each message once. */
    private static void otherSessions(Path directory) throws Exception {
        Path other = Files.createDirectory(directory.resolve("other"));
        try (Session ring = builder(directory).pin(pinned()).start()) {
            error(0);
            try (Session stream = Session.builder().file(other.resolve("app.pftrace")).logFrom(LogLevel.WARN).start()) {
                for (int i = 1; i < 1000; i++) {
                    error(i);
                    ProtoLog.d(Group.PIPE, "debug %d", i);
                }
                check("of a stream", stop(stream, other, 999).messages, 999L);
            }
            chatter();
            check("of the ring", errors(stop(ring, directory, CHATTER + 1999)), upTo(1000));
        }
    }

    /** A call that a rule switches on is in one ring of a session that records nothing else. */
    private static void rules(Path directory) throws Exception {
        RulesTest.apply("site \"error by rule %d\"=on;site \"debug by rule %d\"=on");
        try (Session session = builder(directory).logFrom(LogLevel.WTF).pin(pinned()).start()) {
            for (int i = 0; i < CHATTER; i++) {
                if (i % 1000 == 0) {
                    ProtoLog.e(Group.VALVE, "error by rule %d", ERROR + i / 1000);
                }
                ProtoLog.e(Group.VALVE, "not recorded %d", i);
                ProtoLog.d(Group.PIPE, "debug by rule %d", i);
            }
            check("errors by a rule", errors(stop(session, directory, CHATTER + CHATTER / 1000)), upTo(CHATTER / 1000));
        } finally {
            RulesTest.apply("site \"error by rule %d\"=default;site \"debug by rule %d\"=default");
        }
    }

    /** What changes beside a session that pins changes nothing in it. */
    private static void switches(Path directory) throws Exception {
        Path other = directory.resolve("other");
        boolean[] isOver = {false};
        long[] logged = {0};
        try (Session session = builder(directory).pin(pinned().bufferBytes(64 << 20)).start()) {
            Thread thread = new Thread(() -> {
                while (!isOver[0]) {
                    ProtoLog.d(Group.PIPE, "debug %d", logged[0]);
                    error(logged[0]++);
                    if (logged[0] % 16 == 0) {
                        Thread.yield();
                    }
                }
            });
            thread.start();
            for (int i = 0; i < 20; i++) {
                Session.builder().file(other.resolve("app.pftrace")).truncate().enableAll().start().close();
                session.snapshot(other.resolve("snapshot.pftrace"));
            }
            isOver[0] = true;
            thread.join();
            FaultTrace trace = stop(session, directory, 2 * logged[0]);
            check("each error is there, once", errors(trace), upTo(logged[0]));
        }
    }

    /** A run after another one at the same path, and a recording at that of another one. */
    private static void again(Path directory) throws Exception {
        for (int run = 0; run < 3; run++) {
            Session.Builder builder = Session.builder().file(directory.resolve("app.pftrace")).enableAll().bufferBytes(RING).keepPrevious(1);
            Session session = builder.pin(pinned()).recordTo(directory.resolve("app.rec")).start();
            check("its recording", session.recording(), directory.resolve("app.rec"));
            error(run);
            chatter();
            session.stop();
        }
        check("the newest run", errors(trace(directory.resolve("app.pftrace"), CHATTER + 1)), List.of(2L));
        check("the one before", errors(trace(directory.resolve("app.1.pftrace"), CHATTER + 1)), List.of(1L));
        try (Stream<Path> all = Files.list(directory)) {
            check("no other file", all.count(), 2L);
        }
    }

    private static void refused(Path directory) throws IOException {
        refused("keepFirst is not for a session with pinned messages", builder(directory).pin(pinned()).keepFirst());
        refused("no message is pinned", builder(directory).pin(new Pinned().bufferBytes(1 << 20)));
        refused("segmentBytes is for sessions that stream", builder(directory).pin(pinned()).segmentBytes(1 << 20));
        try {
            new Pinned().bufferBytes(64 << 10);
            check("a small ring", "accepted", "");
        } catch (IllegalArgumentException e) {
            check("it says why", e.getMessage(), "bufferBytes(65536) is not from 262144 to 1073741824");
        }
    }

    private static void refused(String why, Session.Builder builder) throws IOException {
        try {
            builder.start().close();
            check(why, "accepted", "");
        } catch (IllegalStateException e) {
            check("it says why: " + e.getMessage(), e.getMessage().startsWith(why), true);
        }
    }
}
