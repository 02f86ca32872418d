package dev.protolog;

/**
 * The log methods that applications call: {@code ProtoLog.d(NET, "sent %d bytes to %s", n, host);}.
 *
 * <p>A template is a constant with {@code %b %d %o %x %f %e %g %s}, each with optional zero padding, width and precision
 * ({@code %04d}, {@code %8.3f}), and {@code %%}. The tool turns each call into one of {@link ProtoLogImpl} and moves the
 * text to a dictionary; a call that it has not seen comes here, and is rendered and printed on the spot.
 *
 * <p>Invariants: no method throws, whatever the template and the arguments; a processed and an unprocessed call print
 * the same line.
 */
public final class ProtoLog {
    private ProtoLog() {}

    /** Logs at level VERBOSE. */
    public static void v(ProtoLogGroup group, String template, Object... args) {
        log(LogLevel.VERBOSE, group, template, args);
    }

    /** Logs at level DEBUG. */
    public static void d(ProtoLogGroup group, String template, Object... args) {
        log(LogLevel.DEBUG, group, template, args);
    }

    /** Logs at level INFO. */
    public static void i(ProtoLogGroup group, String template, Object... args) {
        log(LogLevel.INFO, group, template, args);
    }

    /** Logs at level WARN. */
    public static void w(ProtoLogGroup group, String template, Object... args) {
        log(LogLevel.WARN, group, template, args);
    }

    /** Logs at level ERROR. */
    public static void e(ProtoLogGroup group, String template, Object... args) {
        log(LogLevel.ERROR, group, template, args);
    }

    /** Logs at level WTF: what can't happen, happened. */
    public static void wtf(ProtoLogGroup group, String template, Object... args) {
        log(LogLevel.WTF, group, template, args);
    }

    /** True if a message of this group and level would be printed, to guard work that only serves a message. */
    public static boolean isEnabled(ProtoLogGroup group, LogLevel level) {
        return Levels.current().isEnabled(group, level);
    }

    private static void log(LogLevel level, ProtoLogGroup group, String template, Object[] args) {
        if (isEnabled(group, level)) {
            LogPrinter.print(level, group, MessageText.of(template, args));
        }
    }
}
