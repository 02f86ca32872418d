package dev.protolog;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Records what unprocessed calls log. */
public final class ProtoLog {
    public static boolean isEnabled(ProtoLogGroup group, LogLevel level) {
        return Trace.isEnabled(group);
    }

    public static void v(ProtoLogGroup group, String template, Object... args) { log(LogLevel.VERBOSE, group, template, args); }
    public static void d(ProtoLogGroup group, String template, Object... args) { log(LogLevel.DEBUG, group, template, args); }
    public static void i(ProtoLogGroup group, String template, Object... args) { log(LogLevel.INFO, group, template, args); }
    public static void w(ProtoLogGroup group, String template, Object... args) { log(LogLevel.WARN, group, template, args); }
    public static void e(ProtoLogGroup group, String template, Object... args) { log(LogLevel.ERROR, group, template, args); }
    public static void wtf(ProtoLogGroup group, String template, Object... args) { log(LogLevel.WTF, group, template, args); }

    /** A message at its begin, and one at its end. */
    public static Span span(ProtoLogGroup group, String template, Object... args) { return span(LogLevel.INFO, group, template, args); }
    public static Span spanV(ProtoLogGroup group, String template, Object... args) { return span(LogLevel.VERBOSE, group, template, args); }
    public static Span spanD(ProtoLogGroup group, String template, Object... args) { return span(LogLevel.DEBUG, group, template, args); }
    public static Span spanW(ProtoLogGroup group, String template, Object... args) { return span(LogLevel.WARN, group, template, args); }
    public static Span spanE(ProtoLogGroup group, String template, Object... args) { return span(LogLevel.ERROR, group, template, args); }
    public static Span spanWtf(ProtoLogGroup group, String template, Object... args) { return span(LogLevel.WTF, group, template, args); }

    private static Span span(LogLevel level, ProtoLogGroup group, String template, Object[] args) {
        log(level, group, template, args);
        return isEnabled(group, level) ? () -> Trace.message(level, group, "end", List.of()) : () -> { };
    }

    private static void log(LogLevel level, ProtoLogGroup group, String written, Object[] args) {
        if (!isEnabled(group, level)) return;
        // Names of arguments are no part of a text.
        String template = Pattern.compile("(%%)|%\\([^)]*\\)").matcher(written).replaceAll(it -> it.group(1) == null ? "%" : "%%");
        List<Object> seen = new ArrayList<>();
        String verbs = Pattern.compile("%[0-9.]*([bdoxfegs])").matcher(template.replace("%%", "")).results()
                .map(found -> found.group(1)).collect(Collectors.joining());
        for (int i = 0; args != null && i < args.length; i++) {
            boolean isException = i == verbs.length() && (args[i] == null || args[i] instanceof Throwable);
            seen.add(isException ? new Trace.Thrown((Throwable) args[i]) : convert(verbs.charAt(i), args[i]));
        }
        Trace.message(level, group, template, seen);
    }

    private static Object convert(char verb, Object arg) {
        switch (verb) {
            case 'o': case 'x':
                if (arg instanceof Integer || arg instanceof Short || arg instanceof Byte) return ((Number) arg).longValue() & 0xffffffffL;
            case 'd':
                return arg instanceof Character ? (long) (Character) arg : arg == null ? 0L : ((Number) arg).longValue();
            case 'f': case 'e': case 'g':
                return arg == null ? 0.0 : ((Number) arg).doubleValue();
            case 'b':
                return arg == null ? false : arg;
            default:
                return String.valueOf(arg);
        }
    }
}
