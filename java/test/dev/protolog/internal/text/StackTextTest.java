package dev.protolog.internal.text;

import static dev.protolog.SelfTest.check;

import dev.protolog.internal.proto.Utf8;
import java.io.PrintWriter;
import java.io.StringWriter;

/**
 * Stack traces as texts: as Java prints them, and of those that are too long the exceptions before
 * the frames.
 */
public final class StackTextTest {
    private StackTextTest() {}

    public static void run() {
        Exception suppressed = new IllegalStateException("of close", new RuntimeException("of that"));
        Exception failed = new Exception("outer", new Exception("inner"));
        failed.addSuppressed(suppressed);
        check("as Java prints it", StackText.of(failed), printed(failed));
        Exception itself = new Exception("a");
        itself.initCause(new Exception("b", itself));
        check("causes in a circle", StackText.of(itself), printed(itself));

        Exception deep = deep(300, new IllegalArgumentException("the root of it"));
        String text = StackText.of(deep);
        check("a deep one is short", Utf8.length(text) <= 3800, true);
        check("and has all causes", text.contains("Caused by: java.lang.IllegalStateException: between")
                && text.contains("Caused by: java.lang.IllegalArgumentException: the root of it"), true);
        check("and says what it lacks", text.contains(" more\nCaused by: "), true);

        Exception throwing = new Exception() {
            private static final long serialVersionUID = 1;

            @Override
            public String toString() {
                throw new IllegalStateException();
            }
        };
        check("one that throws is named", StackText.of(new Exception("outer", throwing)).contains("Caused by: <" + throwing.getClass().getName() + ".toString: "), true);
        Exception noCause = new Exception("outer") {
            private static final long serialVersionUID = 1;

            @Override
            public Throwable getCause() {
                throw new AssertionError();
            }

            @Override
            public StackTraceElement[] getStackTrace() {
                return null;
            }
        };
        String named = noCause.getClass().getName();
        check("one with a cause that throws", StackText.of(noCause), named + ": outer\n\t<" + named + ".getCause: java.lang.AssertionError>");
        check("a long message is there", StackText.of(new Exception("x".repeat(10_000))).startsWith("java.lang.Exception: xxx"), true);
        Exception many = new Exception("last");
        for (int i = 0; i < 10_000; i++) {
            many = new Exception("number " + i, many);
        }
        check("many causes end", Utf8.length(StackText.of(many)) <= 3800, true);
    }

    private static Exception deep(int depth, Exception root) {
        return depth > 0 ? deep(depth - 1, root) : new RuntimeException("outer", new IllegalStateException("between", root));
    }

    private static String printed(Exception exception) {
        StringWriter out = new StringWriter();
        exception.printStackTrace(new PrintWriter(out));
        return out.toString().strip();
    }
}
