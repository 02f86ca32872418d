package dev.protolog;

import java.util.Arrays;

/**
 * The reference printer: the API of log calls by {@link String#format} and {@link System#out},
 * sharing no line with the runtime. Integers are 64 bits wide, a char is its number, and nulls are
 * what docs/guides/java.md says.
 */
public final class ProtoLog {
    private ProtoLog() {}

    /** Prints at DEBUG. */
    public static void d(IProtoLogGroup group, String template, Object... args) {
        print("DEBUG", group, template, args);
    }

    /** Prints at VERBOSE. */
    public static void v(IProtoLogGroup group, String template, Object... args) {
        print("VERBOSE", group, template, args);
    }

    /** Prints at INFO. */
    public static void i(IProtoLogGroup group, String template, Object... args) {
        print("INFO", group, template, args);
    }

    /** Prints at WARN. */
    public static void w(IProtoLogGroup group, String template, Object... args) {
        print("WARN", group, template, args);
    }

    /** Prints at ERROR. */
    public static void e(IProtoLogGroup group, String template, Object... args) {
        print("ERROR", group, template, args);
    }

    /** Prints at WTF. */
    public static void wtf(IProtoLogGroup group, String template, Object... args) {
        print("WTF", group, template, args);
    }

    private static void print(String level, IProtoLogGroup group, String template, Object[] args) {
        if (!group.isEnabled()) {
            return;
        }
        Object[] values = new Object[args.length];
        int next = 0;
        for (int at = template.indexOf('%'); at >= 0; at = template.indexOf('%', at + 2)) {
            values[next] = value(template.charAt(at + 1), args[next]);
            next++;
        }
        System.out.println(level + " " + group.getTag() + ": " + String.format(template, values));
    }

    private static Object value(char conversion, Object arg) {
        return switch (conversion) {
            case 'o', 'x' -> arg instanceof Integer bits ? (Object) (bits & 0xffffffffL) : value('d', arg);
            case 'd' -> arg == null ? (Object) 0L : arg instanceof Character c ? (long) c : ((Number) arg).longValue();
            case 'e', 'f', 'g' -> arg == null ? 0.0 : ((Number) arg).doubleValue();
            case 'b' -> arg != null && (Boolean) arg;
            default -> arg != null && arg.getClass().isArray() ? elements(arg) : arg;
        };
    }

    private static String elements(Object array) {
        String text = Arrays.deepToString(new Object[] {array});
        return text.substring(1, text.length() - 1);
    }
}
