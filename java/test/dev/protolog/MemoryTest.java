package dev.protolog;

import static dev.protolog.SelfTest.check;

import dev.protolog.internal.session.SessionCore;
import dev.protolog.internal.session.Sessions;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;

/** Memory that idle threads and sessions that are over must not keep. */
final class MemoryTest {
    private static final int LONG = 2_000_000;

    private MemoryTest() {}

    /** A group that is not printed. */
    private enum Log implements IProtoLogGroup {
        QUIET;

        @Override
        public String getTag() {
            return "Quiet";
        }
    }

    static void run() throws Exception {
        Path trace = Files.createTempFile("protolog-memory", ".pftrace");
        CountDownLatch end = new CountDownLatch(1);
        try {
            longText(trace, end);
            endedSessions(trace, end);
        } finally {
            end.countDown();
            Files.delete(trace);
        }
    }

    /** A thread that has logged a long text and lives on. */
    private static void longText(Path trace, CountDownLatch end) throws Exception {
        List<WeakReference<String>> texts = new ArrayList<>();
        try (Session session = Session.builder().file(trace).enableAll().start()) {
            inThread(end, () -> {
                // Each a text of its own, which only the call has.
                for (String first : new String[] {"a", "b"}) {
                    String text = first + "x".repeat(LONG);
                    texts.add(new WeakReference<>(text));
                    ProtoLog.i(Log.QUIET, "text %s", text);
                }
            });
            for (WeakReference<String> text : texts) {
                check("a text is collected", isCollected(text), true);
            }
            check("messages", session.stop().messages(), 2L);
        }
    }

    /**
     * Sessions of each kind that are over, which the program keeps, as does a thread that has
     * logged.
     */
    private static void endedSessions(Path trace, CountDownLatch end) throws Exception {
        List<Supplier<Session.Builder>> kinds = List.of(() -> Session.builder().file(trace), () -> Session.builder().file(trace).keepNewest(),
                () -> Session.builder().file(trace).record());
        List<Session> kept = new ArrayList<>();
        List<WeakReference<SessionCore>> cores = new ArrayList<>();
        for (Supplier<Session.Builder> kind : kinds) {
            Session session = kind.get().enableAll().start();
            cores.add(new WeakReference<>(Sessions.running().get(0)));
            inThread(end, () -> ProtoLog.i(Log.QUIET, "a message"));
            session.stop();
            kept.add(session);
        }
        for (WeakReference<SessionCore> core : cores) {
            check("a session that is over is collected", isCollected(core), true);
        }
        for (Session session : kept) {
            check("and has its outcome", session.stop().messages(), 1L);
        }
    }

    /** Has a thread do something, and then wait for the end. */
    private static void inThread(CountDownLatch end, Runnable body) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        Thread thread = new Thread(() -> {
            body.run();
            done.countDown();
            try {
                end.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        thread.setDaemon(true);
        thread.start();
        done.await();
    }

    private static boolean isCollected(WeakReference<?> reference) throws InterruptedException {
        for (int i = 0; i < 100 && reference.get() != null; i++) {
            System.gc();
            Thread.sleep(10);
        }
        return reference.get() == null;
    }
}
