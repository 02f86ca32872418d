package dev.protolog.internal.write;

import dev.protolog.IProtoLogGroup;
import dev.protolog.LogLevel;
import dev.protolog.Span;
import dev.protolog.Thrown;
import dev.protolog.internal.ApiAccess;
import dev.protolog.internal.dictionary.Dictionaries;
import dev.protolog.internal.dictionary.RuntimeMessages;
import dev.protolog.internal.groups.GroupState;
import dev.protolog.internal.groups.Groups;
import dev.protolog.internal.groups.RuntimeMessage;
import dev.protolog.internal.groups.Switch;
import dev.protolog.internal.process.Origin;
import dev.protolog.internal.process.ThreadIdentity;
import dev.protolog.internal.rules.RuledCall;
import dev.protolog.internal.rules.Rules;
import dev.protolog.internal.text.Arguments;
import dev.protolog.internal.text.CallStacks;
import dev.protolog.internal.text.LevelSet;
import dev.protolog.internal.text.MessageText;
import dev.protolog.internal.text.Template;
import dev.protolog.internal.text.TextOutput;
import java.util.Arrays;

/**
 * One call's arguments, taken over from the application before anything is written. There is one
 * object for each thread; it is used again and again, so that a call allocates nothing.
 *
 * <p>Invariants: no code of the application runs between {@link #begin} and {@link #end}; nothing
 * is thrown from here, not even after errors of files.
 */
public final class Call {
    /** The length of a text that a thread may keep between calls. */
    private static final int KEPT_TEXT = 1024;

    /** Takes the arguments of a disabled call. Its content means nothing. */
    private static final Call UNUSED = new Call();
    /** The message. */
    long id;
    LogLevel level;
    public GroupState group;
    /** The types of arguments that the call was compiled with. */
    long mask;
    /** The template of an unprocessed call; null of a processed one. */
    Template template;
    /** The arguments: how many there are, their kinds, two bits each, and their values. */
    int count;
    long kinds;
    final long[] words = new long[Arguments.MAX];
    final String[] texts = new String[Arguments.MAX];
    /** The thread and the time of an event that a bridge passes on; null for the current ones. */
    Origin origin;
    /** The stack trace of the exception behind the arguments; null for none. */
    String thrown;
    /** What rules make of the call. */
    RuledCall rule = RuledCall.NONE;
    /**
     * The rate at which the message was kept by chance, as {@link RuledCall#rate} has it; 0 for one
     * that was kept for sure.
     */
    long rate;
    /** The stack trace of the message in the session that it is written to; null for none. */
    String stack;

    /**
     * The moment at which all of several sessions get the message, in nanoseconds of BOOTTIME; 0
     * where there is one, whose writer reads the clock.
     */
    long moment;

    private final CallWriters writers = new CallWriters();
    /** The thread's id in traces, once a message of it was recorded. */
    volatile int threadId;
    private final CallLimits limits = new CallLimits(writers.own(), writers.isVirtual());
    private boolean isBusy;
    /** The spans that the thread is in; null before the first. */
    private ThreadSpans spans;
    /** The requests that the thread is in; null before the first. */
    ThreadRequests requests;
    /** The innermost one, to which its messages belong; null for none. */
    RequestMark request;
    /** The last one that an event has named; null before the first. */
    private RequestMark named;
    /** The begin or end of a span that is written in place of a message; null for none. */
    Slice slice;
    /** Numbers of processed calls that don't fit; null for none. */
    private Misfits misfits;
    /**
     * True if a text is long: then texts are forgotten after the call, so that idle threads keep
     * little.
     */
    private boolean hasLongText;

    Call() {}

    /** Begins a call of the thread. */
    public static Call begin(IProtoLogGroup group, LogLevel level, long id, long mask) {
        return begin(group, level, id, mask, null, 0);
    }

    /**
     * As above; {@code known} is what rules make of the call, by which it was kept with the rate
     * {@code kept}. Null if that is to be found.
     */
    static Call begin(IProtoLogGroup group, LogLevel level, long id, long mask, RuledCall known, long kept) {
        GroupState state;
        Call call;
        RuledCall rule;
        try {
            state = known == null ? Routing.enabled(group, level) : Routing.of(group);
            if (state == null) {
                return UNUSED;
            }
            rule = known != null ? known : state.isRuled() ? Rules.of(id) : RuledCall.NONE;
            call = ThreadCalls.ofThread();
        } catch (Error e) {
            Groups.repair(e);
            Routing.lose(group, level, LossCause.BUFFER_FULL);
            return UNUSED;
        }
        if (call.isBusy || state == Groups.UNREGISTERED) {
            // A stream that prints messages logs itself, or a group's own method does.
            Routing.lose(group, level, LossCause.REENTRANT);
            return UNUSED;
        }
        long rate = kept;
        if (rule != RuledCall.NONE || !Switch.isEnabled(state.word(), level)) {
            rate = known != null ? kept : call.limits.sample(state, level, rule);
            if (rate == CallLimits.PASSED_OVER || !call.limits.isDue(state, level, rule)) {
                return UNUSED;
            }
        }
        if (call.rule != rule) {
            // A store of an object costs more than a look.
            call.rule = rule;
        }
        call.id = id;
        call.mask = mask;
        call.rate = rate;
        call.template = null;
        call.thrown = null;
        call.origin = null;
        call.level = level;
        call.group = state;
        call.count = 0;
        call.kinds = 0;
        return call;
    }

    /**
     * Decides whether a message is kept whose arguments are not evaluated yet; the result is that
     * of {@link CallLimits#sample}.
     */
    static long sample(GroupState state, LogLevel level, RuledCall rule) {
        return rule.isSampled() ? ThreadCalls.ofThread().limits.sample(state, level, rule) : 0;
    }

    /**
     * Notes a number that an argument of a processed call can't have, and gives the value that
     * stands for it until the call ends.
     */
    public static long misfit(Number number) {
        try {
            // Code of the application, before the call begins.
            String text = MessageText.textOf(number);
            Call call = ThreadCalls.ofThread();
            if (call.misfits == null) {
                call.misfits = new Misfits();
            }
            return call.misfits.add(text, number.getClass().getName());
        } catch (OutOfMemoryError | StackOverflowError | LinkageError e) {
            return 0;
        }
    }

    /**
     * Says that the call is an unprocessed one, with this template; the stack trace of its
     * exception and its origin may be null.
     */
    void of(Template unprocessed, String trace, Origin from) {
        template = unprocessed;
        thrown = trace;
        origin = from;
    }

    public Call add(long value) {
        return put(Arguments.INTEGER, value, null);
    }

    public Call add(double value) {
        return put(Arguments.FLOATING, Double.doubleToRawLongBits(value), null);
    }

    public Call add(boolean value) {
        return put(Arguments.BOOL, value ? 1 : 0, null);
    }

    public Call add(String value) {
        return put(Arguments.TEXT, 0, value == null ? "null" : value);
    }

    /**
     * Adds values: numbers, booleans and texts; a null is of the kind that {@code mask} has there.
     */
    public Call addAll(long mask, Object[] args) {
        for (int i = 0; args != null && i < args.length && i < Arguments.MAX; i++) {
            Object arg = args[i];
            if (arg == null) {
                int kind = (int) (mask >>> 2 * i) & 3;
                put(kind, 0, kind == Arguments.TEXT ? "null" : null);
            } else if (arg instanceof Double || arg instanceof Float) {
                add(((Number) arg).doubleValue());
            } else if (arg instanceof Long || arg instanceof Integer || arg instanceof Short || arg instanceof Byte) {
                add(((Number) arg).longValue());
            } else if (arg instanceof Boolean bool) {
                add((boolean) bool);
            } else if (arg instanceof Thrown exception) {
                thrown = this == UNUSED ? null : ApiAccess.get().trace(exception);
            } else {
                add((String) arg);
            }
        }
        return this;
    }

    /**
     * Adds a result of a conversion that javac has boxed. Where the JVM's compiler has put the
     * caller and this into one, it sees the class of the box, and makes none.
     */
    public Call add(Object value) {
        if (value instanceof Long integer) {
            return put(Arguments.INTEGER, integer, null);
        } else if (value instanceof String text) {
            return put(Arguments.TEXT, 0, text);
        } else if (value instanceof Double number) {
            return put(Arguments.FLOATING, Double.doubleToRawLongBits(number), null);
        } else if (value instanceof Boolean bool) {
            return put(Arguments.BOOL, bool ? 1 : 0, null);
        }
        return addAll(mask >>> 2 * count, new Object[] {value});
    }

    /** Records the message in each session that wants it, and prints it if its group is printed. */
    public void end() {
        if (this == UNUSED) {
            return;
        }
        isBusy = true;
        // As `SessionRoutes.of`, without a call, for which there may be no stack.
        SessionRoutes ofGroup = group.routes instanceof SessionRoutes known ? known : SessionRoutes.NONE;
        RuledCall ruled = rule;
        SessionRoutes routes = ruled == RuledCall.NONE ? ofGroup : ofGroup.of(ruled);
        // Those before this one have the message, or count it.
        int i = 0;
        try {
            if (misfits != null && !replaceMisfits() || ruled.needsArguments() && !limits.keeps(this, ruled, false)) {
                return;
            }
            if (ruled.needsArguments()) {
                ruled = rule;
                routes = limits.isRepeat ? SessionRoutes.NONE : ofGroup.of(ruled);
            }
            int word = group.word();
            int recorded = routes.recorded(word) & LevelSet.bit(level);
            String trace = null;
            if (routes.sessions.length > 1) {
                moment = writers.begin(this, routes, recorded);
            }
            for (; i < routes.sessions.length; i++) {
                if ((routes.levels[i] & recorded) != 0) {
                    boolean hasStack = routes.stacks != null && routes.stacks[i];
                    // The stack of an event of another thread is not here.
                    if (hasStack && trace == null && origin == null) {
                        trace = CallStacks.of(texts, count, thrown);
                    }
                    stack = hasStack && origin == null ? trace : thrown;
                    writers.write(this, routes, i);
                    Causes causes = routes.sessions[i].causes;
                    try {
                        if (causes != null) {
                            causes.fire(this);
                        }
                    } catch (StackOverflowError | LinkageError e) {
                        // The session has the message, or has counted it.
                    }
                }
            }
            stack = null;
            if (moment != 0) {
                moment = 0;
                writers.release();
            }
            if (ruled.isPrinted((Switch.textLevels(word) & LevelSet.bit(level)) != 0)) {
                TextOutput.show(level, group.tag, text(), origin);
            }
        } catch (RuntimeException | Error e) {
            // Out of memory or of stack: the message is lost, the application goes on.
            limits.isDisturbed = true;
            Routing.lose(group, routes, i, level, LossCause.BUFFER_FULL);
        } finally {
            // No call before the last line: there may be no stack for one.
            isBusy = false;
            moment = 0;
            thrown = null;
            origin = null;
            if (hasLongText) {
                hasLongText = false;
                for (int at = 0; at < Arguments.MAX; at++) {
                    texts[at] = null;
                }
            }
            writers.releaseRest();
        }
    }

    /** Ends as {@link #end}, as a message of the request that the event names; null for none. */
    void endIn(String id) {
        if (this == UNUSED) {
            return;
        }
        RequestMark before = request;
        try {
            if (id == null) {
                request = null;
            } else if (before == null || !before.isOf(id)) {
                named = named != null && named.isOf(id) ? named : RequestMark.named(id);
                request = named;
            }
            end();
        } finally {
            request = before;
        }
    }

    /**
     * Begins a span with the arguments, in each session that records messages like it; none where
     * no one does. It is never one of pinned messages, so that begin and end stay together.
     */
    public Span beginSpan() {
        if (this == UNUSED) {
            return NoSpan.INSTANCE;
        }
        RuledCall ruled = rule;
        try {
            if (misfits != null && !replaceMisfits() || ruled.needsArguments() && !limits.keeps(this, ruled, true)
                    || (SessionRoutes.of(group).of(rule).recorded(group.word()) & LevelSet.bit(level)) == 0) {
                return NoSpan.INSTANCE;
            }
            if (spans == null) {
                spans = new ThreadSpans(this);
            }
            return spans.begin(rule);
        } catch (RuntimeException | Error e) {
            // Out of memory or of stack.
            Routing.lose(group, level, LossCause.BUFFER_FULL);
            return NoSpan.INSTANCE;
        } finally {
            forgetTexts();
        }
    }

    /** Says that a session lacks the message: nothing repeats it. */
    void forgetMessage() {
        limits.forget(id);
    }

    /** True within a call, as one of a text sink is. */
    boolean isBusy() {
        return isBusy;
    }

    /** Makes the call one that ends a span of a group. */
    void prepareEnd(GroupState of, LogLevel at) {
        group = of;
        level = at;
        origin = null;
        count = 0;
        kinds = 0;
    }

    /** Writes a begin or an end to each session that records the call's group at its level. */
    void write(Slice of, RuledCall ruled) {
        SessionRoutes routes = SessionRoutes.of(group).of(ruled);
        int i = 0;
        isBusy = true;
        slice = of;
        rate = Slice.RATE;
        stack = null;
        try {
            if (routes.sessions.length > 1) {
                moment = writers.begin(this, routes, LevelSet.bit(level));
            }
            for (; i < routes.sessions.length; i++) {
                if ((routes.levels[i] & LevelSet.bit(level)) != 0) {
                    writers.write(this, routes, i);
                }
            }
        } catch (RuntimeException | Error e) {
            Routing.lose(group, routes, i, level, LossCause.BUFFER_FULL);
        } finally {
            isBusy = false;
            moment = 0;
            slice = null;
            writers.releaseRest();
        }
    }

    /** The id of the thread in traces. */
    int threadId() {
        if (threadId == 0) {
            threadId = ThreadIdentity.currentId();
        }
        return threadId;
    }

    private void forgetTexts() {
        thrown = null;
        origin = null;
        if (hasLongText) {
            hasLongText = false;
            Arrays.fill(texts, null);
        }
    }

    /**
     * Makes a call with a number that does not fit the message that an unprocessed one is. False if
     * it is counted as lost.
     */
    private boolean replaceMisfits() {
        Misfits.Found found = misfits.take(this);
        if (misfits.isEmpty()) {
            misfits = null;
        }
        if (found == null) {
            return true;
        }
        Template known = Dictionaries.template(id);
        String conversion = known == null ? "an integer" : "%" + known.letter(found.index());
        String text = known == null ? MessageText.idText(id) : known.toString();
        String problem = conversion + " does not take " + found.className();
        RuntimeMessage message = RuntimeMessages.of(group, level, RuntimeMessage.ANY_TEXT, null);
        if (message == null) {
            Routing.lose(group, level, LossCause.TEMPLATE_LIMIT);
            return false;
        }
        id = message.id();
        template = message.template();
        mask = template.mask();
        count = 0;
        kinds = 0;
        add(MessageText.formatError(text, found.args(), problem));
        return true;
    }

    /** The text of the message. */
    private String text() {
        Template known = template != null ? template : Dictionaries.template(id);
        Object[] args = boxed();
        String text = known == null ? MessageText.withoutTemplate(id, args) : MessageText.of(known, mask, args);
        return thrown == null ? text : text + "\n" + thrown;
    }

    /** The arguments as objects. */
    Object[] boxed() {
        Object[] boxed = new Object[count];
        for (int i = 0; i < count; i++) {
            boxed[i] = switch (kind(i)) {
                case Arguments.INTEGER -> (Object) words[i];
                case Arguments.FLOATING -> Double.longBitsToDouble(words[i]);
                case Arguments.BOOL -> words[i] != 0;
                default -> texts[i];
            };
        }
        return boxed;
    }

    int kind(int index) {
        return (int) (kinds >>> 2 * index) & 3;
    }

    private Call put(int kind, long word, String text) {
        int at = count;
        if (this != UNUSED && at < Arguments.MAX) {
            words[at] = word;
            texts[at] = text;
            hasLongText |= text != null && text.length() > KEPT_TEXT;
            kinds |= (long) kind << 2 * at;
            count = at + 1;
        }
        return this;
    }
}
