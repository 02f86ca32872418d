package app;

import dev.protolog.ProtoLog;
import dev.protolog.ProtoLogImpl;
import dev.protolog.Session;
import dev.protolog.Summary;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Logs while memory is missing: {@code Trouble TRACE}. */
public final class Trouble {
    private Trouble() {}

    public static void main(String[] args) throws Exception {
        memory(Path.of(args[0]));
    }

    private static Session start(Path trace) throws IOException {
        System.setProperty("protolog.level", "off");
        return Session.builder().file(trace).enableAll().start();
    }

    /**
     * Logs while the heap is full, again and again. Each call is in the trace or counted as lost.
     */
    private static void memory(Path trace) throws IOException {
        Object[] values = {1, "x"};
        Session session = start(trace);
        // The JVM resolves constants and links calls when they first run.
        int calls = logTwice(values);
        for (int round = 0; round < 5; round++) {
            List<Object> hoard = new ArrayList<>();
            for (int size = 1 << 20; size >= 16; size /= 2) {
                try {
                    while (true) {
                        hoard.add(new byte[size]);
                    }
                } catch (OutOfMemoryError e) {
                    // As much as there is of this size.
                }
                for (int i = 0; i < 10; i++) {
                    calls += logTwice(values);
                }
            }
            hoard.clear();
            Thread thread = new Thread(() -> ProtoLog.i(AppLog.NET, "round over"));
            thread.start();
            join(thread);
            calls++;
        }
        Summary summary = session.stop();
        System.out.println(calls - summary.messages() - summary.lost() + " " + (summary.messages() > 5));
    }

    private static int logTwice(Object[] values) {
        ProtoLog.i(AppLog.NET, "%d of %s", values);
        ProtoLogImpl.i(AppLog.NET, 7, 1, 1L);
        return 2;
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
