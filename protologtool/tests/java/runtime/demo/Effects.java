package demo;

import dev.protolog.Trace;
import java.util.function.Supplier;

/** Things that leave a trace. */
public final class Effects {
    /** An effect outside of log calls. */
    public static <T> T effect(T value) {
        Trace.LINES.add("effect " + value);
        return value;
    }

    /** An effect in an argument: only if the call is enabled. */
    public static <T> T arg(T value) {
        Trace.LINES.add("arg " + value);
        return value;
    }

    /**
     * An effect in an argument of a call of a group that is compiled out: never in processed code.
     */
    public static <T> T unseen(T value) {
        Trace.LINES.add("unseen " + value);
        return value;
    }

    /** Not a constant for the compiler. */
    public static boolean yes() { return true; }

    public static boolean no() { return false; }

    public static void call(Runnable runnable) { runnable.run(); }

    public static <T> T get(Supplier<T> supplier) { return supplier.get(); }

    @FunctionalInterface
    public interface Action<T> { void act(T value) throws Exception; }

    public static <T> void with(T value, Action<T> action) throws Exception { action.act(value); }
}
