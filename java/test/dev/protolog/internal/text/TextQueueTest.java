package dev.protolog.internal.text;

import static dev.protolog.SelfTest.check;

import dev.protolog.Captured;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Text whose output takes none: the program goes on, what is dropped is counted, and the count is
 * shown in its place.
 */
public final class TextQueueTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private TextQueueTest() {}

    public static void run() {
        // Tests before this one had texts dropped.
        Captured.lines(() -> TextQueue.push(1, () -> true));
        stalled();
        inOrder();
        interrupted();
        broken();
    }

    /** Longer than anything here takes. */
    private static void shown() {
        check("all is shown", TextQueue.flush(LIMIT), true);
    }

    private static void stalled() {
        CountDownLatch gate = new CountDownLatch(1);
        List<Integer> shown = new ArrayList<>();
        long before = TextQueue.dropped();
        String printed = Captured.lines(() -> {
            TextQueue.push(1, () -> {
                gate.await();
                return true;
            });
            for (int i = 0; i < 5000; i++) {
                int number = i;
                TextQueue.push(1000, () -> shown.add(number));
            }
            check("nothing is shown", shown.size(), 0);
            TextQueue.flushAtEnd();
            // Without waiting, or this test would take for ever.
            for (int i = 0; i < 1000; i++) {
                TextQueue.flushAtEnd();
            }
            gate.countDown();
            shown();
            TextQueue.push(1, () -> true);
            shown();
        });
        long dropped = TextQueue.dropped() - before;
        check("shown or dropped", shown.size() + dropped, 5000L);
        check("some are shown", shown.size() > 900 && shown.size() < 1100, true);
        check("the first ones", shown.get(shown.size() - 1), shown.size() - 1);
        check("the report", printed, "protolog: " + dropped + " lines of text were dropped: standard error did not take them\n");
    }

    private static void inOrder() {
        List<Integer> shown = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            int number = i;
            TextQueue.push(1, () -> shown.add(number));
        }
        shown();
        for (int i = 0; i < 1000; i++) {
            check("in order", shown.get(i), i);
        }
    }

    private static void interrupted() {
        List<String> shown = new ArrayList<>();
        Thread.currentThread().interrupt();
        TextQueue.push(1, () -> shown.add("text"));
        check("an interrupt stays", Thread.interrupted(), true);
        shown();
        check("its text is shown", shown, List.of("text"));
        interruptedWithoutEnd();
    }

    /** A thread that is interrupted again and again waits no longer than others. */
    private static void interruptedWithoutEnd() {
        CountDownLatch gate = new CountDownLatch(1);
        TextQueue.push(1, () -> {
            gate.await();
            return true;
        });
        Thread waiting = Thread.currentThread();
        AtomicBoolean isOver = new AtomicBoolean();
        Thread other = new Thread(() -> {
            while (!isOver.get()) {
                waiting.interrupt();
            }
        });
        other.start();
        boolean isShown = TextQueue.flush(Duration.ofMillis(500));
        isOver.set(true);
        while (other.isAlive()) {
            Thread.onSpinWait();
        }
        check("an interrupt stays", Thread.interrupted(), true);
        check("the wait has an end", isShown, false);
        gate.countDown();
        shown();
    }

    /** An output that throws costs its own text. */
    private static void broken() {
        long before = TextQueue.dropped();
        String printed = Captured.lines(() -> {
            TextQueue.push(1, () -> {
                throw new StackOverflowError();
            });
            TextQueue.push(1, () -> true);
            shown();
            TextQueue.push(1, () -> true);
            shown();
        });
        check("counted", TextQueue.dropped() - before, 1L);
        check("reported", printed, "protolog: 1 line of text was dropped: standard error did not take it\n");
    }
}
