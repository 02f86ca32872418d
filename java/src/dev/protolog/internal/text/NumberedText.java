package dev.protolog.internal.text;

import java.text.MessageFormat;
import java.util.Date;

/**
 * Templates of the JDK's loggers that say more than where an argument goes:
 * {@code {0,number,percent}}, or quotes. The JDK's own class makes their text.
 */
public final class NumberedText {
    private NumberedText() {}

    /**
     * True if the template has an argument, and is not the text around arguments alone. As for the
     * JDK, a quote is a sign only where there are arguments.
     */
    public static boolean isSpecial(String template, Object[] args) {
        if (template == null || args == null || args.length == 0) {
            return false;
        }
        boolean hasArgument = false;
        boolean isSpecial = template.indexOf('\'') >= 0;
        for (int open = template.indexOf('{'); open >= 0; open = template.indexOf('{', open + 1)) {
            int end = open + 1;
            while (end < template.length() && Character.digit(template.charAt(end), 10) >= 0) {
                end++;
            }
            if (end > open + 1) {
                hasArgument = true;
                isSpecial |= end == template.length() || template.charAt(end) != '}' || end > open + 3;
            }
        }
        return hasArgument && isSpecial;
    }

    /** The text; the template where it is none. */
    public static String format(String template, Object[] args) {
        Object[] values = new Object[args.length];
        for (int i = 0; i < args.length; i++) {
            boolean isFormatted = args[i] == null || args[i] instanceof Number || args[i] instanceof Date;
            values[i] = isFormatted ? args[i] : MessageText.textOf(args[i]);
        }
        try {
            return MessageFormat.format(template, values);
        } catch (RuntimeException e) {
            return template;
        }
    }
}
