package dev.protolog.internal.session;

import dev.protolog.internal.process.RuntimeThread;
import dev.protolog.internal.process.ShutdownHooks;
import dev.protolog.internal.text.TextQueue;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * The end of sessions that run when the JVM ends. The JVM starts all shutdown hooks at once, and
 * the others log, too. So the one hook of this runtime waits for them first, while the sessions go
 * on. Then each session writes its file to the end, and counts what comes after that in the file,
 * until the JVM is gone. An end or a snapshot that another thread has begun is waited for.
 *
 * <p>Invariants: a session is here until its end is complete. The hook is there as long as sessions
 * are, so that it keeps no class loader. It does not wait for ever, neither for other hooks nor for
 * a file that takes nothing: a pipe with a reader that stands still.
 */
final class AtExit {
    /**
     * The time that other hooks may take without a message, in all, and that a file may take
     * nothing, in nanoseconds.
     */
    private static final long SILENCE = 5_000_000_000L;
    private static final long LONGEST = 30_000_000_000L;
    private static final long POLL = 5_000_000;
    /**
     * The time in which a call that has begun is likely to be over, and the longest that one is
     * waited for.
     */
    private static final long CALL = 20_000_000;
    private static final long LONGEST_CALL = 1_000_000_000;

    private static final List<ExitingSession> SESSIONS = new ArrayList<>();
    private static Thread hook;

    private AtExit() {}

    /**
     * Has the session stopped when the JVM ends. If it is ending already, the thread that has
     * started the session stops it.
     */
    static synchronized void add(ExitingSession session) {
        if (hook == null) {
            Thread added = RuntimeThread.of(AtExit::run, "protolog exit");
            try {
                Runtime.getRuntime().addShutdownHook(added);
            } catch (IllegalStateException e) {
                return;
            }
            hook = added;
        }
        SESSIONS.add(session);
    }

    static synchronized void remove(ExitingSession session) {
        if (!SESSIONS.remove(session) || !SESSIONS.isEmpty()) {
            return;
        }
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
            hook = null;
        } catch (IllegalStateException e) {
            // The program is ending.
        }
    }

    private static synchronized List<ExitingSession> sessions() {
        return List.copyOf(SESSIONS);
    }

    private static void run() {
        try {
            awaitOthers();
        } catch (IOException | RuntimeException e) {
            // Without /proc nothing is known of them.
        }
        List<ExitingSession> sessions = sessions();
        sessions.forEach(ExitingSession::beginEnd);
        LockSupport.parkNanos(CALL);
        long begun = System.nanoTime();
        while (sessions.stream().anyMatch(ExitingSession::isWriting) && System.nanoTime() - begun < LONGEST_CALL) {
            LockSupport.parkNanos(POLL);
        }
        List<Thread> threads = new ArrayList<>();
        for (ExitingSession session : sessions) {
            // Each of its own, so that none waits for the pipe of another one.
            Thread thread = RuntimeThread.daemon(session::stopAtExit, "protolog end");
            try {
                RuntimeThread.start(thread);
            } catch (IOException e) {
                // One after the other, then.
                session.stopAtExit();
            }
            threads.add(thread);
        }
        for (int i = 0; i < sessions.size(); i++) {
            awaitEnd(sessions.get(i), threads.get(i));
        }
        TextQueue.flushAtEnd();
    }

    private static void awaitOthers() throws IOException {
        long begun = System.nanoTime();
        while (!ShutdownHooks.areStarted() && System.nanoTime() - begun < SILENCE) {
            LockSupport.parkNanos(POLL);
        }
        ShutdownHooks hooks = new ShutdownHooks();
        long messages = -1;
        long heard = begun;
        while (hooks.areOthers()) {
            long now = System.nanoTime();
            long logged = sessions().stream().mapToLong(ExitingSession::messages).sum();
            if (logged != messages) {
                messages = logged;
                heard = now;
            }
            if (now - heard > SILENCE || now - begun > LONGEST) {
                return;
            }
            LockSupport.parkNanos(POLL);
        }
    }

    /** Waits for the end of a session, as long as its file takes anything. */
    private static void awaitEnd(ExitingSession session, Thread thread) {
        long written = -1;
        long last = System.nanoTime();
        while (thread.isAlive()) {
            long now = System.nanoTime();
            long progress = session.progress();
            if (progress != written) {
                written = progress;
                last = now;
            }
            if (now - last > SILENCE) {
                session.reportStuck();
                return;
            }
            LockSupport.parkNanos(POLL);
        }
    }
}
