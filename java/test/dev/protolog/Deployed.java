package dev.protolog;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
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
            try (Stream<Path> files = Files.walk(directory)) {
                files.sorted((one, other) -> other.compareTo(one)).forEach(path -> path.toFile().delete());
            }
        }
    }
}
