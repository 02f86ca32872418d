package dev.protolog.internal.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The shutdown hooks of the program, of which the JVM says nothing. It starts all of them at once
 * and waits for each. So the hooks are the threads of the application that started when this one
 * did, as the kernel has it; the thread that waits for them has the JVM's method on its stack.
 *
 * <p>A thread that the application happened to start within the same hundredth of a second is taken
 * for a hook.
 */
public final class ShutdownHooks {
    private static final Path THREADS = Path.of("/proc/self/task");
    private static final String STARTER = "java.lang.ApplicationShutdownHooks";
    /** Threads of runtimes, of any class loader. */
    private static final String OURS = "protolog";
    /** The bytes of a thread's name that the kernel knows. */
    private static final int KNOWN_BYTES = 15;
    /**
     * The kernel counts in hundredths of a second: hooks that started at once may differ by two.
     */
    private static final long SLACK = 2;
    /** The place of a thread's start in its {@code stat}, after the name. */
    private static final int STARTED = 22 - 3;

    /** The time at which this thread started, in the kernel's ticks. */
    private final long began;

    /** A thread, as the kernel describes it. */
    private record Task(String name, long started) {}

    /** The hooks beside the current thread, which is one. */
    public ShutdownHooks() throws IOException {
        began = read(Path.of("/proc/thread-self/stat")).started;
    }

    /** True if the JVM has started all hooks. */
    public static boolean areStarted() {
        return Thread.getAllStackTraces().values().stream().anyMatch(stack -> {
            boolean isStarter = Stream.of(stack).anyMatch(frame -> frame.getClassName().equals(STARTER));
            return isStarter && Stream.of(stack).anyMatch(frame -> frame.getMethodName().equals("join"));
        });
    }

    /** True if another hook still runs. */
    public boolean areOthers() throws IOException {
        Set<String> names = applicationThreads();
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(THREADS)) {
            for (Path each : tasks) {
                Task task = task(each.resolve("stat"));
                if (task != null && task.started >= began - SLACK && names.contains(task.name)) {
                    return true;
                }
            }
            return false;
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
    }

    /**
     * The names of live threads that are neither the JVM's nor a runtime's, as far as the kernel
     * knows them.
     */
    private static Set<String> applicationThreads() {
        ThreadGroup top = RuntimeThread.topGroup();
        Thread[] all = new Thread[2 * top.activeCount() + 16];
        int count = top.enumerate(all);
        Set<String> names = new HashSet<>();
        for (int i = 0; i < count; i++) {
            if (all[i].getThreadGroup() != top && !all[i].getName().startsWith(OURS)) {
                byte[] name = all[i].getName().getBytes(StandardCharsets.UTF_8);
                names.add(new String(name, 0, Math.min(name.length, KNOWN_BYTES), StandardCharsets.ISO_8859_1));
            }
        }
        return names;
    }

    /** Null of one that has ended. */
    private static Task task(Path stat) {
        try {
            return read(stat);
        } catch (IOException e) {
            return null;
        }
    }

    private static Task read(Path stat) throws IOException {
        String line = Files.readString(stat, StandardCharsets.ISO_8859_1);
        int end = line.lastIndexOf(')');
        String[] rest = line.substring(end + 1).strip().split(" ");
        return new Task(line.substring(line.indexOf('(') + 1, end), Long.parseLong(rest[STARTED]));
    }
}
