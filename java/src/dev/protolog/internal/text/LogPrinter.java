package dev.protolog.internal.text;

import dev.protolog.LogLevel;
import java.io.PrintStream;

/**
 * Prints messages as {@code LEVEL TAG: text} on standard error, one call of {@code println} per
 * message.
 *
 * <p>Invariants: nothing in a line depends on time, thread or machine, so that two runs can be
 * compared; a stream that logs its input does not go on for ever.
 */
public final class LogPrinter {
    /** True while this thread prints. Only the thread that shows text does. */
    private static boolean isPrinting;

    private LogPrinter() {}

    /** Prints a message, on the thread that shows text; false if it could not. */
    static boolean print(LogLevel level, String tag, String text) {
        // A tag has no second line, which would pass for another message.
        return line(level + " " + Controls.escaped(tag.replace("\n", "")) + ": " + Controls.escaped(text));
    }

    /**
     * Tells of a problem of the log itself; {@code help} says what to do and starts with a verb.
     */
    public static void problem(String what, String help) {
        queue("protolog: " + what + System.lineSeparator() + "  help: " + help);
    }

    /** Prints a text of the log itself, in its turn. */
    public static void queue(String text) {
        TextQueue.push(text.length(), () -> line(text));
    }

    /** Prints a line, on the thread that shows text; false if it could not. */
    static boolean line(String line) {
        if (isPrinting) {
            return false;
        }
        isPrinting = true;
        try {
            PrintStream out = System.err;
            out.println(line);
            return true;
        } finally {
            isPrinting = false;
        }
    }
}
