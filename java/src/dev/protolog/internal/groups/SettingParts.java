package dev.protolog.internal.groups;

import dev.protolog.internal.text.WrittenName;
import java.util.ArrayList;
import java.util.List;

/**
 * Takes a text with settings apart: settings of groups, rules of single calls, which begin with
 * {@value #KEYWORD}, and settings of sessions, which begin with {@value #SESSIONS}. They end with a
 * line or a semicolon; comments and names of programs have lines of their own.
 */
public final class SettingParts {
    private static final String KEYWORD = "site";
    private static final String SESSIONS = "sessions";
    private static final String WHITE_SPACE = " \t\n\r\f";

    private SettingParts() {}

    /**
     * A setting as it was written, or a line that should name a program and does not.
     *
     * @param program the program that it is for; null for all
     */
    public record Part(String text, int line, String program) {
        /** The text after the keyword of a rule for single calls; null for other settings. */
        public String rule() {
            return afterKeyword(text, KEYWORD);
        }

        /** The text after the keyword of a setting of sessions; null for other settings. */
        public String ofSessions() {
            return afterKeyword(text, SESSIONS);
        }
    }

    public static List<Part> of(String text) {
        List<Part> parts = new ArrayList<>();
        String program = null;
        int line = 1;
        for (int at = 0; at < text.length();) {
            int end = end(text, at);
            String part = trim(text.substring(at, end));
            String name = programOf(part);
            if (name != null) {
                program = name;
            } else if (!part.isEmpty() && !part.startsWith("#")) {
                parts.add(new Part(part, line, program));
            }
            line += end < text.length() && text.charAt(end) == '\n' ? 1 : 0;
            at = end + 1;
        }
        return parts;
    }

    /** The first of this character from {@code from} on that is in no quotation marks; else -1. */
    public static int findUnquoted(String text, char wanted, int from) {
        for (int at = from; at < text.length();) {
            if (text.charAt(at) == wanted) {
                return at;
            }
            at = Math.max(at + 1, WrittenName.quotedEnd(text, at));
        }
        return -1;
    }

    /** The text without the white space of ASCII around it: other characters are parts of names. */
    public static String trim(String text) {
        int from = begin(text, 0);
        int to = text.length();
        while (to > from && WHITE_SPACE.indexOf(text.charAt(to - 1)) >= 0) {
            to--;
        }
        return text.substring(from, to);
    }

    /** The first character from {@code from} on that is no white space. */
    private static int begin(String text, int from) {
        int at = from;
        while (at < text.length() && WHITE_SPACE.indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        return at;
    }

    /** The name in a line {@code [NAME]}; null for others. */
    private static String programOf(String part) {
        String name = part.startsWith("[") && part.endsWith("]") ? trim(part.substring(1, part.length() - 1)) : "";
        return name.isEmpty() ? null : name;
    }

    /** The end of the part that begins there. */
    private static int end(String text, int from) {
        int begin = from;
        while (begin < text.length() && " \t\r".indexOf(text.charAt(begin)) >= 0) {
            begin++;
        }
        if (afterKeyword(text.substring(begin, Math.min(text.length(), begin + KEYWORD.length() + 1)), KEYWORD) != null
                && afterKeyword(text.substring(begin), KEYWORD) != null) {
            int line = findUnquoted(text, '\n', begin);
            int semicolon = findUnquoted(text, ';', begin);
            int last = line < 0 ? text.length() : line;
            return semicolon < 0 ? last : Math.min(semicolon, last);
        }
        // A comment ends with its line, not at a semicolon; a name in quotation marks ends nothing.
        boolean isComment = text.startsWith("#", begin);
        int end = WrittenName.quotedEnd(text, begin);
        while (end < text.length() && text.charAt(end) != '\n' && (text.charAt(end) != ';' || isComment)) {
            end++;
        }
        return end;
    }

    private static String afterKeyword(String text, String keyword) {
        if (!text.startsWith(keyword) || text.length() == keyword.length() || " \t".indexOf(text.charAt(keyword.length())) < 0) {
            return null;
        }
        String rest = text.substring(begin(text, keyword.length()));
        return rest.startsWith("=") ? null : rest;
    }
}
