package dev.protolog;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import java.util.function.Function;

/**
 * A logger of another library, as its bridge sees it: the logger's name is the group, templates with braces become those of protolog.
 *
 * <p>{@code sent {} bytes to {}} with an int and a string is recorded as {@code sent %d bytes to %s}, once for each template and sequence of
 * types. A text without arguments is an argument of {@code %s}, since it may be another one each time. Pairs follow the text as {@code key=value},
 * the stack trace of an exception on lines of its own.
 *
 * <p>Invariants: no method throws; the number of templates is limited, beyond it texts are formatted.
 */
public final class BridgedLogger {
    /** The most characters of a stack trace; a string of a trace has 4096 bytes. */
    private static final int MAX_STACK = 3800;

    private final IProtoLogGroup group;

    private BridgedLogger(IProtoLogGroup group) {
        this.group = group;
    }

    /** The logger of this name. */
    public static BridgedLogger of(String name) {
        return new BridgedLogger(LoggerGroups.of(name == null || name.isEmpty() ? "root" : name));
    }

    /** True if a message of this level would be recorded or printed. */
    public boolean isEnabled(LogLevel level) {
        return Groups.isEnabled(group, level);
    }

    /**
     * Logs a template with {@code {}} for each argument, as SLF4J and Log4j have them. A pair of braces without argument is text, an argument
     * without braces is left out; {@code thrown} and {@code pairs} may be null.
     */
    public void log(LogLevel level, String template, Object[] args, Throwable thrown, Map<String, ?> pairs) {
        logIfFormatted(level, template, args, null, thrown, pairs);
    }

    /**
     * As {@link #log}, of a logger with rules of its own: where template and arguments are not {@code formatted}, which is what it has made of
     * them, that text is the message.
     */
    public void logIfFormatted(LogLevel level, String template, Object[] args, String formatted, Throwable thrown, Map<String, ?> pairs) {
        record(level, thrown, stack -> {
            BraceTemplate.Message message = BraceTemplate.message(template, args, false, pairs, stack, formatted);
            return message != null ? message : BraceTemplate.message(formatted, null, false, pairs, stack);
        });
    }

    /**
     * Logs a template with {@code {0}}, {@code {1}} for arguments, as the JDK has them. Numbers are recorded as they are, without grouping, unless the
     * template says how they look.
     */
    public void logNumbered(LogLevel level, String template, Object[] args, Throwable thrown, Map<String, ?> pairs) {
        record(level, thrown, stack -> NumberedText.isSpecial(template, args)
                ? BraceTemplate.message(NumberedText.format(template, args), null, true, pairs, stack)
                : BraceTemplate.message(template, args, true, pairs, stack));
    }

    private void record(LogLevel level, Throwable thrown, Function<String, BraceTemplate.Message> template) {
        if (!isEnabled(level)) {
            return;
        }
        try {
            BraceTemplate.Message message = template.apply(thrown == null ? null : stackTrace(thrown));
            ProtoLog.log(level, group, message.template(), message.values());
        } catch (RuntimeException | Error e) {
            // Out of memory or of stack: the message is lost, the application goes on.
            Sessions.lose(group, level, LossCause.BUFFER_FULL);
        }
    }

    /** The stack trace as Java prints it, cut after a line. */
    static String stackTrace(Throwable thrown) {
        StringWriter text = new StringWriter();
        try {
            thrown.printStackTrace(new PrintWriter(text));
        } catch (RuntimeException | StackOverflowError e) {
            return MessageText.textOf(thrown);
        }
        String whole = text.toString().strip();
        if (whole.length() <= MAX_STACK) {
            return whole;
        }
        int end = whole.lastIndexOf('\n', MAX_STACK);
        return whole.substring(0, end < 0 ? MAX_STACK : end) + "\n\t\u2026";
    }
}
