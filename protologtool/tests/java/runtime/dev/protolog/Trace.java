package dev.protolog;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The events so far, in order. */
public final class Trace {
    /** The state of the guard of all groups. */
    public static boolean on;
    public static final List<String> LINES = new ArrayList<>();
    /** By id: level, group, template. */
    public static final Map<Long, String[]> DICTIONARY = new HashMap<>();

    /** The exception behind the arguments. */
    static final class Thrown {
        private final Throwable exception;

        Thrown(Throwable exception) {
            this.exception = exception;
        }

        @Override
        public String toString() {
            return "thrown " + exception;
        }
    }

    static boolean isEnabled(ProtoLogGroup group) {
        return on && group.isEnabled();
    }

    /**
     * True if messages are recorded as their texts, of which a part can be the template's or an
     * argument's.
     */
    private static final boolean AS_TEXT = Boolean.getBoolean("trace.text");

    static void message(LogLevel level, ProtoLogGroup group, String template, List<Object> args) {
        String message = AS_TEXT ? text(template, args) : template + " " + args;
        LINES.add("log " + level + " " + group.name() + " " + message);
    }

    private static String text(String template, List<Object> args) {
        StringBuilder text = new StringBuilder();
        int used = 0;
        Matcher conversions = Pattern.compile("%[0-9.]*[a-z%]").matcher(template);
        while (conversions.find()) {
            String value = conversions.group().equals("%%") ? "%" : String.valueOf(args.get(used++));
            conversions.appendReplacement(text, Matcher.quoteReplacement(value));
        }
        return conversions.appendTail(text).toString();
    }
}
