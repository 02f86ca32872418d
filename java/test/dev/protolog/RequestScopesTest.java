package dev.protolog;

import static dev.protolog.SelfTest.check;

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What requests cost, and what is left of them where there is no stack. What they mark is in
 * {@code protologtool/tests/java_runtime/requests.rs}.
 */
final class RequestScopesTest {
    private static final int ROUNDS = 20_000;
    private static final long ID = 0x1122334455667799L;
    /** More than a scope takes, with its wrapping. */
    private static final long SCOPE = 64;

    private RequestScopesTest() {}

    /** A group that no other test has. */
    enum Group implements SilentGroup {
        TUNNEL
    }

    static void run() throws Exception {
        Path directory = Files.createTempDirectory("protolog-requests");
        try {
            allocation(directory.resolve("app.pftrace"));
            fullStack(directory.resolve("app.pftrace"));
        } finally {
            try (Stream<Path> all = Files.walk(directory)) {
                for (Path path : all.sorted((one, other) -> other.compareTo(one)).toList()) {
                    Files.delete(path);
                }
            }
        }
    }

    /** Something that is done again and again. */
    private interface Step {
        void run(int round);
    }

    private static long allocated(Step step) {
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = 0;
        // The first round initializes what is asked for.
        for (int round = 0; round < 2; round++) {
            before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < ROUNDS; i++) {
                step.run(i);
            }
        }
        return threads.getCurrentThreadAllocatedBytes() - before;
    }

    private static void log(int number) {
        ProtoLogImpl.i(Group.TUNNEL, ID, 5, number, 7L);
    }

    /** A message allocates nothing, in a request or not; a scope is one object. */
    private static void allocation(Path trace) throws Exception {
        Session.Builder builder = Session.builder().file(trace).truncate().enableAll().keepNewest().reportLosses(false);
        try (Session session = builder.start()) {
            long none = allocated(RequestScopesTest::log);
            check("bytes for messages without a request: " + none, none < ROUNDS, true);
            Request request = new Request("GET /");
            try (RequestScope scope = request.enter()) {
                check("it is in the request", Request.current(), scope.request());
                long within = allocated(RequestScopesTest::log);
                check("bytes for messages in a request: " + within, within < ROUNDS, true);
            }
            long scopes = allocated(i -> {
                try (RequestScope scope = request.enter()) {
                    log(scope == null ? 0 : i);
                }
                log(i);
            });
            check("bytes for scopes with messages: " + scopes, scopes < SCOPE * ROUNDS, true);
            check("messages", session.stop().messages() > ROUNDS, true);
        }
    }

    /** Wherever the stack ends, no call throws once it has begun, and later scopes are as ever. */
    private static void fullStack(Path trace) throws Exception {
        long[] counts = new long[2];
        try (Session session = Session.builder().file(trace).truncate().enableAll().reportLosses(false).start()) {
            Request request = new Request("deep");
            Thread thread = new Thread(null, () -> {
                for (int i = 0; i < 20; i++) {
                    descend(request, counts);
                }
                try (RequestScope scope = ProtoLog.request("r1")) {
                    scope.keepIfFailed(() -> ProtoLog.i(Group.TUNNEL, "message %d", 7));
                }
                check("it is in none", Request.current() == null, true);
            }, "full stack", 256 << 10);
            Throwable[] thrown = {null};
            thread.setUncaughtExceptionHandler((of, error) -> thrown[0] = error);
            thread.start();
            thread.join();
            check("nothing is thrown", String.valueOf(thrown[0]), "null");
            check("calls without a stack: " + counts[0], counts[0] > 0 && counts[1] > 1_000, true);
            Summary summary = session.stop();
            FaultTrace read = FaultTrace.read(List.of(trace), Set.of());
            check("the trace can be read", read.problems, List.of());
            check("the message is there", read.numbers, List.of(7L));
            check("in its request", read.inRequests, 1L);
            check("as it says", summary.messages(), 1L);
        }
    }

    private static void descend(Request request, long[] counts) {
        try (RequestScope scope = request.enter()) {
            counts[1]++;
            if (scope == null) {
                throw new AssertionError("no scope");
            }
            descend(request, counts);
        } catch (StackOverflowError e) {
            counts[0]++;
        }
    }
}
