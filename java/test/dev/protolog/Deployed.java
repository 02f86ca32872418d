package dev.protolog;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;

/**
 * An application that has the runtime among its own classes, uses all that keeps threads, files and
 * hooks, and ends all of it.
 */
public final class Deployed implements Callable<Long> {
    enum Log implements IProtoLogGroup {
        QUIET;

        @Override
        public String getTag() {
            return "Quiet";
        }

        @Override
        public boolean isLogToLogcat() {
            return false;
        }
    }

    @Override
    public Long call() throws Exception {
        Path directory = Files.createTempDirectory("protolog-deployed");
        Path config = Files.writeString(directory.resolve("settings"), "*=debug");
        try {
            Init init = new Init().groups(Log.values()).directory(directory.resolve("run")).persistentSettings(false).configFile(config).reload();
            init.start();
            long messages;
            // Earlier runs at the same path, which get other names one after the other.
            for (int i = 0; i < 3; i++) {
                Session.builder().file(directory.resolve("trace.pftrace")).keepPrevious(4).start().stop();
            }
            try (Session session = Session.builder().file(directory.resolve("trace.pftrace")).bufferBytes(256 << 10).enableAll()
                    .collectStacktrace(Log.QUIET).start()) {
                ProtoLog.i(Log.QUIET, "failed: %s", new IllegalStateException("broken"));
                // No message takes the stack of this one.
                ProtoLogImpl.s(new IllegalStateException("unused"));
                messages = session.stop().messages();
            }
            keepNewest(directory);
            Init.stop();
            if (messages != 1 || directory.resolve("run").toFile().list().length > 0) {
                throw new AssertionError(messages + " messages, or files of the socket");
            }
            // It can be had again.
            init.start();
            Init.stop();
            Init.stop();
            return messages;
        } finally {
            // Nobody closes it: the thread stays in the request.
            ProtoLog.request("left");
            try (Stream<Path> files = Files.walk(directory)) {
                files.sorted((one, other) -> other.compareTo(one)).forEach(path -> path.toFile().delete());
            }
        }
    }

    /** Pins messages, has triggers of all kinds fire, and leaves requests and spans open. */
    @SuppressWarnings("try")
    private static void keepNewest(Path directory) throws Exception {
        Triggers triggers = Triggers.to(directory.resolve("app.pftrace")).onLevel(LogLevel.ERROR).onUncaught().onFailedRequest()
                .after(Duration.ofMillis(1)).family("deployed");
        ExecutorService own = Executors.newSingleThreadExecutor();
        try (Session session = Session.builder().enableAll().bufferBytes(256 << 10).pin(new Pinned().level(LogLevel.ERROR)).triggers(triggers).start()) {
            RequestScope scope = ProtoLog.request("open");
            Span span = ProtoLog.span(Log.QUIET, "open");
            ProtoLog.e(Log.QUIET, "pinned, in %s", span == null ? null : scope.id());
            Request.wrapTasks(own).submit(() -> ProtoLog.i(Log.QUIET, "on another thread")).get();
            scope.fail(new IllegalStateException("broken"));
            Thread thread = new Thread(scope.request().wrap((Runnable) () -> {
                throw new IllegalStateException("uncaught");
            }));
            thread.setUncaughtExceptionHandler((of, thrown) -> {});
            thread.start();
            thread.join();
        } finally {
            own.shutdown();
        }
        try (Stream<Path> files = Files.list(directory)) {
            long written = files.filter(it -> it.getFileName().toString().matches("app\\.(error|failed-request)\\.2.*")).count();
            if (written != 2) {
                throw new AssertionError(written + " files of triggers");
            }
        }
    }
}
