package app;

import dev.protolog.ProtoLog;
import dev.protolog.Session;
import dev.protolog.Summary;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.concurrent.Semaphore;

/**
 * Many threads of two messages each:
 * {@code Threads TRACE COUNT ALIVE platform|virtual|pinned [BUFFER]}, of which so many live at
 * once. It prints how many messages are in the trace, and how many are lost. Between its messages a
 * thread gives its carrier away, or sleeps on it, pinned.
 */
public final class Threads {
    private static final ThreadLocal<Integer> NUMBER = new ThreadLocal<>();

    private Threads() {}

    public static void main(String[] args) throws Exception {
        System.setProperty("protolog.level", "off");
        int count = Integer.parseInt(args[1]);
        int alive = Integer.parseInt(args[2]);
        Session session = Session.builder().file(Path.of(args[0])).enableAll().bufferBytes(args.length > 4 ? Integer.parseInt(args[4]) : 16 << 20).start();
        byte[] pinned = pinned();
        Semaphore free = new Semaphore(alive);
        for (int t = 0; t < count; t++) {
            int number = t;
            free.acquire();
            start(args[3], () -> {
                try {
                    NUMBER.set(number);
                    if (args[3].equals("pinned")) {
                        // A class of its own, whose initializer does it: a frame of the JVM is on
                        // the stack meanwhile.
                        MethodHandles.lookup().defineHiddenClass(pinned, true);
                    } else {
                        logTwice();
                    }
                } catch (IllegalAccessException e) {
                    throw new IllegalStateException(e);
                } finally {
                    free.release();
                }
            });
        }
        free.acquire(alive);
        Summary summary = session.stop();
        System.out.println(summary.messages() + " " + summary.lost());
    }

    static void logTwice() {
        int number = NUMBER.get();
        ProtoLog.i(AppLog.NET, "first of %d", number);
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        ProtoLog.i(AppLog.NET, "second of %d", number);
    }

    /** The tests are compiled for a Java that has no virtual threads. */
    private static void start(String kind, Runnable run) throws ReflectiveOperationException {
        if (kind.equals("platform")) {
            new Thread(run).start();
        } else {
            Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
            start.invoke(null, run);
        }
    }

    private static byte[] pinned() throws IOException {
        try (InputStream in = Threads.class.getResourceAsStream("Threads$Pinned.class")) {
            return in.readAllBytes();
        }
    }

    private static final class Pinned {
        static {
            logTwice();
        }
    }
}
