package dev.protolog;

import dev.protolog.internal.text.MessageText;
import dev.protolog.internal.text.Numbers;
import dev.protolog.internal.write.Call;
import dev.protolog.internal.write.LossCause;
import dev.protolog.internal.write.Routing;

/**
 * The entry points of processed code:
 * {@code if (ProtoLogImpl.isEnabled(G, DEBUG)) ProtoLogImpl.d(G, 123L, 1L, ProtoLogImpl.l(n));}.
 *
 * <p>A message is its id and its arguments: the text is in the dictionary that the tool has made,
 * which the program finds in its jars at {@code META-INF/protolog/dictionary.pb} and puts into each
 * trace. There are methods for each sequence of types up to three arguments, which allocate
 * nothing, and one for any arguments.
 *
 * <p>{@code l x f b s} fix the type of each argument at compile time: {@code l(1.5)} and
 * {@code l("x")} do not compile. A null is 0, 0.0 or false as in an unprocessed call, and no
 * exception. Only a null {@code Character} for an integer is one, since it has no method of its
 * own: with more overloads javac could not choose one for the result of a generic method.
 *
 * <p>Invariant: no method throws, with any content of the dictionary.
 */
public final class ProtoLogImpl extends TwoArgumentCalls {
    private ProtoLogImpl() {}

    /** True if a message of this group and level is enabled. The guard of every processed call. */
    public static boolean isEnabled(IProtoLogGroup group, LogLevel level) {
        return Routing.isEnabled(group, level);
    }

    /**
     * Logs message {@code id} at level VERBOSE; {@code mask} holds the type of argument i in bits
     * 2i and 2i+1.
     */
    public static void v(IProtoLogGroup group, long id, long mask, Object... args) {
        log(LogLevel.VERBOSE, group, id, mask, args);
    }

    /** As {@link #v}, at level DEBUG. */
    public static void d(IProtoLogGroup group, long id, long mask, Object... args) {
        log(LogLevel.DEBUG, group, id, mask, args);
    }

    /** As {@link #v}, at level INFO. */
    public static void i(IProtoLogGroup group, long id, long mask, Object... args) {
        log(LogLevel.INFO, group, id, mask, args);
    }

    /** As {@link #v}, at level WARN. */
    public static void w(IProtoLogGroup group, long id, long mask, Object... args) {
        log(LogLevel.WARN, group, id, mask, args);
    }

    /** As {@link #v}, at level ERROR. */
    public static void e(IProtoLogGroup group, long id, long mask, Object... args) {
        log(LogLevel.ERROR, group, id, mask, args);
    }

    /** As {@link #v}, at level WTF. */
    public static void wtf(IProtoLogGroup group, long id, long mask, Object... args) {
        log(LogLevel.WTF, group, id, mask, args);
    }

    /** Begins the span of message {@code id}, as {@link #v}, at level INFO. */
    public static Span span(IProtoLogGroup group, long id, long mask, Object... args) {
        return span(LogLevel.INFO, group, id, mask, args);
    }

    /** As {@link #span}, at level VERBOSE. */
    public static Span spanV(IProtoLogGroup group, long id, long mask, Object... args) {
        return span(LogLevel.VERBOSE, group, id, mask, args);
    }

    /** As {@link #span}, at level DEBUG. */
    public static Span spanD(IProtoLogGroup group, long id, long mask, Object... args) {
        return span(LogLevel.DEBUG, group, id, mask, args);
    }

    /** As {@link #span}, at level WARN. */
    public static Span spanW(IProtoLogGroup group, long id, long mask, Object... args) {
        return span(LogLevel.WARN, group, id, mask, args);
    }

    /** As {@link #span}, at level ERROR. */
    public static Span spanE(IProtoLogGroup group, long id, long mask, Object... args) {
        return span(LogLevel.ERROR, group, id, mask, args);
    }

    /** As {@link #span}, at level WTF. */
    public static Span spanWtf(IProtoLogGroup group, long id, long mask, Object... args) {
        return span(LogLevel.WTF, group, id, mask, args);
    }

    /** The span of a processed call that is off. */
    public static Span noSpan() {
        return Span.none();
    }

    /** An argument of {@code %d}. */
    public static long l(long value) {
        return value;
    }

    /**
     * A boxed argument of {@code %d}; null is 0. One that is no integer of 64 bits makes the
     * message a {@code FORMAT_ERROR}.
     */
    public static long l(Number value) {
        if (value == null || value instanceof Integer || value instanceof Long) {
            return value == null ? 0 : value.longValue();
        }
        Long integer = Numbers.integer(value);
        return integer == null ? Call.misfit(value) : integer;
    }

    /**
     * A character as an argument of {@code %d}: its number. Java would widen it by itself, Kotlin
     * does not.
     */
    public static long l(char value) {
        return value;
    }

    /** As {@link #l(double)}. Without it Kotlin would take the number for one in a box. */
    public static void l(float value) {}

    /** No argument of {@code %d}: nothing comes back, so that javac refuses the call. */
    public static void l(double value) {}

    /**
     * As {@link #l(Number)}, for a conditional or switch with a type that javac infers: beside
     * {@code l(long)} it could not choose. A null in a box that the expression itself opens is an
     * exception, as in an unprocessed call.
     */
    public static long lOf(Number value) {
        return l(value);
    }

    /** As {@link #l(char)}. */
    public static long lOf(char value) {
        return value;
    }

    /**
     * The one that numbers beside characters fit. Of variable arity, so that it competes with none
     * of the others.
     */
    public static long lOf(long value, Void... none) {
        return value;
    }

    /**
     * An argument of {@code %x %o}: of an {@code int} no more than 32 bits, also where it is
     * negative.
     */
    public static long x(int value) {
        return value & 0xffff_ffffL;
    }

    /** As {@link #x(int)}, of 64 bits. */
    public static long x(long value) {
        return value;
    }

    /** A boxed argument of {@code %x %o}, as {@link #l(Number)}. */
    public static long x(Number value) {
        if (value == null) {
            return 0;
        }
        Long integer = Numbers.bits(value);
        return integer == null ? Call.misfit(value) : integer;
    }

    /** As {@link #l(char)}. */
    public static long x(char value) {
        return value;
    }

    /** As {@link #l(float)}. */
    public static void x(float value) {}

    /** As {@link #l(double)}. */
    public static void x(double value) {}

    /** As {@link #lOf(Number)}. */
    public static long xOf(Number value) {
        return x(value);
    }

    /** As {@link #l(char)}. */
    public static long xOf(char value) {
        return value;
    }

    /** As {@link #lOf(long, Void...)}. */
    public static long xOf(long value, Void... none) {
        return value;
    }

    /** An argument of {@code %f %e %g}. */
    public static double f(double value) {
        return value;
    }

    /**
     * A boxed argument of {@code %f %e %g}; null is 0. One with more digits than a double keeps
     * makes the message a {@code FORMAT_ERROR}.
     */
    public static double f(Number value) {
        if (value == null || value instanceof Double || value instanceof Float) {
            return value == null ? 0 : value.doubleValue();
        }
        Double number = Numbers.floating(value);
        return number == null ? Double.longBitsToDouble(Call.misfit(value)) : number;
    }

    /** As {@link #lOf(Number)}. */
    public static double fOf(Number value) {
        return f(value);
    }

    /** As {@link #lOf(long, Void...)}. */
    public static double fOf(double value, Void... none) {
        return value;
    }

    /** An argument of {@code %b}; null is false. */
    public static boolean b(Boolean value) {
        return value != null && value;
    }

    /** An argument of {@code %s}. */
    public static String s(Object value) {
        return MessageText.textOf(value);
    }

    /** The exception behind the arguments; null is none. */
    public static Thrown t(Throwable value) {
        return Thrown.of(value);
    }

    private static Span span(LogLevel level, IProtoLogGroup group, long id, long mask, Object[] args) {
        if (!Routing.isEnabled(group, level)) {
            return Span.none();
        }
        try {
            Object[] values = MessageText.values(args);
            return Call.begin(group, level, id, mask).addAll(mask, values).beginSpan();
        } catch (RuntimeException | Error e) {
            Routing.lose(group, level, LossCause.BUFFER_FULL);
            return Span.none();
        }
    }

    private static void log(LogLevel level, IProtoLogGroup group, long id, long mask, Object[] args) {
        if (!Routing.isEnabled(group, level)) {
            return;
        }
        try {
            // Before the call begins, since code of the application runs.
            Object[] values = MessageText.values(args);
            Call.begin(group, level, id, mask).addAll(mask, values).end();
        } catch (RuntimeException | Error e) {
            // Out of memory or of stack: the message is lost, the application goes on.
            Routing.lose(group, level, LossCause.BUFFER_FULL);
        }
    }
}
