package dev.protolog;

import static dev.protolog.SelfTest.check;

import dev.protolog.internal.session.SessionCore;
import dev.protolog.internal.session.Sessions;
import dev.protolog.internal.write.EventOrigins;
import dev.protolog.internal.write.PageLayout;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;

/**
 * A trace has numbers for so many threads at a time; what a further one logs is counted. Threads of
 * a class of the application may say any id.
 */
final class ManyThreadsTest {
    private ManyThreadsTest() {}

    static void run() throws Exception {
        Path file = Files.createTempFile("protolog", ".pftrace");
        Session session = Session.builder().file(file).enableAll().start();
        ProtoLog.v(LevelsTest.Group.QUIET, "a thread with a number");
        giveOutAllNumbers();
        Thread further = new Thread(() -> {
            ProtoLog.v(LevelsTest.Group.QUIET, "one without");
            ProtoLog.v(LevelsTest.Group.QUIET, "another message of it");
        });
        further.start();
        further.join();
        ProtoLog.v(LevelsTest.Group.QUIET, "the first one goes on");
        Summary summary = session.stop();
        check("threads without numbers", summary.messages() + " and " + summary.lost() + " lost", "2 and 2 lost");
        Files.delete(file);
        idsOfTheApplication();
        names();
    }

    /**
     * Events of other loggers say threads by name: one that has logged itself is known, also by
     * another name that it gets.
     */
    private static void names() throws Exception {
        Path file = Files.createTempFile("protolog", ".pftrace");
        Session session = Session.builder().file(file).truncate().enableAll().start();
        boolean isUnknown = ofEvent("first") == ofEvent("first") && ofEvent("first") != ofEvent("second");
        CountDownLatch logged = new CountDownLatch(1);
        CountDownLatch seen = new CountDownLatch(1);
        Thread thread = new Thread(() -> {
            ProtoLog.v(LevelsTest.Group.QUIET, "by itself");
            logged.countDown();
            awaitQuietly(seen);
        }, "first");
        thread.start();
        logged.await();
        int own = ofEvent("first");
        thread.setName("third");
        check("names", isUnknown + " " + (own == ofEvent("third")) + " " + (own == ofEvent("first")) + " " + (own == ofEvent("second")), "true true false false");
        check("the kernel's id", own > 0 && own < 1 << 29, true);
        seen.countDown();
        thread.join();
        session.stop();
        Files.delete(file);
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** The id of the thread of an event that says this name. */
    private static int ofEvent(String name) {
        return EventOrigins.resolve(new EventOrigin(0, name, Instant.EPOCH, null)).threadId();
    }

    /**
     * Threads that have one id, and one that says none. Each has one number, also after the garbage
     * collector looked for what nobody has.
     */
    private static void idsOfTheApplication() throws Exception {
        Path file = Files.createTempFile("protolog", ".pftrace");
        Session session = Session.builder().file(file).truncate().enableAll().start();
        int before = numbers();
        CyclicBarrier round = new CyclicBarrier(4);
        for (int number = 0; number < 3; number++) {
            new Numbered(number, round).start();
        }
        for (int i = 0; i < Numbered.ROUNDS; i++) {
            round.await();
            System.gc();
            round.await();
        }
        int given = numbers() - before;
        Summary summary = session.stop();
        check("messages of threads with any ids", summary.messages() + " and " + summary.lost() + " lost", "9 and 0 lost");
        check("numbers of three threads", given, 3);
        Files.delete(file);
    }

    private static int numbers() {
        return Sessions.running().stream().mapToInt(session -> session.sequences().size()).sum();
    }

    private static final class Numbered extends Thread {
        private static final int ROUNDS = 3;
        private final int number;
        private final CyclicBarrier round;

        Numbered(int number, CyclicBarrier round) {
            this.number = number;
            this.round = round;
        }

        @Override
        public long getId() {
            if (number == 0) {
                throw new IllegalStateException("no id");
            }
            return 7;
        }

        @Override
        public void run() {
            try {
                for (int i = 0; i < ROUNDS; i++) {
                    ProtoLog.v(LevelsTest.Group.QUIET, "of thread %d", number);
                    round.await();
                    round.await();
                }
            } catch (InterruptedException | BrokenBarrierException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** As if as many threads lived. */
    private static void giveOutAllNumbers() throws ReflectiveOperationException {
        Field writers = SessionCore.class.getDeclaredField("writers");
        writers.setAccessible(true);
        for (SessionCore session : Sessions.running()) {
            Object all = writers.get(session);
            Field given = all.getClass().getDeclaredField("sequences");
            given.setAccessible(true);
            synchronized (all) {
                given.setInt(all, PageLayout.MAX_WRITER_ID);
            }
        }
    }
}
