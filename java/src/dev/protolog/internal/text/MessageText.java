package dev.protolog.internal.text;

import dev.protolog.Thrown;
import java.util.Locale;
import java.util.StringJoiner;
import java.util.function.Supplier;

/**
 * Any template and arguments to text: a template that {@link Template} refuses becomes a
 * readable {@code FORMAT_ERROR} line instead of an exception in the application.
 */
public final class MessageText {
    private MessageText() {}

    /**
     * The text of a processed call; a mask other than the template's own means a dictionary of
     * another build.
     */
    public static String of(Template template, long mask, Object[] args) {
        try {
            if (mask != template.mask()) {
                throw new TemplateException("the call's mask is " + mask + ", the template's " + template.mask());
            }
            return template.render(oneNullOrNone(args, template.size()));
        } catch (TemplateException e) {
            return formatError(template.toString(), args, e.getMessage());
        }
    }

    /**
     * The text of a message that the dictionary does not know: {@code #0123456789abcdef (1, two)}.
     */
    public static String withoutTemplate(long id, Object[] args) {
        return idText(id) + " (" + list(args) + ")";
    }

    public static String idText(long id) {
        return String.format(Locale.ROOT, "#%016x", id);
    }

    /**
     * Arguments with texts in place of all objects but numbers and booleans. Code of the
     * application runs here.
     */
    public static Object[] values(Object[] args) {
        Object[] values = args == null ? new Object[0] : args.clone();
        for (int i = 0; i < values.length; i++) {
            values[i] = value(values[i]);
        }
        return values;
    }

    /** A number, a boolean or null as it is, the text of all else. */
    private static Object value(Object arg) {
        boolean isValue = arg == null || arg instanceof Long || arg instanceof Integer || arg instanceof Short
                || arg instanceof Byte || arg instanceof Double || arg instanceof Float || arg instanceof Boolean || arg instanceof Thrown;
        return isValue ? arg : textOf(arg);
    }

    /** As {@link #values} of one argument; small, so that calls have it within themselves. */
    public static Object valueOf(Object arg) {
        return arg instanceof Long || arg instanceof String || arg instanceof Double || arg instanceof Boolean ? arg : value(arg);
    }

    /**
     * {@code String.valueOf}, also where {@code toString} throws; the elements of an array, the
     * value of a supplier.
     */
    public static String textOf(Object value) {
        if (value instanceof String text) {
            return text;
        }
        if (value != null && value.getClass().isArray()) {
            return ArrayText.of(value);
        }
        try {
            if (value instanceof Supplier<?> supplier) {
                Object supplied = supplier.get();
                return supplied instanceof Supplier<?> ? String.valueOf(supplied) : textOf(supplied);
            }
            return CallStacks.noted(value, stringOf(value));
        } catch (Throwable e) {
            return failed(value, e);
        }
    }

    /** As {@link #textOf} of an exception without a request for its stack trace. */
    static String plainTextOf(Throwable exception) {
        try {
            return stringOf(exception);
        } catch (Throwable e) {
            return failed(exception, e);
        }
    }

    /** Objects may give null, too. */
    private static String stringOf(Object value) {
        return String.valueOf((Object) String.valueOf(value));
    }

    private static String failed(Object value, Throwable error) {
        try {
            return "<" + value.getClass().getName() + ".toString: " + error.getClass().getName() + ">";
        } catch (OutOfMemoryError | StackOverflowError e) {
            return "<toString failed>";
        }
    }

    /** {@code d(G, "%s", null)} passes a null array: Java's way to say one null. */
    public static Object[] oneNullOrNone(Object[] args, int expected) {
        return args != null ? args : new Object[expected == 1 ? 1 : 0];
    }

    public static String formatError(String template, Object[] args, String problem) {
        return "FORMAT_ERROR \"" + template + "\", args=(" + list(args) + "): " + problem;
    }

    private static String list(Object[] args) {
        StringJoiner list = new StringJoiner(", ");
        if (args != null) {
            for (Object arg : args) {
                list.add(textOf(arg));
            }
        }
        return list.toString();
    }
}
