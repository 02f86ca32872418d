package app;

import dev.protolog.BridgedLogger;
import dev.protolog.IProtoLogGroup;
import dev.protolog.LogLevel;
import dev.protolog.ProtoLog;
import dev.protolog.RotatingFile;
import dev.protolog.Session;
import dev.protolog.Summary;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;

/**
 * Has threads do all that a program does with this runtime while their interrupt flag is set, as
 * after {@code shutdownNow}: {@code Interrupted DIRECTORY}. It prints a line for whatever fails, or
 * forgets the flag, and the messages of each trace.
 */
public final class Interrupted {
    private Interrupted() {}

    private enum Log implements IProtoLogGroup {
        WORK;

        @Override
        public String getTag() {
            return "Work";
        }
    }

    public static void main(String[] args) throws Exception {
        Path directory = Path.of(args[0]);
        for (String kind : new String[] {"stream", "segments", "keep", "record"}) {
            Path file = directory.resolve(kind + ".pftrace");
            Session session = interrupted(kind + " starts", () -> of(kind, file).start());
            interrupted("a first message", () -> {
                ProtoLog.i(Log.WORK, "a template of an interrupted thread, for " + kind);
                return null;
            });
            interrupted("a bridge", () -> {
                BridgedLogger.of("x.Y").log(LogLevel.INFO, "of a bridge: {}", new Object[] {kind}, null, null);
                return null;
            });
            interrupted("flush", () -> {
                session.flush();
                return null;
            });
            if (!kind.equals("stream") && !kind.equals("segments")) {
                interrupted("snapshot", () -> session.snapshot(directory.resolve("snapshot.pftrace")));
            }
            // As an application that interrupts all that it has started.
            Thread.currentThread().getThreadGroup().interrupt();
            Thread.interrupted();
            ProtoLog.i(Log.WORK, "after all were interrupted");
            Summary summary = interrupted(kind + " stops", session::stop);
            System.out.println(kind + " " + summary.messages() + " " + summary.lost());
        }
        Path text = directory.resolve("app.log");
        RotatingFile file = interrupted("a text file", () -> RotatingFile.open(text, 1 << 20, 1));
        ProtoLog.setSink(file);
        ProtoLog.printGroup(Log.WORK, LogLevel.VERBOSE);
        for (int i = 0; i < 4; i++) {
            int number = i;
            interrupted("a line of text", () -> {
                ProtoLog.i(Log.WORK, "line %d", number);
                return null;
            });
        }
        interrupted("the end of text", () -> ProtoLog.flushText(Duration.ofSeconds(60)));
        System.out.println("text " + Files.readAllLines(text).size() + " " + file.problem());
    }

    private static Session.Builder of(String kind, Path file) {
        Session.Builder builder = Session.builder().enableAll().file(file);
        return switch (kind) {
            case "segments" -> builder.segmentBytes(1 << 20);
            case "keep" -> builder.keepNewest();
            case "record" -> builder.record();
            default -> builder;
        };
    }

    /** Does something on a thread of its own, which is interrupted. */
    private static <T> T interrupted(String what, Callable<T> body) throws InterruptedException {
        Object[] result = {null};
        Thread thread = new Thread(() -> {
            Thread.currentThread().interrupt();
            try {
                result[0] = body.call();
            } catch (Throwable e) {
                System.out.println(what + ": " + e);
            }
            if (!Thread.interrupted()) {
                System.out.println(what + ": the interrupt is forgotten");
            }
        });
        thread.start();
        thread.join();
        @SuppressWarnings("unchecked")
        T typed = (T) result[0];
        return typed;
    }
}
