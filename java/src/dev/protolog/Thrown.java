package dev.protolog;

import dev.protolog.internal.text.StackText;

/**
 * The exception that a call passes behind the arguments of its template, as processed code hands it
 * on ({@link ProtoLogImpl#t}). Its stack trace is a field of the message, so that the message is
 * the same one with and without an exception.
 *
 * <p>Invariant: no exception is kept, only its text, which {@link StackText} limits. Code of the
 * application made it before the call begins.
 */
public final class Thrown {
    static {
        Access.install();
    }

    static final Thrown NONE = new Thrown(null);

    /** Null for none. */
    final String trace;

    private Thrown(String trace) {
        this.trace = trace;
    }

    static Thrown of(Throwable exception) {
        return exception == null ? NONE : new Thrown(StackText.of(exception));
    }
}
