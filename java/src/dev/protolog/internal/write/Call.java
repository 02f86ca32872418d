package dev.protolog.internal.write;

import dev.protolog.IProtoLogGroup;
import dev.protolog.LogLevel;
import dev.protolog.Thrown;
import dev.protolog.internal.ApiAccess;
import dev.protolog.internal.dictionary.Dictionaries;
import dev.protolog.internal.dictionary.RuntimeMessages;
import dev.protolog.internal.groups.GroupState;
import dev.protolog.internal.groups.Groups;
import dev.protolog.internal.groups.RuntimeMessage;
import dev.protolog.internal.groups.Switch;
import dev.protolog.internal.process.Origin;
import dev.protolog.internal.process.PassingErrors;
import dev.protolog.internal.process.ThreadIdentity;
import dev.protolog.internal.rules.RuledCall;
import dev.protolog.internal.rules.Rules;
import dev.protolog.internal.text.Arguments;
import dev.protolog.internal.text.CallStacks;
import dev.protolog.internal.text.LevelSet;
import dev.protolog.internal.text.MessageText;
import dev.protolog.internal.text.Template;
import dev.protolog.internal.text.TextOutput;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

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
    /**
     * That of the thread. A container's threads outlive its applications, so they refer to nothing
     * of this class loader: {@link #KEPT} keeps it, which goes with the loader.
     */
    private static final ThreadLocal<WeakReference<Call>> OF_THREAD = new ThreadLocal<>();
    private static final ConcurrentHashMap<Long, Kept> KEPT = new ConcurrentHashMap<>();
    private static final ReferenceQueue<Thread> ENDED = new ReferenceQueue<>();
    /**
     * Threads by the names that events of other loggers have; a thread may have another one by now.
     */
    private static final ConcurrentHashMap<String, Kept> NAMED = new ConcurrentHashMap<>();
    /** Names that no thread had when it was looked for, and that time. */
    private static final ConcurrentHashMap<String, Long> UNKNOWN = new ConcurrentHashMap<>();
    private static final int MAX_UNKNOWN = 1024;
    private static final long UNKNOWN_NANOS = 1_000_000_000;
    /** The keys of threads with the id of another one: a class of the application may say any. */
    private static final AtomicLong OTHERS = new AtomicLong();

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
    private RuledCall rule = RuledCall.NONE;
    /**
     * The rate at which the message was kept by chance, as {@link RuledCall#rate} has it; 0 for one
     * that was kept for sure.
     */
    long rate;
    /** The stack trace of the message in the session that it is written to; null for none. */
    String stack;

    private final WriterSet writers = new WriterSet();
    /** The writers of events of other threads or times; null without any. */
    private EventWriters eventWriters;
    /** The thread's id in traces, once a message of it was recorded. */
    private volatile int threadId;
    private final boolean isVirtual = ThreadIdentity.isVirtual();
    private final CallLimits limits = new CallLimits(writers, isVirtual);
    private boolean isBusy;
    /** Numbers of processed calls that don't fit; null for none. */
    private Misfits misfits;
    /**
     * True if a text is long: then texts are forgotten after the call, so that idle threads keep
     * little.
     */
    private boolean hasLongText;

    private Call() {}

    /** Keeps the call of a thread as long as there is the thread. */
    private static final class Kept extends WeakReference<Thread> {
        private final Call call;
        private final long key;
        /** The name by which {@link #NAMED} has it; null for none. */
        private volatile String named;

        Kept(Thread thread, Call call, long key) {
            super(thread, ENDED);
            this.call = call;
            this.key = key;
        }
    }

    /**
     * A thread that has logged itself: its id in traces, 0 if it was never recorded, and its name.
     */
    record Known(int id, String name) {}

    /**
     * The thread with this Java id; with 0 the one of this name. Null if it has not logged itself.
     */
    static Known known(long threadId, String name) {
        Kept kept = threadId > 0 ? KEPT.get(threadId) : threadId == 0 ? named(name) : null;
        Thread thread = kept == null ? null : kept.get();
        return thread == null ? null : new Known(kept.call.threadId, thread.getName());
    }

    /**
     * The thread of this name. Asked for each event of another logger, so all threads are looked at
     * once a second at most, for a name.
     */
    private static Kept named(String name) {
        Kept known = NAMED.get(name);
        Thread thread = known == null ? null : known.get();
        if (thread != null && thread.getName().equals(name)) {
            return known;
        }
        Long since = UNKNOWN.get(name);
        if (since != null && System.nanoTime() - since < UNKNOWN_NANOS) {
            return null;
        }
        for (Kept each : KEPT.values()) {
            thread = each.get();
            if (thread != null && thread.getName().equals(name)) {
                if (each.named != null) {
                    NAMED.remove(each.named, each);
                }
                each.named = name;
                NAMED.put(name, each);
                return each;
            }
        }
        if (UNKNOWN.size() >= MAX_UNKNOWN) {
            UNKNOWN.clear();
        }
        UNKNOWN.put(name, System.nanoTime());
        return null;
    }

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
            call = ofThread();
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
        return rule.isSampled() ? ofThread().limits.sample(state, level, rule) : 0;
    }

    /**
     * Notes a number that an argument of a processed call can't have, and gives the value that
     * stands for it until the call ends.
     */
    public static long misfit(Number number) {
        try {
            // Code of the application, before the call begins.
            String text = MessageText.textOf(number);
            Call call = ofThread();
            if (call.misfits == null) {
                call.misfits = new Misfits();
            }
            return call.misfits.add(text, number.getClass().getName());
        } catch (OutOfMemoryError | StackOverflowError | LinkageError e) {
            return 0;
        }
    }

    private static Call ofThread() {
        WeakReference<Call> known = OF_THREAD.get();
        Call call = known == null ? null : known.get();
        return call == null ? ofNewThread() : call;
    }

    private static Call ofNewThread() {
        for (Reference<?> ended = ENDED.poll(); ended != null; ended = ENDED.poll()) {
            Kept over = (Kept) ended;
            KEPT.remove(over.key, over);
            if (over.named != null) {
                NAMED.remove(over.named, over);
            }
        }
        Thread thread = Thread.currentThread();
        long id = ThreadIdentity.javaId(thread);
        Kept kept = KEPT.get(id);
        if (kept == null || !kept.refersTo(thread)) {
            Call call = new Call();
            kept = new Kept(thread, call, kept == null ? id : OTHERS.decrementAndGet());
            KEPT.put(kept.key, kept);
            UNKNOWN.remove(thread.getName());
        }
        // Else a pool has erased its thread's locals between two tasks, as Java's common one does.
        OF_THREAD.set(new WeakReference<>(kept.call));
        return kept.call;
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
        SessionRoutes routes = group.routes instanceof SessionRoutes known ? known : SessionRoutes.NONE;
        RuledCall ruled = rule;
        routes = ruled == RuledCall.NONE ? routes : routes.of(ruled);
        // Those before this one have the message, or count it.
        int i = 0;
        try {
            if (misfits != null && !replaceMisfits()) {
                return;
            }
            if (ruled.by() != 0 && !limits.keeps(this, ruled)) {
                return;
            }
            int word = group.word();
            int recorded = routes.recorded(word) & LevelSet.bit(level);
            String trace = null;
            for (; i < routes.sessions.length; i++) {
                if ((routes.levels[i] & recorded) != 0) {
                    boolean hasStack = routes.stacks != null && routes.stacks[i];
                    // The stack of an event of another thread is not here.
                    if (hasStack && trace == null && origin == null) {
                        trace = CallStacks.of(texts, count, thrown);
                    }
                    stack = hasStack && origin == null ? trace : thrown;
                    record(routes.sessions[i]);
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
            if (ruled.isPrinted((Switch.textLevels(word) & LevelSet.bit(level)) != 0)) {
                TextOutput.show(level, group.tag, text(), origin);
            }
        } catch (RuntimeException | Error e) {
            // Out of memory or of stack: the message is lost, the application goes on.
            Routing.lose(group, routes, i, level, LossCause.BUFFER_FULL);
        } finally {
            isBusy = false;
            thrown = null;
            origin = null;
            if (hasLongText) {
                hasLongText = false;
                // Without a call, for which there may be no stack.
                for (int at = 0; at < Arguments.MAX; at++) {
                    texts[at] = null;
                }
            }
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

    private void record(WriterOwner session) {
        if (session.isEnding()) {
            session.lose(null, group.id, LossCause.WRITE_FAILED);
            return;
        }
        try {
            if (isVirtual) {
                session.shared().write(this);
                return;
            }
            if (threadId == 0) {
                threadId = ThreadIdentity.currentId();
            }
            if (origin != null && eventWriters == null) {
                eventWriters = new EventWriters();
            }
            TraceWriter writer = (origin == null ? writers : eventWriters.of(origin.threadId())).of(session);
            if (writer == null || !writer.write(this)) {
                session.lose(writer == null ? null : writer.sequence, group.id, LossCause.BUFFER_FULL);
            }
        } catch (InternalError e) {
            if (PassingErrors.isOne(e)) {
                throw e;
            }
            // The file that is mapped was truncated, or its disk is full.
            session.fail(e);
        }
    }
}
