package dev.protolog;

/**
 * Errors of the JVM at chosen places. A class loader, {@link FaultLoader}, has the runtime call
 * {@link #memory}, {@link #stack} and {@link #link} wherever memory or stack may be missing. The
 * last one stands where the JVM takes memory to link an operation that it runs for the first time.
 * At each of these places another thread may interrupt this one as well.
 *
 * <p>Invariant: nothing is thrown to a thread but the one that it is for, and nothing after
 * {@link #during} or {@link #disarm}.
 */
public final class Faults {
    private static volatile Thread armed;
    private static Kind kind;
    private static boolean lasts;
    /** The places still to be passed. */
    private static volatile int left;
    private static volatile boolean hasFired;
    private static volatile Throwable place;

    private Faults() {}

    /** The kind of resource that is missing, or that the thread is interrupted. */
    public enum Kind { MEMORY, STACK, LINK, INTERRUPT }

    /** An operation that is tried while something is missing. */
    public interface Trial {
        void run() throws Exception;
    }

    /**
     * A place to fail: that after {@code passed} others; with {@code lasts} all others from there
     * on, too.
     */
    public record Fault(Kind kind, int passed, boolean lasts) {}

    /**
     * The outcome of a trial: whether the place was reached, what came out of it, null for nothing,
     * and whether the thread was interrupted by then.
     */
    public record Outcome(boolean hasFired, Throwable thrown, Throwable place, boolean isInterrupted) {}

    /** Tries something while a place fails. */
    public static Outcome during(Fault fault, Trial trial) {
        Throwable thrown = null;
        arm(Thread.currentThread(), fault);
        try {
            trial.run();
        } catch (Throwable e) {
            thrown = e;
        } finally {
            armed = null;
        }
        return new Outcome(hasFired, thrown, place, Thread.interrupted());
    }

    /** Has a place of another thread fail, until {@link #disarm}. */
    public static void arm(Thread thread, Fault fault) {
        kind = fault.kind;
        lasts = fault.lasts;
        left = fault.passed;
        hasFired = false;
        place = null;
        armed = thread;
    }

    /** Ends that. Returns the places that were not passed. */
    public static int disarm() {
        armed = null;
        return left;
    }

    /** The error of the first place that failed; null for none. */
    public static Throwable place() {
        return place;
    }

    public static void memory() {
        interrupt();
        if (armed == Thread.currentThread() && kind == Kind.MEMORY && isDue()) {
            throw failed(new OutOfMemoryError("as tested"));
        }
    }

    public static void link() {
        interrupt();
        if (armed == Thread.currentThread() && kind == Kind.LINK && isDue()) {
            throw failed(new InternalError(new OutOfMemoryError("as tested")));
        }
    }

    public static void stack() {
        interrupt();
        if (armed == Thread.currentThread() && kind == Kind.STACK && isDue()) {
            throw failed(new StackOverflowError("as tested"));
        }
    }

    private static void interrupt() {
        if (armed == Thread.currentThread() && kind == Kind.INTERRUPT && isDue()) {
            if (!hasFired) {
                failed(new Error("interrupted as tested"));
            }
            armed.interrupt();
        }
    }

    private static boolean isDue() {
        if (left > 0) {
            left--;
            return false;
        }
        return !hasFired || lasts;
    }

    private static <E extends Error> E failed(E error) {
        if (!hasFired) {
            hasFired = true;
            place = error;
        }
        return error;
    }
}
