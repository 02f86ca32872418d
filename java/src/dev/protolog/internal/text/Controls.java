package dev.protolog.internal.text;

/**
 * The characters that no line of text passes on as they are, since a terminal or an editor would
 * obey them, and their escapes.
 *
 * <p>Invariant: they are those of {@code protolog-core/testdata/controls.tsv}: Unicode's controls,
 * its separators of lines and paragraphs, and its characters that control the direction of writing.
 */
public final class Controls {
    private Controls() {}

    /** The text with escapes, but for tabs and line feeds. */
    public static String escaped(String text) {
        if (text.codePoints().noneMatch(it -> isEscaped(it) && it != '\n')) {
            return text;
        }
        StringBuilder out = new StringBuilder(text.length() + 16);
        text.codePoints().forEach(it -> out.append(it == '\n' ? "\n" : escaped(it)));
        return out.toString();
    }

    /** A character, or its escape in a line of text. */
    static String escaped(int character) {
        if (!isEscaped(character)) {
            return Character.toString(character);
        }
        return switch (character) {
            case '\r' -> "\\r";
            case '\n' -> "\\n";
            default -> "\\u{" + Integer.toHexString(character) + "}";
        };
    }

    private static boolean isEscaped(int character) {
        return character != '\t' && isControl(character);
    }

    /**
     * True for a character that controls a terminal, ends a line or changes the direction of
     * writing.
     */
    public static boolean isControl(int character) {
        return Character.isISOControl(character)
                || character == 0x61c
                || character == 0x200e
                || character == 0x200f
                || character >= 0x2028 && character <= 0x202e
                || character >= 0x2066 && character <= 0x2069;
    }
}
