package dev.protolog;

import static dev.protolog.SelfTest.check;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

/**
 * A program whose jar is overwritten while it runs: the JVM finds no class any more that was not
 * loaded by then.
 */
final class OverwrittenJarTest {
    private static final int MESSAGES = 20_000;

    private OverwrittenJarTest() {}

    static void run() throws Exception {
        for (Kind kind : Kind.values()) {
            FadingLoader loader = new FadingLoader();
            Class<?> program = Class.forName(Program.class.getName(), true, loader);
            check("its own runtime", program == Program.class, false);
            @SuppressWarnings("unchecked")
            Callable<String> running = (Callable<String>) program.getDeclaredConstructor(String.class).newInstance(kind.name());
            loader.isOver = true;
            check(kind + " session whose classes are gone", running.call(), MESSAGES + 2 + " 0");
        }
    }

    private enum Kind {
        STREAM, SEGMENTS, KEPT, RECORDED
    }

    /** A program that starts a session at first, and then does all that a session can. */
    public static final class Program implements Callable<String> {
        private final Path directory;
        private final Session session;
        private final boolean isStream;

        enum Log implements IProtoLogGroup {
            NET;

            @Override
            public String getTag() {
                return "Net";
            }

            @Override
            public boolean isLogToLogcat() {
                return false;
            }
        }

        public Program(String kind) throws IOException {
            directory = Files.createTempDirectory("protolog-overwritten");
            Session.Builder builder = Session.builder().file(directory.resolve("trace.pftrace")).enableAll().bufferBytes(16 << 20);
            isStream = kind.equals("STREAM") || kind.equals("SEGMENTS");
            switch (kind) {
                case "SEGMENTS" -> builder.segmentBytes(100_000).keepSegments(100).compress(1);
                case "KEPT" -> builder.keepNewest();
                case "RECORDED" -> builder.recordTo(directory.resolve("kept.rec"));
                default -> { }
            }
            session = builder.start();
            // The classes of the program itself.
            Log.values();
        }

        @Override
        public String call() throws IOException {
            try {
                for (int i = 0; i < MESSAGES; i++) {
                    ProtoLog.d(Log.NET, "message %d", i);
                }
                ProtoLog.w(Log.NET, "not processed: %s of %d", "text", 7);
                ProtoLog.e(Log.NET, "failed", new IllegalStateException("broken"));
                session.flush();
                if (!isStream) {
                    session.snapshot(directory.resolve("snapshot.pftrace"));
                }
                Summary summary = session.stop();
                return summary.messages() + " " + summary.lost();
            } finally {
                try (Stream<Path> files = Files.walk(directory)) {
                    files.sorted((one, other) -> other.compareTo(one)).forEach(path -> path.toFile().delete());
                }
            }
        }
    }

    /** Has the runtime and the program, until it is over. */
    private static final class FadingLoader extends ClassLoader {
        private volatile boolean isOver;

        FadingLoader() {
            super(OverwrittenJarTest.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith("dev.protolog.")) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> known = findLoadedClass(name);
                return known != null ? known : define(name);
            }
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            if (isOver) {
                throw new ClassNotFoundException(name);
            }
            try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException | NullPointerException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }
}
