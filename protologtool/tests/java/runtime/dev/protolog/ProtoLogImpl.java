package dev.protolog;

import java.util.Arrays;
import java.util.List;

/** Records what processed calls log, with the text from the dictionary. */
public final class ProtoLogImpl {
    public static boolean isEnabled(ProtoLogGroup group, LogLevel level) {
        return Trace.isEnabled(group);
    }

    public static void v(ProtoLogGroup group, long id, long mask, Object... args) { log(LogLevel.VERBOSE, group, id, mask, args); }
    public static void d(ProtoLogGroup group, long id, long mask, Object... args) { log(LogLevel.DEBUG, group, id, mask, args); }
    public static void d(ProtoLogGroup group, long id, long mask, long a) { log(LogLevel.DEBUG, group, id, mask, a); }
    public static void d(ProtoLogGroup group, long id, long mask, double a) { log(LogLevel.DEBUG, group, id, mask, a); }
    public static void d(ProtoLogGroup group, long id, long mask, boolean a) { log(LogLevel.DEBUG, group, id, mask, a); }
    public static void d(ProtoLogGroup group, long id, long mask, String a) { log(LogLevel.DEBUG, group, id, mask, a); }
    public static void i(ProtoLogGroup group, long id, long mask, Object... args) { log(LogLevel.INFO, group, id, mask, args); }
    public static void w(ProtoLogGroup group, long id, long mask, Object... args) { log(LogLevel.WARN, group, id, mask, args); }
    public static void e(ProtoLogGroup group, long id, long mask, Object... args) { log(LogLevel.ERROR, group, id, mask, args); }
    public static void wtf(ProtoLogGroup group, long id, long mask, Object... args) { log(LogLevel.WTF, group, id, mask, args); }

    public static long l(long value) { return value; }
    public static long l(Number value) { return value == null ? 0 : value.longValue(); }
    public static long l(char value) { return value; }
    public static void l(float value) {}
    public static void l(double value) {}
    public static long x(int value) { return value & 0xffffffffL; }
    public static long x(long value) { return value; }
    public static long x(Number value) { return value == null ? 0 : value instanceof Long ? value.longValue() : x(value.intValue()); }
    public static long x(char value) { return value; }
    public static void x(float value) {}
    public static void x(double value) {}
    public static long xOf(Number value) { return x(value); }
    public static long xOf(char value) { return value; }
    public static long xOf(long value, Void... none) { return value; }
    public static Object t(Throwable value) { return new Trace.Thrown(value); }
    public static double f(double value) { return value; }
    public static double f(Number value) { return value == null ? 0 : value.doubleValue(); }
    public static long lOf(Number value) { return l(value); }
    public static long lOf(char value) { return value; }
    public static long lOf(long value, Void... none) { return value; }
    public static double fOf(Number value) { return f(value); }
    public static double fOf(double value, Void... none) { return value; }
    public static boolean b(Boolean value) { return value != null && value; }
    public static String s(Object value) { return String.valueOf(value); }

    public static Span span(ProtoLogGroup group, long id, long mask, Object... args) { return span(LogLevel.INFO, group, id, mask, args); }
    public static Span spanV(ProtoLogGroup group, long id, long mask, Object... args) { return span(LogLevel.VERBOSE, group, id, mask, args); }
    public static Span spanD(ProtoLogGroup group, long id, long mask, Object... args) { return span(LogLevel.DEBUG, group, id, mask, args); }
    public static Span spanW(ProtoLogGroup group, long id, long mask, Object... args) { return span(LogLevel.WARN, group, id, mask, args); }
    public static Span spanE(ProtoLogGroup group, long id, long mask, Object... args) { return span(LogLevel.ERROR, group, id, mask, args); }
    public static Span spanWtf(ProtoLogGroup group, long id, long mask, Object... args) { return span(LogLevel.WTF, group, id, mask, args); }

    private static Span span(LogLevel level, ProtoLogGroup group, long id, long mask, Object[] args) {
        log(level, group, id, mask, args);
        return () -> Trace.message(level, group, "end", List.of());
    }

    public static Span noSpan() {
        return () -> { };
    }

    private static void log(LogLevel level, ProtoLogGroup group, long id, long mask, Object... args) {
        List<Class<?>> kinds = Arrays.asList(String.class, Long.class, Double.class, Boolean.class);
        for (int i = 0; i < args.length; i++) {
            if (args[i] instanceof Trace.Thrown) continue;
            Class<?> kind = kinds.get((int) (mask >>> (2 * i) & 3));
            if (args[i].getClass() != kind) throw new AssertionError(args[i].getClass() + " for " + kind);
        }
        String[] entry = Trace.DICTIONARY.get(id);
        if (entry == null) throw new AssertionError("no entry " + id);
        if (!entry[0].equals(level.name()) || !entry[1].endsWith("." + group.name())) {
            throw new AssertionError(Arrays.toString(entry) + " for " + level + " " + group);
        }
        Trace.message(level, group, entry[2], Arrays.asList(args));
    }
}
