package dev.protolog.internal.rules;

import dev.protolog.LogLevel;
import dev.protolog.internal.rules.SelectorException.Kind;
import dev.protolog.internal.text.Controls;
import dev.protolog.internal.text.LevelSet;
import dev.protolog.internal.text.WrittenName;
import java.util.List;

/** The parser of selectors: from their text to conditions, one at a time. */
final class SelectorParser {
    /** The endings of source files, by which a word is a file. */
    private static final List<String> SOURCES = List.of(".rs", ".java", ".kt");
    private static final int MAX_DIGITS = 16;

    private final String text;
    private int at;

    SelectorParser(String text) {
        this.text = text;
    }

    /** Parses a condition; {@code isNext}: {@code and} stands before it. */
    Condition condition(boolean isNext) throws SelectorException {
        skipSpaces();
        if (text.startsWith("\"", at)) {
            return new Condition.Template(quoted());
        }
        int start = at;
        ArgumentCondition.Parsed condition = ArgumentCondition.parse(text, start, text.codePointCount(0, start) + 1);
        if (condition != null) {
            at = condition.end();
            return condition.condition();
        }
        String word = word();
        if (word.isEmpty() || isAnd(word) && isNext) {
            throw error(isNext ? Kind.NO_CONDITION : Kind.EMPTY, start, word);
        }
        return switch (word) {
            case "group" -> new Condition.Group(operand(word, start));
            case "module" -> new Condition.Module(operand(word, start));
            // Reserved: it would take no call.
            case "fn" -> throw error(Kind.FUNCTION, start, word);
            case "file" -> {
                skipSpaces();
                int from = at;
                String path = operand(word, start);
                Condition file = file(path, from);
                yield file != null ? file : new Condition.File(path, 1, Condition.LAST_LINE);
            }
            default -> plain(word, start);
        };
    }

    /** Takes {@code and}; false at the end. */
    boolean and() throws SelectorException {
        skipSpaces();
        if (at == text.length()) {
            return false;
        }
        int start = at;
        String word = word();
        if (isAnd(word)) {
            return true;
        }
        throw error(Kind.NO_AND, start, word.isEmpty() ? text.substring(start) : word);
    }

    /** The error about the place where the parser is. */
    SelectorException error(Kind kind) {
        return error(kind, at, "");
    }

    static String trim(String text) {
        int from = 0;
        int to = text.length();
        while (from < to && isSpace(text.charAt(from))) {
            from++;
        }
        while (to > from && isSpace(text.charAt(to - 1))) {
            to--;
        }
        return text.substring(from, to);
    }

    private SelectorException error(Kind kind, int start, String part) {
        return new SelectorException(kind, text.codePointCount(0, start) + 1, part);
    }

    /** A condition of one word. */
    private Condition plain(String word, int start) throws SelectorException {
        if (word.startsWith("#")) {
            String digits = word.substring(word.startsWith("#0x") ? "#0x".length() : 1);
            if (digits.isEmpty() || digits.length() > MAX_DIGITS || !digits.chars().allMatch(it -> it < 0x80 && Character.digit(it, 16) >= 0)) {
                throw error(Kind.BAD_ID, start, word);
            }
            return new Condition.Id(Long.parseUnsignedLong(digits, 16));
        }
        int levels = levels(word);
        if (levels == 0) {
            throw error(Kind.BAD_LEVELS, start, word);
        } else if (levels > 0) {
            return new Condition.Levels(levels);
        }
        // Separators of settings, outside of quotation marks.
        if (word.contains("=") || word.contains(";") || word.codePoints().anyMatch(Controls::isControl)) {
            throw error(Kind.BAD_NAME, start, word);
        }
        Condition file = file(word, start);
        if (file != null) {
            return file;
        }
        if (word.equals("*") || WrittenName.isPlain(word)) {
            return new Condition.Name(word);
        }
        throw error(Kind.BAD_NAME, start, word);
    }

    /** A file with lines, or one that is known by its ending; null for other words. */
    private Condition file(String word, int start) throws SelectorException {
        int colon = word.lastIndexOf(':');
        if (colon < 0) {
            return isSource(word) ? new Condition.File(word, 1, Condition.LAST_LINE) : null;
        }
        String path = word.substring(0, colon);
        String lines = word.substring(colon + 1);
        boolean hasDigit = !lines.isEmpty() && lines.charAt(0) >= '0' && lines.charAt(0) <= '9';
        if (path.isEmpty() || path.endsWith(":") || !isSource(path) && !hasDigit) {
            return null;
        }
        int dash = lines.indexOf('-');
        long first = line(dash < 0 ? lines : lines.substring(0, dash));
        long last = line(dash < 0 ? lines : lines.substring(dash + 1));
        if (first == 0 || last < first) {
            throw error(Kind.BAD_LINES, start, word);
        }
        return new Condition.File(path, first, last);
    }

    private static boolean isSource(String path) {
        return SOURCES.stream().anyMatch(path::endsWith);
    }

    /** The number of a line; 0 for none. */
    private static long line(String text) {
        String digits = text.replaceFirst("^0+(?=.)", "");
        boolean isNumber = !digits.isEmpty() && digits.length() <= MAX_DIGITS && digits.chars().allMatch(it -> it >= '0' && it <= '9');
        long line = isNumber ? Long.parseLong(digits) : 0;
        return line <= Condition.LAST_LINE ? line : 0;
    }

    /** The name after a keyword at {@code start}, maybe in quotation marks. */
    private String operand(String keyword, int start) throws SelectorException {
        skipSpaces();
        if (text.startsWith("\"", at)) {
            return quoted();
        }
        int from = at;
        String word = word();
        if (word.isEmpty() || isAnd(word)) {
            throw error(Kind.NO_NAME, start, keyword);
        }
        if (!word.equals("*") && !WrittenName.isPlain(word)) {
            throw error(Kind.BAD_NAME, from, word);
        }
        return word;
    }

    /** Takes a text in quotation marks, with them. */
    private String quoted() throws SelectorException {
        int end = WrittenName.quotedEnd(text, at);
        if (end == at) {
            throw error(Kind.NO_QUOTE, at, text.substring(at));
        }
        String found = text.substring(at, end);
        at = end;
        return found;
    }

    /** Takes the characters up to a space or a quotation mark. */
    private String word() {
        int start = at;
        while (at < text.length() && !isSpace(text.charAt(at)) && text.charAt(at) != '"') {
            at++;
        }
        return text.substring(start, at);
    }

    private void skipSpaces() {
        while (at < text.length() && isSpace(text.charAt(at))) {
            at++;
        }
    }

    private static boolean isSpace(char c) {
        return c == ' ' || c == '\t';
    }

    private static boolean isAnd(String word) {
        return word.equals("&&") || Limit.isAscii(word) && word.equalsIgnoreCase("and");
    }

    /** The levels that a word means, of which there may be none; -1 if it is about no level. */
    private static int levels(String word) {
        int dash = word.indexOf('-');
        LogLevel first = level(dash < 0 ? word : word.substring(0, dash));
        LogLevel last = dash < 0 ? LogLevel.WTF : level(word.substring(dash + 1));
        return first == null || last == null ? -1 : LevelSet.andAbove(first) & ~(LevelSet.andAbove(last) & ~LevelSet.bit(last));
    }

    private static LogLevel level(String word) {
        for (LogLevel level : LogLevel.values()) {
            if (Limit.isAscii(word) && word.equalsIgnoreCase(level.name())) {
                return level;
            }
        }
        return null;
    }
}
