package dev.protolog.internal.session;

import dev.protolog.internal.write.Causes;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The handler of exceptions that nobody catches, while a session waits for them: it fires, and then
 * does what would be done without it.
 *
 * <p>Invariants: a handler that was there before is called as before. The handler is taken away
 * with the last session, unless somebody has put another one over it, which calls it; then it
 * passes on.
 */
final class UncaughtExceptions implements Thread.UncaughtExceptionHandler {
    private static final List<Causes> WATCHING = new CopyOnWriteArrayList<>();
    private static volatile UncaughtExceptions installed;

    private final Thread.UncaughtExceptionHandler before;

    private UncaughtExceptions(Thread.UncaughtExceptionHandler before) {
        this.before = before;
    }

    static synchronized void watch(Causes causes) {
        WATCHING.add(causes);
        // One that somebody else's lies over may be called by that, or not: then it passes on
        // alone.
        if (installed == null || Thread.getDefaultUncaughtExceptionHandler() != installed) {
            installed = new UncaughtExceptions(Thread.getDefaultUncaughtExceptionHandler());
            Thread.setDefaultUncaughtExceptionHandler(installed);
        }
    }

    static synchronized void forget(Causes causes) {
        WATCHING.remove(causes);
        if (WATCHING.isEmpty() && installed != null) {
            if (Thread.getDefaultUncaughtExceptionHandler() == installed) {
                Thread.setDefaultUncaughtExceptionHandler(installed.before);
            }
            installed = null;
        }
    }

    @Override
    public void uncaughtException(Thread thread, Throwable thrown) {
        try {
            if (this == installed) {
                WATCHING.forEach(Causes::fireUncaught);
            }
        } catch (RuntimeException | Error e) {
            // The exception is what counts.
        }
        if (before != null) {
            before.uncaughtException(thread, thrown);
        } else if (!thrown.getClass().getName().equals("java.lang.ThreadDeath")) {
            // As the JDK does without a handler.
            System.err.print("Exception in thread \"" + thread.getName() + "\" ");
            thrown.printStackTrace(System.err);
        }
    }
}
