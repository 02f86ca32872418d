package app;

import dev.protolog.IProtoLogGroup;
import dev.protolog.ProtoLog;
import dev.protolog.Session;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.LongBuffer;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Logs while the JVM ends: {@code Ending KIND TRACE}. The kinds:
 *
 * <ul>
 *   <li>{@code hooks}: in hooks that take a while
 *   <li>{@code busy}, {@code kept}: in threads that go on until the JVM is gone, and count their
 *       calls in {@code TRACE.calls}
 *   <li>{@code recorded}: without a file for the trace
 *   <li>{@code start}: in a session that a hook starts
 *   <li>{@code pipe}: nothing but many messages
 *   <li>{@code closing}, {@code copying}: many messages, while another thread closes the session,
 *       or writes a snapshot
 * </ul>
 */
public final class Ending {
    private static final int THREADS = 4;

    private Ending() {}

    private enum Log implements IProtoLogGroup {
        WORK;

        @Override
        public String getTag() {
            return "Work";
        }
    }

    public static void main(String[] args) throws IOException {
        Session.Builder builder = Session.builder().enableAll();
        switch (args[0]) {
            case "recorded" -> {
                builder.recordTo(Path.of(args[1])).start();
                addHooks();
            }
            case "start" -> Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                try {
                    Session session = builder.file(args[1]).start();
                    ProtoLog.i(Log.WORK, "in a session of a hook");
                    session.stop();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }));
            case "pipe" -> {
                builder.file(args[1]).start();
                logMany();
            }
            case "closing" -> {
                Session session = builder.keepNewest().file(args[1]).start();
                logMany();
                begin(session::stop, "stop");
            }
            case "copying" -> {
                Session session = builder.keepNewest().start();
                logMany();
                begin(() -> session.snapshot(Path.of(args[1])), "snapshot");
            }
            default -> {
                (args[0].equals("kept") ? builder.keepNewest() : builder).file(args[1]).start();
                if (args[0].equals("hooks")) {
                    addHooks();
                } else {
                    count(args[1] + ".calls");
                }
            }
        }
        System.exit(0);
    }

    private static void logMany() {
        for (int i = 0; i < 20_000; i++) {
            ProtoLog.i(Log.WORK, "number %d of %s", i, "text " + i);
        }
    }

    /**
     * Has another thread do something that takes long, and comes back once it is within that method
     * of the session.
     */
    private static void begin(Callable<?> action, String method) {
        Thread thread = new Thread(() -> {
            try {
                action.call();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        while (Stream.of(thread.getStackTrace()).noneMatch(it -> it.getMethodName().equals(method))) {
            sleep(1);
        }
        // Long enough ago that it isn't taken for a hook.
        sleep(100);
    }

    /** Hooks that log at their end, one of them twice as late as another. */
    private static void addHooks() {
        for (int i = 1; i <= 3; i++) {
            int number = i;
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                sleep(100 * number);
                ProtoLog.i(Log.WORK, "the end of hook %d", number);
            }));
        }
    }

    /** Starts threads that log for ever, each with a counter of its calls. */
    private static void count(String path) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(path, "rw")) {
            LongBuffer calls = file.getChannel().map(MapMode.READ_WRITE, 0, THREADS * Long.BYTES).asLongBuffer();
            Consumer<Integer> body = index -> {
                for (long i = 1;; i++) {
                    calls.put(index, i);
                    ProtoLog.i(Log.WORK, "call %d of thread %d", i, index);
                    if (i % 100 == 0) {
                        sleep(1);
                    }
                }
            };
            for (int i = 0; i < THREADS; i++) {
                int index = i;
                Thread thread = new Thread(() -> body.accept(index));
                thread.setDaemon(true);
                thread.start();
            }
        }
        sleep(100);
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
