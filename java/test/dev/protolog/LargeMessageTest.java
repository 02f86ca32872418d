package dev.protolog;

import static dev.protolog.SelfTest.check;

import dev.protolog.internal.text.Arguments;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Messages that take half of the buffer, by threads that wait for room: none waits for another one
 * that waits.
 */
final class LargeMessageTest {
    private static final int THREADS = 3;
    private static final int MESSAGES = 20;

    private LargeMessageTest() {}

    static void run() throws Exception {
        Path file = Files.createTempFile("protolog", ".pftrace");
        Session session = Session.builder().file(file).enableAll().bufferBytes(256 << 10).waitAtMost(Duration.ofSeconds(20)).start();
        Thread[] threads = new Thread[THREADS];
        for (int t = 0; t < THREADS; t++) {
            Object[] args = new Object[Arguments.MAX];
            for (int i = 0; i < args.length; i++) {
                args[i] = t + " " + i + "x".repeat(4000);
            }
            threads[t] = new Thread(() -> {
                for (int i = 0; i < MESSAGES; i++) {
                    ProtoLog.v(LevelsTest.Group.QUIET, "%s".repeat(Arguments.MAX), args);
                }
            });
            threads[t].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        Summary summary = session.stop();
        check("messages of half a buffer", summary.messages() + " and " + summary.lost() + " lost", THREADS * MESSAGES + " and 0 lost");
        Files.delete(file);
    }
}
