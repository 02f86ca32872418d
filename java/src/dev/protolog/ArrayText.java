package dev.protolog;

import java.lang.reflect.Array;

/**
 * Arrays as text, as {@code Arrays.deepToString} has them. An element whose {@code toString} throws does not take the others with it.
 *
 * <p>Invariant: a text ends soon after {@value #MAX} characters, with an ellipsis for the elements that are left out. So one that contains itself ends, too.
 */
final class ArrayText {
    private static final int MAX = 1 << 16;
    /** The deepest array within arrays whose elements are shown. */
    private static final int MAX_DEPTH = 16;

    private ArrayText() {}

    static String of(Object array) {
        StringBuilder out = new StringBuilder();
        append(out, array, 1);
        return out.toString();
    }

    private static void append(StringBuilder out, Object array, int depth) {
        out.append('[');
        int length = Array.getLength(array);
        for (int i = 0; i < length; i++) {
            out.append(i == 0 ? "" : ", ");
            if (out.length() > MAX || depth > MAX_DEPTH) {
                out.append('\u2026');
                break;
            }
            Object element = Array.get(array, i);
            if (element != null && element.getClass().isArray()) {
                append(out, element, depth + 1);
            } else {
                out.append(MessageText.textOf(element));
            }
        }
        out.append(']');
    }
}
