package app;

import dev.protolog.Session;
import dev.protolog.TriggerCounts;
import dev.protolog.Triggers;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Fires triggers while its heap is full, and once more when it is not: {@code Exhausted DIRECTORY}.
 * Prints how often the cause fired since, and how many of its files were written or failed.
 */
public final class Exhausted {
    private static final String CAUSE = "exhausted";
    private static final int TIMES = 10;

    private static Object[] held;

    private Exhausted() {}

    public static void main(String[] args) throws Exception {
        Triggers triggers = Triggers.to(Path.of(args[0]).resolve("app.pftrace")).after(Duration.ZERO).interval(Duration.ZERO);
        try (Session session = Session.builder().enableAll().bufferBytes(1 << 20).triggers(triggers).start()) {
            // All that an event needs for the first time.
            session.trigger(CAUSE);
            await(session, 1);
            for (int i = 0; i < TIMES; i++) {
                fill(i == 0 ? 1 << 20 : 2);
                trigger(session);
                pause();
            }
            held = null;
            // The last of them, and one more.
            Thread.sleep(200);
            session.trigger(CAUSE);
            await(session, 2);
            TriggerCounts counts = counts(session);
            System.out.println(counts.written() + counts.failed() >= 2 && counts.written() + counts.failed() == counts.fired());
        }
    }

    /** Takes all memory, from objects of this size down to the least one. */
    private static void fill(int largest) {
        for (int size = largest; size > 0; size /= 2) {
            try {
                while (true) {
                    Object[] next = new Object[size];
                    next[0] = held;
                    held = next;
                }
            } catch (OutOfMemoryError e) {
                // Smaller ones may find room.
            }
        }
    }

    private static void trigger(Session session) {
        try {
            session.trigger(CAUSE);
        } catch (OutOfMemoryError e) {
            // The next time.
        }
    }

    private static void pause() {
        try {
            Thread.sleep(10);
        } catch (InterruptedException | OutOfMemoryError e) {
            // Sooner.
        }
    }

    private static void await(Session session, long files) throws InterruptedException {
        for (int i = 0; i < 1000; i++) {
            TriggerCounts counts = counts(session);
            if (counts.written() + counts.failed() >= files && counts.written() + counts.failed() == counts.fired()) {
                return;
            }
            Thread.sleep(10);
        }
    }

    private static TriggerCounts counts(Session session) {
        return session.triggerCounts().stream().filter(it -> it.cause().equals(CAUSE)).findFirst().orElseThrow();
    }
}
