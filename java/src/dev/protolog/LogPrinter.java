package dev.protolog;

/**
 * Prints messages as {@code LEVEL TAG: text} on standard error, one call of {@code println} per message.
 *
 * <p>Invariant: nothing in a line depends on time, thread or machine, so that two runs can be compared.
 */
final class LogPrinter {
    private LogPrinter() {}

    static void print(LogLevel level, String tag, String text) {
        System.err.println(level + " " + tag + ": " + text);
    }

    /** Tells of a problem of the log itself; {@code help} says what to do and starts with a verb. */
    static void problem(String what, String help) {
        System.err.println("protolog: " + what + System.lineSeparator() + "  help: " + help);
    }
}
