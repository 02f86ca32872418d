package dev.protolog.internal.text;

/**
 * The names of groups, as people, settings and commands write them: as
 * {@code protolog-core/src/control/name.rs} has it, with the vectors of
 * {@code protolog-core/testdata/names.tsv}. A name of other characters than letters, digits,
 * {@code _:.$-/} and visible ones beyond ASCII is in quotation marks, where a backslash stands
 * before those and itself, and controls and characters that a shell obeys there are written as
 * numbers. So is one that begins with {@code -}.
 *
 * <p>Invariants: a written name is read as the same name; a text that is no name in quotation
 * marks stands for itself.
 */
public final class WrittenName {
    private static final int MAX_DIGITS = 6;

    private WrittenName() {}

    /** The form of a name in settings, and wherever people see it. */
    public static String of(String name) {
        return isPlain(name) && !name.startsWith("-") ? name : quoted(name, false);
    }

    /**
     * The form of a name as a word of the protocol: as it is where that is one word, else in
     * quotation marks and without spaces.
     */
    public static String word(String name) {
        boolean isWord = !name.isEmpty() && !name.startsWith("\"")
                && name.codePoints().noneMatch(it -> it == ' ' || Controls.isControl(it) || isSurrogate(it));
        return isWord ? name : quoted(name, true);
    }

    /** The name that a text stands for. */
    public static String read(String written) {
        return isQuoted(written) ? unescaped(written) : written;
    }

    /** True for a name that is written as it is. */
    public static boolean isPlain(String name) {
        return !name.isEmpty() && name.codePoints().allMatch(it -> it < 0x80 ? isLetterOrDigit(it) || "_:.$-/".indexOf(it) >= 0 : isSeen(it));
    }

    /** True for a name in quotation marks. */
    public static boolean isQuoted(String written) {
        return !written.isEmpty() && quotedEnd(written, 0) == written.length();
    }

    /**
     * The end of the name in quotation marks that begins at {@code start}; {@code start} if there
     * is none.
     */
    public static int quotedEnd(String text, int start) {
        if (start >= text.length() || text.charAt(start) != '"') {
            return start;
        }
        for (int at = start + 1; at < text.length();) {
            char c = text.charAt(at);
            if (c == '"') {
                return at + 1;
            }
            int length = c == '\\' ? escapeLength(text, at) : c == '\n' ? 0 : 1;
            if (length == 0) {
                return start;
            }
            at += length;
        }
        return start;
    }

    /**
     * The text with a question mark for halves of characters, which no trace and no line can have.
     */
    public static String wellFormed(String name) {
        return name.codePoints().noneMatch(WrittenName::isSurrogate) ? name
                : name.codePoints().map(it -> isSurrogate(it) ? '?' : it)
                        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append).toString();
    }

    /** The length of an escape; 0 if it is none. */
    private static int escapeLength(String text, int at) {
        char kind = at + 1 < text.length() ? text.charAt(at + 1) : 0;
        if (kind != 'u') {
            return kind != 0 && "\"\\nrt".indexOf(kind) >= 0 ? 2 : 0;
        }
        int end = text.indexOf('}', at);
        int digits = at + 3;
        if (digits > text.length() || text.charAt(at + 2) != '{' || end <= digits || end - digits > MAX_DIGITS) {
            return 0;
        }
        for (int i = digits; i < end; i++) {
            if (text.charAt(i) >= 0x80 || Character.digit(text.charAt(i), 16) < 0) {
                return 0;
            }
        }
        int point = Integer.parseInt(text.substring(digits, end), 16);
        return Character.isValidCodePoint(point) && !isSurrogate(point) ? end + 1 - at : 0;
    }

    private static String unescaped(String written) {
        StringBuilder name = new StringBuilder();
        for (int at = 1; at < written.length() - 1;) {
            char c = written.charAt(at);
            if (c != '\\') {
                name.append(c);
                at++;
                continue;
            }
            int length = escapeLength(written, at);
            switch (written.charAt(at + 1)) {
                case 'n' -> name.append('\n');
                case 'r' -> name.append('\r');
                case 't' -> name.append('\t');
                case 'u' -> name.appendCodePoint(Integer.parseInt(written.substring(at + 3, at + length - 1), 16));
                default -> name.append(written.charAt(at + 1));
            }
            at += length;
        }
        return name.toString();
    }

    private static String quoted(String name, boolean isWord) {
        StringBuilder text = new StringBuilder("\"");
        wellFormed(name).codePoints().forEach(it -> {
            switch (it) {
                case '"' -> text.append("\\\"");
                case '\\' -> text.append("\\\\");
                case '\n' -> text.append("\\n");
                case '\r' -> text.append("\\r");
                case '\t' -> text.append("\\t");
                default -> {
                    boolean isObeyed = it == '$' || it == '`' || it == '!' || it == '-' && text.length() == 1;
                    if (!isObeyed && (it == ' ' ? !isWord : isSeen(it))) {
                        text.appendCodePoint(it);
                    } else {
                        text.append("\\u{").append(Integer.toHexString(it)).append('}');
                    }
                }
            }
        });
        return text.append('"').toString();
    }

    private static boolean isLetterOrDigit(int it) {
        return it >= '0' && it <= '9' || it >= 'A' && it <= 'Z' || it >= 'a' && it <= 'z';
    }

    /** False for one that controls a terminal, for white space, and for half a character. */
    static boolean isSeen(int it) {
        return !Controls.isControl(it) && !isSurrogate(it) && !(it == ' ' || it == 0xa0 || it == 0x1680 || it >= 0x2000 && it <= 0x200a || it == 0x202f
                || it == 0x205f || it == 0x3000);
    }

    private static boolean isSurrogate(int it) {
        return it >= Character.MIN_SURROGATE && it <= Character.MAX_SURROGATE;
    }
}
