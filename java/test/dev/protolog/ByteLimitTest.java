package dev.protolog;

import static dev.protolog.SelfTest.check;

import dev.protolog.internal.groups.GroupSettings;
import dev.protolog.internal.rules.ByteLimit;
import dev.protolog.internal.rules.SessionSetting;
import dev.protolog.internal.session.SessionLimits;
import dev.protolog.internal.session.Sessions;
import dev.protolog.internal.write.LossCause;
import dev.protolog.internal.write.Losses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Limits of a session's bytes, as Rust's tests have them: what passes is bounded, what does not is
 * counted by group with its times, shown where it happened, also when silence follows.
 */
final class ByteLimitTest {
    private static final int MANY = 40_000;
    private static final int THREADS = 4;
    private static final int KIB = 1 << 10;

    private ByteLimitTest() {}

    /** Groups that no other test has. */
    enum Group implements SilentGroup {
        FLOOD,
        CALM
    }

    static void run(Path vectors) throws Exception {
        for (String[] row : SelfTest.rows(vectors.resolve("byte_limits.tsv"), "limit\tshown\tnanos of 4096, burst")) {
            ByteLimit limit = ByteLimit.parse(row[0]);
            check("limit " + row[0], limit == null ? "" : limit.toString(), row[1]);
            check("parts of " + row[0], limit == null ? "" : limit.nanos(4096) + " " + limit.burst(), row[2]);
        }
        for (String[] row : SelfTest.rows(vectors.resolve("session_settings.tsv"), "text\tsettings")) {
            String read = SessionSetting.parse(row[0]).all().stream().map(Object::toString).collect(Collectors.joining(" | "));
            check("settings of sessions " + row[0], read, row[1]);
        }
        Path folder = Files.createTempDirectory("protolog");
        whatPassesIsBoundedAndTheRestIsCounted(folder.resolve("bounded.pftrace"));
        aThreadGoesOn(folder.resolve("on.pftrace"));
        theRestOfAChunkIsGivenBack(folder.resolve("rest.pftrace"));
        aMessageLargerThanABurst(folder.resolve("large.pftrace"));
        othersAreNotLimited(folder);
        virtualThreads(folder.resolve("virtual.pftrace"));
        switchedFromOutside(folder.resolve("switched.pftrace"));
        noLimit();
    }

    /** A limit holds for sessions that run and later ones, until it is taken back. */
    private static void switchedFromOutside(Path file) throws Exception {
        try (Session session = builder(file).limitBytes("1GiB/s").start()) {
            flood(0, 5_000);
            check("its own", lost(session), 0L);
            apply("sessions limit:1KiB/h:16KiB");
            flood(0, 5_000);
            long lost = lost(session);
            check("an operator's: " + lost, lost > 3_000, true);
            apply("sessions limit:1KiB/h:16KiB");
            flood(0, 5_000);
            check("the same once more fills no bucket", lost(session), lost + 5_000);
            Session later = builder(file.resolveSibling("later.pftrace")).start();
            flood(0, 5_000);
            check("a later one", later.stop().lost() > 3_000, true);
            apply("sessions nolimit");
            long before = lost(session);
            flood(0, 5_000);
            check("none", lost(session), before);
            apply("sessions limit:1KiB/h:16KiB;sessions default");
            check("its own once more", Sessions.running().stream().map(it -> it.bytes().limit().toString()).toList(), List.of("1GiB/s"));
        } finally {
            apply("sessions default");
        }
    }

    private static long lost(Session session) throws IOException {
        return session.running().stats().lost();
    }

    private static void apply(String text) {
        SessionLimits.apply(SessionSetting.parse(text).settings(), GroupSettings.Source.OTHER);
    }

    private static Session.Builder builder(Path file) {
        return Session.builder().file(file).enableAll().reportLosses(false);
    }

    private static void flood(int from, int to) {
        for (int number = from; number < to; number++) {
            ProtoLog.d(Group.FLOOD, "packet %d", number);
        }
    }

    private static void whatPassesIsBoundedAndTheRestIsCounted(Path file) throws Exception {
        long start = System.nanoTime();
        Session session = builder(file).limitBytes("100KiB/s burst 300KiB").start();
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            threads[i] = new Thread(() -> {
                for (int number = 0; number < MANY; number++) {
                    ProtoLog.d(Group.FLOOD, "packet %d of %d", number, MANY);
                    ProtoLog.w(Group.CALM, "slow %d", number);
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        Summary summary = session.stop();
        // A chunk for each thread, and for the file a few bytes of each message and the dictionary.
        double most = 300.0 * KIB + 100.0 * KIB * (System.nanoTime() - start) / 1e9 + THREADS * 4.0 * KIB + 5.0 * summary.messages() + 16.0 * KIB;
        check("bounded: " + summary.bytes() + " of " + most, summary.bytes() < most, true);
        check("and no less: " + summary.bytes(), summary.bytes() > 250 * KIB, true);
        check("each is there or counted", summary.messages() + summary.lost(), 2L * THREADS * MANY);
        List<Losses.Count> losses = limited(file);
        check("the trace says so", losses.stream().mapToLong(Losses.Count::count).sum(), summary.lost());
        check("of both groups", losses.stream().map(Losses.Count::group).distinct().count(), 2L);
        check("with times", losses.stream().allMatch(it -> it.first() > 0 && it.last() >= it.first()), true);
    }

    private static void aThreadGoesOn(Path file) throws Exception {
        Session session = builder(file).limitBytes("20KiB/s burst 8KiB").start();
        flood(0, 5_000);
        long before = session.running().stats().messages();
        check("few pass: " + before, before < 2_000, true);
        Thread.sleep(600);
        flood(5_000, 10_000);
        long start = System.nanoTime();
        long reported = 0;
        while (reported < 8_000 && System.nanoTime() - start < 10_000_000_000L) {
            Thread.sleep(100);
            session.flush();
            reported = limited(file).stream().mapToLong(Losses.Count::count).sum();
        }
        Summary summary = session.stop();
        check("what nothing follows is in the file all the same", reported, summary.lost());
        check("more passed: " + summary.messages() + " after " + before, summary.messages() > before + 200, true);
        check("each is there or counted", summary.messages() + summary.lost(), 10_000L);
    }

    private static void theRestOfAChunkIsGivenBack(Path file) throws Exception {
        Session session = builder(file).limitBytes("1KiB/h burst 32KiB").start();
        for (int i = 0; i < 200; i++) {
            int number = i;
            Thread thread = new Thread(() -> flood(number, number + 1));
            thread.start();
            thread.join();
            if (number % 20 == 0) {
                // Chunks of ended threads are taken back by the drain thread, or for a new one.
                session.flush();
            }
        }
        Summary summary = session.stop();
        check("one message of each thread", List.of(summary.messages(), summary.lost()), List.of(200L, 0L));
    }

    private static void aMessageLargerThanABurst(Path file) throws Exception {
        Object[] texts = new Object[20];
        Arrays.fill(texts, "x".repeat(4_000));
        Session session = builder(file).limitBytes("1KiB/h burst 20KiB").start();
        for (int i = 0; i < 3; i++) {
            ProtoLog.d(Group.FLOOD, "%s".repeat(texts.length), distinct(texts));
        }
        Summary summary = session.stop();
        check("it passes once, whole", List.of(summary.messages(), summary.lost()), List.of(1L, 2L));
        check("its bytes", summary.bytes() > 80_000, true);
    }

    /** Texts that are all new. */
    private static Object[] distinct(Object[] texts) {
        Object[] all = texts.clone();
        for (int i = 0; i < all.length; i++) {
            all[i] = i + (String) all[i];
        }
        return all;
    }

    private static void othersAreNotLimited(Path folder) throws Exception {
        Pinned pinned = new Pinned().level(LogLevel.ERROR).bufferBytes(1 << 20);
        Session one = builder(folder.resolve("one.pftrace")).keepNewest().pin(pinned).limitBytes("1KiB/h:16KiB").start();
        Session two = builder(folder.resolve("two.pftrace")).start();
        for (int number = 0; number < 3_000; number++) {
            ProtoLog.d(Group.FLOOD, "packet %d", number);
            if (number % 10 == 0) {
                ProtoLog.e(Group.CALM, "error %d", number);
            }
        }
        check("another session", two.stop().lost(), 0L);
        Summary summary = one.stop();
        check("each is there or counted", summary.messages() + summary.lost(), 3_300L);
        check("pinned ones and few others: " + summary.messages(), summary.messages() > 300 && summary.messages() < 1_500, true);
        long suppressed = limited(folder.resolve("one.pftrace")).stream().mapToLong(Losses.Count::count).sum();
        check("the trace says so", suppressed, summary.lost());
    }

    /** They share writers, on a JVM that has such threads. */
    private static void virtualThreads(Path file) throws Exception {
        if (Runtime.version().feature() < 21) {
            return;
        }
        Session session = builder(file).limitBytes("1KiB/h burst 20KiB").start();
        for (int i = 0; i < 50; i++) {
            Thread thread = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, (Runnable) () -> flood(0, 100));
            thread.join();
        }
        Summary summary = session.stop();
        check("each is there or counted", summary.messages() + summary.lost(), 5_000L);
        check("few pass: " + summary.messages(), summary.messages() < 3_000, true);
    }

    private static void noLimit() {
        for (String text : List.of("100/s", "", "1MB/s", "1MiB/s:")) {
            try {
                Session.builder().limitBytes(text);
                throw new AssertionError("accepted: " + text);
            } catch (IllegalArgumentException e) {
                String expected = "invalid limit of bytes `" + text + "`; write bytes and a time, as in `1MiB/s` or";
                check("no limit: " + e.getMessage(), e.getMessage().startsWith(expected), true);
            }
        }
    }

    private static List<Losses.Count> limited(Path file) throws IOException {
        try {
            return RulesTest.losses(file).stream().filter(it -> it.cause() == LossCause.LIMITED).toList();
        } catch (IOException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException(e);
        }
    }
}
