package dev.protolog;

import static dev.protolog.SelfTest.check;

import dev.protolog.internal.process.ThreadIdentity;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.List;

/**
 * Spans where nobody records them, where memory or stack is missing, and beside messages. What they
 * look like to readers is in {@code protologtool/tests/java_runtime/spans.rs}.
 */
@SuppressWarnings("try") // Spans are closed, and nothing else is done with them.
final class SpansTest {
    private static final long ID = 0x1122334455667711L;
    private static final int ROUNDS = 10_000;

    private SpansTest() {}

    enum Group implements SilentGroup {
        BRIDGE
    }

    static void run() throws Exception {
        Path directory = Files.createTempDirectory("protolog-spans");
        Path trace = directory.resolve("app.pftrace");
        off();
        try (Session session = Session.builder().file(trace).logFrom(LogLevel.WARN).start()) {
            off();
            check("a level that is not recorded", session.running().stats().lost(), 0L);
        }
        fullStack(trace);
        stopped(trace);
        full(trace);
        for (String name : List.of("app.pftrace", "app.1.pftrace")) {
            Files.deleteIfExists(directory.resolve(name));
        }
        Files.delete(directory);
    }

    /** As rewritten code does it: nothing is allocated. */
    private static void off() {
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = 0;
        // The first round initializes what is asked for.
        for (int round = 0; round < 2; round++) {
            before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < ROUNDS; i++) {
                try (Span span = ProtoLogImpl.isEnabled(Group.BRIDGE, LogLevel.INFO) ? ProtoLogImpl.span(Group.BRIDGE, ID, 1, (long) i) : ProtoLogImpl.noSpan()) {
                    if (span != Span.none()) {
                        throw new AssertionError("a span that is off");
                    }
                }
            }
        }
        long bytes = threads.getCurrentThreadAllocatedBytes() - before;
        check("bytes for spans that are off: " + bytes, bytes < ROUNDS, true);
        check("one that is not rewritten", ProtoLog.span(Group.BRIDGE, "off %d", 1), Span.none());
        check("verbose", ProtoLog.spanV(Group.BRIDGE, "off %d", 1), Span.none());
        check("debug", ProtoLogImpl.spanD(Group.BRIDGE, ID, 1, 1L), Span.none());
    }

    /** Wherever the stack ends, no call throws once it has begun, and later spans are as ever. */
    private static void fullStack(Path trace) throws Exception {
        long[] counts = new long[2];
        try (Session session = Session.builder().file(trace).truncate().enableAll().reportLosses(false).start()) {
            Thread thread = new Thread(null, () -> {
                for (int i = 0; i < 20; i++) {
                    descend(counts);
                }
                try (Span after = ProtoLog.span(Group.BRIDGE, "after")) {
                    ProtoLog.i(Group.BRIDGE, "message %d", 7);
                }
            }, "full stack", 256 << 10);
            thread.start();
            thread.join();
            check("calls without a stack", counts[0] > 0 && counts[1] > 1_000, true);
            Summary summary = session.stop();
            FaultTrace read = FaultTrace.read(List.of(trace), Set.of());
            check("the trace can be read", read.problems, List.of());
            check("the message is there", read.numbers, List.of(7L));
            check("as it says", summary.messages(), 1L);
        }
    }

    private static void descend(long[] counts) {
        try (Span span = ProtoLogImpl.span(Group.BRIDGE, ID, 0, "text")) {
            counts[1]++;
            descend(counts);
        } catch (StackOverflowError e) {
            counts[0]++;
        }
    }

    /** One that outlives its session, or that begins before. */
    private static void stopped(Path trace) throws IOException {
        Span before = ProtoLog.span(Group.BRIDGE, "before");
        Session session = Session.builder().file(trace).truncate().enableAll().start();
        Span within = ProtoLog.span(Group.BRIDGE, "within");
        before.close();
        session.stop();
        within.close();
        within.close();
        check("none before", before, Span.none());
        check("nothing is lost", session.stop().lost(), 0L);
    }

    /** One for which there is no room is counted, as a message is. */
    private static void full(Path trace) throws IOException {
        try (Session session = Session.builder().file(trace).truncate().enableAll().keepFirst().bufferBytes(256 << 10).reportLosses(false).start()) {
            for (int i = 0; i < ROUNDS; i++) {
                try (Span span = ProtoLog.span(Group.BRIDGE, "number %d", i)) {
                    check("it is one", span != Span.none(), true);
                }
            }
            Summary summary = session.stop();
            check("messages", summary.messages(), 0L);
            check("begins and ends that were dropped: " + summary.lost(), summary.lost() > 1_000 && summary.lost() < 2 * ROUNDS, true);
        }
    }
}
