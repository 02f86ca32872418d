package dev.protolog.internal.text;

import dev.protolog.internal.proto.Utf8;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The code that makes a call: the place of the call, and its stack. Sessions ask for them; without
 * such a session nothing here runs.
 *
 * <p>A stack trace is a text with a line for each frame, {@code at com.foo.Main.run(Main.java:12)}.
 * Those of the call's Throwable arguments follow, as Java prints them.
 *
 * <p>Arguments are converted before the call begins, and become texts. So the stack trace of a
 * Throwable is noted with that text, and the call that has the same object among its arguments
 * takes it.
 *
 * <p>Invariants: no stack trace is longer than {@value #MAX_TEXT} bytes of UTF-8, and it ends with
 * a whole line; no Throwable is kept.
 */
public final class CallStacks {
    private static final int MAX_FRAMES = 48;
    private static final int MAX_TEXT = 4096;
    /** The most Throwables of a thread that are noted at once. */
    private static final int MAX_NOTED = 8;
    /**
     * Frames that come before that of the application: those of the runtime, and of loggers that
     * bridges serve.
     */
    private static final List<String> LOGGERS = List.of("dev.protolog.", "java.util.logging.", "java.lang.System$Logger", "jdk.internal.logger.",
            "sun.util.logging.", "sun.logging.", "org.slf4j.", "ch.qos.logback.", "org.apache.logging.log4j.", "org.apache.log4j.");
    private static final StackWalker WALKER = StackWalker.getInstance();
    /**
     * The texts of Throwables, each with its stack trace: of no class of this loader, since threads
     * may outlive it.
     */
    private static final ThreadLocal<Deque<String[]>> NOTED = ThreadLocal.withInitial(ArrayDeque::new);

    /** True while a session that runs asks for stack traces. */
    private static volatile boolean areCollected;

    private CallStacks() {}

    public static void setCollected(boolean collected) {
        areCollected = collected;
    }

    /**
     * The file and the line of the application that calls the runtime, as
     * {@code com/foo/Main.java:12}; null where they are not known.
     */
    public static String location() {
        return WALKER.walk(frames -> frames.dropWhile(CallStacks::isOfLogger).findFirst().map(CallStacks::place).orElse(null));
    }

    /**
     * Notes the stack trace of an argument that has become {@code text}. The result is that text,
     * as an object that nothing else has.
     */
    public static String noted(Object argument, String text) {
        if (!areCollected || !(argument instanceof Throwable thrown)) {
            return text;
        }
        String own = new String(text);
        Deque<String[]> noted = NOTED.get();
        noted.addLast(new String[] {own, StackText.of(thrown)});
        if (noted.size() > MAX_NOTED) {
            noted.removeFirst();
        }
        return own;
    }

    /**
     * The stack trace of the current call, of which {@code texts} are the arguments, and {@code
     * thrown} is the exception behind them, or null.
     */
    public static String of(String[] texts, int count, String thrown) {
        List<String> lines = WALKER.walk(frames -> frames.dropWhile(CallStacks::isOfLogger)
                .limit(MAX_FRAMES)
                .map(frame -> "at " + frame.toStackTraceElement())
                .collect(Collectors.toList()));
        for (Iterator<String[]> noted = NOTED.get().iterator(); noted.hasNext();) {
            String[] one = noted.next();
            for (int i = 0; i < count; i++) {
                if (texts[i] == one[0]) {
                    one[1].replace("\t", "").lines().forEach(lines::add);
                    noted.remove();
                    break;
                }
            }
        }
        if (thrown == null) {
            return joined(lines, MAX_TEXT);
        }
        // The exception behind the arguments has its own stack, which tells more.
        String last = thrown.replace("\t", "") + "\n";
        return joined(lines, Math.max(0, MAX_TEXT - Utf8.length(last))) + last;
    }

    private static String joined(List<String> lines, int most) {
        StringBuilder text = new StringBuilder();
        int size = 0;
        for (String line : lines) {
            size += Utf8.length(line) + 1;
            if (size > most) {
                break;
            }
            text.append(line).append('\n');
        }
        return text.toString();
    }

    private static boolean isOfLogger(StackWalker.StackFrame frame) {
        String name = frame.getClassName();
        return LOGGERS.stream().anyMatch(name::startsWith);
    }

    private static String place(StackWalker.StackFrame frame) {
        return place(frame.getClassName(), frame.getFileName(), frame.getLineNumber());
    }

    /** The place of a frame; null where its file is not known. */
    public static String place(String className, String file, int line) {
        if (file == null) {
            return null;
        }
        String folder = className.substring(0, className.lastIndexOf('.') + 1).replace('.', '/');
        return line < 0 ? folder + file : folder + file + ":" + line;
    }
}
