package dev.protolog.internal.write;

/**
 * The error of memory whose file was truncated. The JVM throws one itself, but later, wherever the
 * thread is by then, unless the thread goes through the kernel before.
 *
 * <p>Invariant: none comes later.
 */
public final class TruncatedFile {
    private TruncatedFile() {}

    /** Throws the error. */
    public static void fail() {
        try {
            Thread.yield();
        } catch (InternalError e) {
            // The one of the JVM.
        }
        throw new InternalError("the session's file was truncated");
    }
}
