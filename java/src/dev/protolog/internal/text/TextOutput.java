package dev.protolog.internal.text;

import dev.protolog.LogLevel;
import dev.protolog.TextLine;
import dev.protolog.TextSink;
import dev.protolog.internal.process.Origin;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;

/**
 * The choice of the sink for printed messages. Invariants: there is one sink, which never changes
 * once it is set; a sink that throws or waits does not hurt the call.
 */
public final class TextOutput {
    private static final VarHandle SINK;

    private static volatile TextSink sink;

    /** Of the thread that shows text. */
    private static boolean hasFailed;

    static {
        try {
            SINK = MethodHandles.lookup().findStaticVarHandle(TextOutput.class, "sink", TextSink.class);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private TextOutput() {}

    public static void set(TextSink chosen) {
        if (!SINK.compareAndSet(null, Objects.requireNonNull(chosen))) {
            throw new IllegalStateException("text has a sink already");
        }
    }

    /**
     * Shows a message, on the thread for that; {@code origin} is null for one that this thread logs
     * now.
     */
    public static void show(LogLevel level, String tag, String text, Origin origin) {
        TextSink chosen = sink;
        if (TextQueue.isWriter()) {
            // The sink itself logs. One that does so for each message it is shown would never end.
            LogPrinter.print(level, tag, text);
        } else if (chosen == null) {
            TextQueue.push(tag.length() + text.length(), () -> LogPrinter.print(level, tag, text));
        } else {
            TextLine line = origin == null
                    ? new TextLine(level, tag, text)
                    : new TextLine(level, tag, text, origin.time(), origin.threadId(), origin.threadName());
            TextQueue.push(tag.length() + text.length(), () -> show(chosen, line));
        }
    }

    /** Shows that so many messages were dropped. */
    static boolean showDropped(long count) {
        TextSink chosen = sink;
        if (chosen == null) {
            String what = count == 1 ? "1 line of text was" : count + " lines of text were";
            return LogPrinter.line("protolog: " + what + " dropped: standard error did not take " + (count == 1 ? "it" : "them"));
        }
        String what = count == 1 ? "1 message was" : count + " messages were";
        what += " dropped: the text sink did not take " + (count == 1 ? "it" : "them");
        return show(chosen, new TextLine(LogLevel.WARN, "protolog", what));
    }

    /** Has a sink say that it could not show its text, on the thread that shows text. */
    public static void fail() {
        hasFailed = true;
    }

    private static boolean show(TextSink sink, TextLine line) {
        hasFailed = false;
        try {
            sink.show(line);
            return !hasFailed;
        } catch (RuntimeException | Error e) {
            // The message goes where all do without a sink.
            return LogPrinter.print(line.level(), line.tag(), line.text());
        }
    }
}
