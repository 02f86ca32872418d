package dev.protolog;

import dev.protolog.internal.groups.GroupState;
import dev.protolog.internal.groups.Groups;
import dev.protolog.internal.session.Sessions;
import dev.protolog.internal.text.LevelSet;
import dev.protolog.internal.text.TextOutput;
import dev.protolog.internal.text.TextQueue;
import dev.protolog.internal.write.Call;
import dev.protolog.internal.write.EventKey;
import dev.protolog.internal.write.LossCause;
import dev.protolog.internal.write.Routing;
import dev.protolog.internal.write.UnprocessedCall;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

/**
 * The log methods that applications call: {@code ProtoLog.d(NET, "sent %d bytes to %s", n, host);}.
 *
 * <p>A template is a constant with {@code %b %d %o %x %f %e %g %s}, each with optional zero
 * padding, width and precision ({@code %04d}, {@code %8.3f}), and {@code %%}. A name in parentheses
 * is that of the argument, as in {@code sent %(bytes)d to %(host)s}; the text is the same without.
 * An exception behind the arguments is written with its stack trace and causes. The tool turns each
 * call into one of {@link ProtoLogImpl} and moves the text to a dictionary; a call that it has not
 * seen comes here: it takes longer, and its trace says the same.
 *
 * <p>Messages go to the {@link Session}s that record their group, and to standard error where the
 * group is printed. Nothing has to be set up before the first call.
 *
 * <p>Invariants: no method throws, for any template and arguments; arguments are read
 * before the method returns.
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

    /**
     * Begins a span at level INFO, which ends when what comes back is closed: by
     * try-with-resources, in Kotlin by {@code use}. Its name is the text before the first
     * conversion. Sessions that record messages like it have a slice of it; text output shows none.
     * An exception behind the arguments is not recorded.
     * Where nobody records it, {@link Span#none} comes back.
     */
    public static Span span(IProtoLogGroup group, String template, Object... args) {
        return span(LogLevel.INFO, group, template, args);
    }

    /** Begins a span as {@link #span} does, at level VERBOSE. */
    public static Span spanV(IProtoLogGroup group, String template, Object... args) {
        return span(LogLevel.VERBOSE, group, template, args);
    }

    /** Begins a span as {@link #span} does, at level DEBUG. */
    public static Span spanD(IProtoLogGroup group, String template, Object... args) {
        return span(LogLevel.DEBUG, group, template, args);
    }

    /** Begins a span as {@link #span} does, at level WARN. */
    public static Span spanW(IProtoLogGroup group, String template, Object... args) {
        return span(LogLevel.WARN, group, template, args);
    }

    /** Begins a span as {@link #span} does, at level ERROR. */
    public static Span spanE(IProtoLogGroup group, String template, Object... args) {
        return span(LogLevel.ERROR, group, template, args);
    }

    /** Begins a span as {@link #span} does, at level WTF. */
    public static Span spanWtf(IProtoLogGroup group, String template, Object... args) {
        return span(LogLevel.WTF, group, template, args);
    }

    /**
     * Enters a new {@link Request}: until what comes back is closed, what the thread logs belongs
     * to it. {@code id} is a number, a path, the trace id of a header.
     */
    public static RequestScope request(Object id) {
        return new Request(id).enter();
    }

    /**
     * True if a message of this group and level would be recorded or printed, to guard work that
     * only serves a message; or if a rule may switch on a single call of them.
     */
    public static boolean isEnabled(IProtoLogGroup group, LogLevel level) {
        return Routing.isEnabledAtRunTime(group, level);
    }

    /** True if any message of this group would be recorded or printed. */
    public static boolean isEnabled(IProtoLogGroup group) {
        try {
            return group != null && Routing.of(group).isEnabled();
        } catch (Error e) {
            // Its messages count as lost.
            return true;
        }
    }

    /**
     * Prints the messages of a group from a level on; null prints none. The group itself sets the
     * printed levels at first ({@link IProtoLogGroup#isLogToLogcat}).
     */
    public static void printGroup(IProtoLogGroup group, LogLevel level) {
        GroupState state = register(group);
        if (state != null) {
            Groups.print(state, level == null ? 0 : LevelSet.andAbove(level));
        }
    }

    /**
     * Sends printed messages to {@code sink} for the life of the process, instead of to standard
     * error: a {@link RotatingFile}, {@link SystemLogger}, {@link StandardError}, or one of the
     * program's own.
     *
     * @throws IllegalStateException if a sink was set before
     */
    public static void setSink(TextSink sink) {
        TextOutput.set(sink);
    }

    /**
     * Waits until all messages that were printed before are shown, for at most {@code limit}; false
     * if some are not. The end of a session and of the program wait for a second.
     */
    public static boolean flushText(Duration limit) {
        return TextQueue.flush(limit);
    }

    /**
     * The printed messages that were dropped since the program started, since they could not be
     * shown or too many waited for that.
     */
    public static long droppedText() {
        return TextQueue.dropped();
    }

    /**
     * Fires the cause of this name in all sessions that have {@linkplain Triggers triggers}: each
     * writes what it keeps to a file of its own. Returns the number of those that do; others have
     * done so a moment ago, or have none.
     */
    public static int trigger(String cause) {
        return Sessions.trigger(Objects.requireNonNull(cause));
    }

    /**
     * Fires as {@link #trigger} does, and returns the event's name for other machines, which
     * {@link #joinEvent} takes there; null where no file comes of it. It has digits, letters and
     * hyphens, so that it may go through a header of a request.
     */
    public static String triggerEvent(String cause) {
        Instant now = Instant.now();
        EventKey key = EventKey.of(now.getEpochSecond() * 1_000_000_000 + now.getNano(), cause);
        return Sessions.trigger(cause, key) == 0 ? null : key.toString();
    }

    /**
     * Has every session that has {@linkplain Triggers triggers} write what it keeps of an event of
     * another machine, whose name {@link #triggerEvent} returned there: the same time, as far as
     * the clocks of both agree. Returns the number of files that come of it: 0 also for a text that
     * is no event's name, and for one whose time is more than ten minutes away. Who may send such a
     * name may have files written, as many as {@link Triggers} lets any cause write and keep.
     */
    public static int joinEvent(String event) {
        EventKey key = EventKey.parse(event);
        return key == null ? 0 : Sessions.join(key);
    }

    /**
     * Makes groups known before their first message, and looks again at which groups are printed.
     * May be left out.
     */
    public static void init(IProtoLogGroup... groups) {
        registerLogGroupInProcess(groups);
        Groups.askAll();
        Routing.routeAll();
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
            UnprocessedCall.record(level, group, template, args);
        } catch (RuntimeException | Error e) {
            // Out of memory or of stack: the message is lost, the application goes on.
            Routing.lose(group, level, LossCause.BUFFER_FULL);
        }
    }

    /** Begins a span at any level. */
    private static Span span(LogLevel level, IProtoLogGroup group, String template, Object[] args) {
        if (!isEnabled(group, level)) {
            return Span.none();
        }
        try {
            Call call = UnprocessedCall.begin(level, group, template, args);
            return call == null ? Span.none() : call.beginSpan();
        } catch (RuntimeException | Error e) {
            // Out of memory or of stack: the span is lost, the application goes on.
            Routing.lose(group, level, LossCause.BUFFER_FULL);
            return Span.none();
        }
    }

    /** The state of a group; null for no group, and where there is no memory for one. */
    private static GroupState register(IProtoLogGroup group) {
        try {
            return group == null ? null : Routing.of(group);
        } catch (Error e) {
            // Its first message tries again.
            return null;
        }
    }
}
