package dev.protolog;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

/** An application that has the runtime among its own classes, logs by threads of others, and ends its session. */
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
        try {
            long messages;
            try (Session session = Session.builder().file(directory.resolve("trace.pftrace")).bufferBytes(256 << 10).enableAll()
                    .collectStacktrace(Log.QUIET).start()) {
                ProtoLog.i(Log.QUIET, "failed: %s", new IllegalStateException("broken"));
                // No message takes the stack of this one.
                ProtoLogImpl.s(new IllegalStateException("unused"));
                messages = session.stop().messages();
            }
            if (messages != 1) {
                throw new AssertionError(messages + " messages");
            }
            return messages;
        } finally {
            try (Stream<Path> files = Files.walk(directory)) {
                files.sorted((one, other) -> other.compareTo(one)).forEach(path -> path.toFile().delete());
            }
        }
    }
}
