package dev.protolog;

import dev.protolog.internal.groups.LoggerGroups;
import dev.protolog.internal.text.BraceTemplate;
import dev.protolog.internal.text.MessageText;
import dev.protolog.internal.text.NamedTemplate;
import dev.protolog.internal.text.NumberedText;
import dev.protolog.internal.text.StackText;
import dev.protolog.internal.write.LossCause;
import dev.protolog.internal.write.Routing;
import dev.protolog.internal.write.UnprocessedCall;
import java.util.Map;
import java.util.function.Supplier;

/**
 * A logger of another library, as its bridge sees it: the logger's name is the group, templates
 * with braces become those of protolog.
 *
 * <p>{@code sent {} bytes to {}} with an int and a string is recorded as {@code sent %d bytes to
 * %s}, once for each template and sequence of types. A text without arguments is an argument of
 * {@code %s}, since it may be another one each time. Pairs follow the text as {@code key=value},
 * and keys are names of arguments to readers; the stack trace of an exception is a field of the
 * message. One with the key {@code request_id} names the {@link Request} that the message belongs
 * to.
 *
 * <p>Invariants: no method throws; the number of templates is limited, beyond it texts are
 * formatted.
 */
public final class BridgedLogger {
    /** The pair that names a request, as the field of a span does for the bridge in Rust. */
    private static final String REQUEST = "request_id";

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
        return Routing.isEnabledAtRunTime(group, level);
    }

    /**
     * Logs a template with {@code {}} for each argument, as SLF4J and Log4j have them. A pair of
     * braces without argument is text, an argument without braces is left out; {@code thrown},
     * {@code pairs} and {@code origin} may be null.
     */
    public void log(LogLevel level, String template, Object[] args, Throwable thrown, Map<String, ?> pairs, EventOrigin origin) {
        logIfFormatted(level, template, args, null, thrown, pairs, origin);
    }

    /** As above, of a message that the current thread logs now. */
    public void log(LogLevel level, String template, Object[] args, Throwable thrown, Map<String, ?> pairs) {
        log(level, template, args, thrown, pairs, null);
    }

    /**
     * As {@link #log}, of a logger with rules of its own: where template and arguments do not give
     * {@code formatted}, the text that it has made of them, that text is the message.
     */
    public void logIfFormatted(
            LogLevel level, String template, Object[] args, String formatted, Throwable thrown, Map<String, ?> pairs, EventOrigin origin) {
        record(level, thrown, pairs, origin, () -> {
            BraceTemplate.Message message = BraceTemplate.message(template, args, false, pairs, formatted);
            return message != null ? message : BraceTemplate.message(formatted, null, false, pairs);
        });
    }

    /**
     * Logs a template with {@code {0}}, {@code {1}} for arguments, as the JDK has them. Numbers are
     * recorded as they are, without grouping, unless the template says how they look.
     */
    public void logNumbered(LogLevel level, String template, Object[] args, Throwable thrown, Map<String, ?> pairs, EventOrigin origin) {
        record(level, thrown, pairs, origin, () -> NumberedText.isSpecial(template, args)
                ? BraceTemplate.message(NumberedText.format(template, args), null, true, pairs)
                : BraceTemplate.message(template, args, true, pairs));
    }

    private void record(LogLevel level, Throwable thrown, Map<String, ?> pairs, EventOrigin origin, Supplier<BraceTemplate.Message> template) {
        if (!isEnabled(level)) {
            return;
        }
        try {
            BraceTemplate.Message message = template.get();
            String trace = thrown == null ? null : StackText.of(thrown);
            NamedTemplate named = message.template();
            Object request = pairs == null ? null : pairs.get(REQUEST);
            String id = request == null ? null : MessageText.textOf(request);
            UnprocessedCall.record(level, group, named.text(), named.names(), message.values(), trace, origin, id);
        } catch (RuntimeException | Error e) {
            // Out of memory or of stack: the message is lost, the application goes on.
            Routing.lose(group, level, LossCause.BUFFER_FULL);
        }
    }
}
