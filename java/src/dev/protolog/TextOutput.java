package dev.protolog;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;

/**
 * The choice of the sink for printed messages. Invariants: there is one sink, which never changes once it is set; a sink that throws does not
 * hurt the call.
 */
final class TextOutput {
    private static final VarHandle SINK;

    private static volatile TextSink sink;

    static {
        try {
            SINK = MethodHandles.lookup().findStaticVarHandle(TextOutput.class, "sink", TextSink.class);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private TextOutput() {}

    static void set(TextSink chosen) {
        if (!SINK.compareAndSet(null, Objects.requireNonNull(chosen))) {
            throw new IllegalStateException("text has a sink already");
        }
    }

    static void show(LogLevel level, String tag, String text) {
        TextSink chosen = sink;
        if (chosen != null) {
            try {
                chosen.show(new TextLine(level, tag, text));
                return;
            } catch (RuntimeException | Error e) {
                // The message goes where all do without a sink.
            }
        }
        LogPrinter.print(level, tag, text);
    }
}
