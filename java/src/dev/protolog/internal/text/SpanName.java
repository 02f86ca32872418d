package dev.protolog.internal.text;

/**
 * The names of spans, as in {@code protolog-core/src/span.rs}: what all spans of a call have in
 * common, so that viewers can add up their times.
 */
final class SpanName {
    private SpanName() {}

    /**
     * The text before the first conversion, without the {@code field=} that belongs to it and
     * without spaces and punctuation at the end; where that is nothing, the whole template.
     */
    static String of(String template) {
        int conversion = template.indexOf('%');
        int end = conversion < 0 ? template.length() : conversion;
        if (conversion > 0 && template.charAt(end - 1) == '=') {
            end--;
            while (end > 0 && isInWord(template.codePointBefore(end))) {
                end -= Character.charCount(template.codePointBefore(end));
            }
        }
        while (end > 0 && !isInWord(template.codePointBefore(end)) && ")]}!?".indexOf(template.codePointBefore(end)) < 0) {
            end -= Character.charCount(template.codePointBefore(end));
        }
        return end == 0 ? template : template.substring(0, end);
    }

    private static boolean isInWord(int code) {
        return Character.isLetter(code) || Character.isDigit(code) || code == '_' || code == '-';
    }
}
