package dev.protolog.internal.process;

/**
 * Errors of the JVM that pass: there is no memory now, or no stack here. Where the JVM links an
 * operation or initializes a class meanwhile, the error is the cause of another one.
 */
public final class PassingErrors {
    /**
     * The classes that catch clauses name: the JVM asks the class loader for each once, and that
     * takes memory, too.
     */
    private static final Class<?>[] CAUGHT = {OutOfMemoryError.class, StackOverflowError.class, LinkageError.class, InternalError.class};

    private PassingErrors() {}

    /** Has the JVM load all that handles these errors. */
    public static void prepare() {
        assert CAUGHT.length > 0 && !isOne(null);
    }

    public static boolean isOne(Throwable error) {
        for (Throwable each = error; each != null; each = each.getCause()) {
            if (each instanceof OutOfMemoryError || each instanceof StackOverflowError) {
                return true;
            }
        }
        return false;
    }
}
