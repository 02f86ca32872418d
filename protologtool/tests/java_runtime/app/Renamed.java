package app;

import dev.protolog.ProtoLog;
import dev.protolog.Session;
import java.nio.file.Path;

/**
 * Threads that have another name for each request, of three messages:
 * {@code Renamed TRACE platform|virtual}.
 */
public final class Renamed {
    private static final int THREADS = 4;
    private static final int REQUESTS = 250;

    private Renamed() {}

    public static void main(String[] args) throws Exception {
        System.setProperty("protolog.level", "off");
        Session session = Session.builder().file(Path.of(args[0])).enableAll().start();
        Thread[] threads = new Thread[THREADS];
        for (int t = 0; t < THREADS; t++) {
            int first = t * REQUESTS;
            Runnable serve = () -> serve(first);
            if (args[1].equals("platform")) {
                threads[t] = new Thread(serve);
                threads[t].start();
            } else {
                // The tests are compiled for a Java that has no virtual threads.
                threads[t] = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, serve);
            }
        }
        for (Thread thread : threads) {
            thread.join();
        }
        session.stop();
    }

    private static void serve(int first) {
        for (int request = first; request < first + REQUESTS; request++) {
            Thread.currentThread().setName("request-" + request);
            for (int i = 0; i < 3; i++) {
                ProtoLog.i(AppLog.NET, "of request-%d", request);
                Thread.yield();
            }
        }
    }
}
