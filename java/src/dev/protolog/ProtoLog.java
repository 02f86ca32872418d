package dev.protolog;

import java.time.Duration;
import java.util.Arrays;

/**
 * The log methods that applications call: {@code ProtoLog.d(NET, "sent %d bytes to %s", n, host);}.
 *
 * <p>A template is a constant with {@code %b %d %o %x %f %e %g %s}, each with optional zero padding, width and precision
 * ({@code %04d}, {@code %8.3f}), and {@code %%}. An exception behind the arguments is written with its stack trace and causes. The tool turns each call into one of {@link ProtoLogImpl} and moves the
 * text to a dictionary; a call that it has not seen comes here: it takes longer, and its trace says the same.
 *
 * <p>Messages go to the {@link Session}s that record their group, and to standard error where the group is printed. Nothing has to be
 * set up before the first call.
 *
 * <p>Invariants: no method throws, whatever the template and the arguments; arguments are read before the method returns.
 */
public final class ProtoLog {
    private ProtoLog() {}

    /** Logs at level VERBOSE. */
    public static void v(IProtoLogGroup group, String template, Object... args) {
        log(LogLevel.VERBOSE, group, template, args);
    }

    /** Logs at level DEBUG. */
    public static void d(IProtoLogGroup group, String template, Object... args) {
        log(LogLevel.DEBUG, group, template, args);
    }

    /** Logs at level INFO. */
    public static void i(IProtoLogGroup group, String template, Object... args) {
        log(LogLevel.INFO, group, template, args);
    }

    /** Logs at level WARN. */
    public static void w(IProtoLogGroup group, String template, Object... args) {
        log(LogLevel.WARN, group, template, args);
    }

    /** Logs at level ERROR. */
    public static void e(IProtoLogGroup group, String template, Object... args) {
        log(LogLevel.ERROR, group, template, args);
    }

    /** Logs at level WTF: what can't happen, happened. */
    public static void wtf(IProtoLogGroup group, String template, Object... args) {
        log(LogLevel.WTF, group, template, args);
    }

    /** True if a message of this group and level would be recorded or printed, to guard work that only serves a message. */
    public static boolean isEnabled(IProtoLogGroup group, LogLevel level) {
        return Groups.isEnabled(group, level);
    }

    /** True if any message of this group would be recorded or printed. */
    public static boolean isEnabled(IProtoLogGroup group) {
        try {
            return group != null && Groups.of(group).isEnabled();
        } catch (Error e) {
            // Its messages count as lost.
            return true;
        }
    }

    /**
     * Prints the messages of a group from a level on; null prints none. The group itself says what is printed at first
     * ({@link IProtoLogGroup#isLogToLogcat}).
     */
    public static void printGroup(IProtoLogGroup group, LogLevel level) {
        GroupState state = register(group);
        if (state != null) {
            Groups.print(state, level == null ? 0 : level.andAbove());
        }
    }

    /**
     * Sends printed messages to {@code sink} for the life of the process, instead of to standard error: a {@link RotatingFile},
     * {@link SystemLogger}, {@link StandardError}, or one of the program's own.
     *
     * @throws IllegalStateException if a sink was set before
     */
    public static void setSink(TextSink sink) {
        TextOutput.set(sink);
    }

    /**
     * Waits until all messages that were printed before are shown, for at most {@code limit}; false if some are not. The end of a
     * session and of the program wait for a second.
     */
    public static boolean flushText(Duration limit) {
        return TextQueue.flush(limit);
    }

    /** The printed messages that were dropped since the program started, since they could not be shown or too many waited for that. */
    public static long droppedText() {
        return TextQueue.dropped();
    }

    /** Makes groups known before their first message, and looks again at which groups are printed. May be left out. */
    public static void init(IProtoLogGroup... groups) {
        registerLogGroupInProcess(groups);
        Groups.askAll();
        Groups.routeAll();
    }

    /** Makes groups known before their first message. */
    public static void registerLogGroupInProcess(IProtoLogGroup... groups) {
        if (groups == null) {
            return;
        }
        for (IProtoLogGroup group : groups) {
            register(group);
        }
    }

    /** Logs at any level. */
    static void log(LogLevel level, IProtoLogGroup group, String template, Object[] args) {
        if (!isEnabled(group, level)) {
            return;
        }
        try {
            record(level, group, template, args, null, null);
        } catch (RuntimeException | Error e) {
            // Out of memory or of stack: the message is lost, the application goes on.
            Sessions.lose(group, level, LossCause.BUFFER_FULL);
        }
    }

    /** The state of a group; null for no group, and where there is no memory for one. */
    private static GroupState register(IProtoLogGroup group) {
        try {
            return group == null ? null : Groups.of(group);
        } catch (Error e) {
            // Its first message tries again.
            return null;
        }
    }

    /** Records an enabled message. An exception is among the arguments, or its {@code trace} is given; {@code from} is the origin of an event, or null. */
    static void record(LogLevel level, IProtoLogGroup group, String text, Object[] args, String trace, EventOrigin from) {
        GroupState state = Groups.of(group);
        EventOrigin.Resolved origin = from == null ? null : from.resolve();
        String location = null;
        if (state.routes.hasLocations) {
            boolean isHere = from == null || from.isOfThisThread();
            location = from != null && from.location() != null ? from.location() : isHere ? CallStacks.location() : null;
        }
        RuntimeMessage message = RuntimeMessage.of(state, level, String.valueOf(text), location);
        Object[] values;
        String thrown = trace;
        try {
            Template template = message != null && message.template() != null ? message.template() : Template.parse(String.valueOf(text));
            values = MessageText.oneNullOrNone(args, template.size());
            if (trace == null && hasException(values, template.size())) {
                thrown = Thrown.of((Throwable) values[values.length - 1]).trace;
                values = Arrays.copyOf(values, values.length - 1);
            }
            if (message != null) {
                values = template.values(values);
            } else {
                // One template too many: its text takes more bytes, and loses nothing.
                values = new Object[] {template.render(values)};
                message = RuntimeMessage.of(state, level, RuntimeMessage.ANY_TEXT, location);
            }
        } catch (TemplateException e) {
            // The text that tells so is a message of its own.
            message = RuntimeMessage.of(state, level, RuntimeMessage.ANY_TEXT, location);
            values = new Object[] {MessageText.formatError(text, args, e.getMessage())};
        }
        if (message == null) {
            Sessions.lose(state, level, LossCause.TEMPLATE_LIMIT);
            return;
        }
        long mask = message.template().mask();
        Call call = Call.begin(group, level, message.id(), mask);
        call.of(message.template(), thrown, origin);
        call.addAll(mask, values).end();
    }

    /** True if an exception, or null for none, is behind the arguments of a template. */
    private static boolean hasException(Object[] args, int taken) {
        return args.length == taken + 1 && (args[taken] == null || args[taken] instanceof Throwable);
    }
}
