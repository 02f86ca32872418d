package dev.protolog.internal.text;

import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.List;

/**
 * Arrays as text, as {@code Arrays.deepToString} has them. An element whose {@code toString} throws
 * does not take the other elements with it.
 *
 * <p>Invariant: a text ends soon after {@value #MAX} characters, with an ellipsis for the elements
 * that are left out; an array that contains itself shows as {@code [...]} there.
 */
final class ArrayText {
    private static final int MAX = 1 << 16;
    /** The deepest array within arrays that is shown with its elements. */
    private static final int MAX_DEPTH = 64;

    private final StringBuilder out = new StringBuilder();
    /** The arrays that are being appended, element by element. */
    private final List<Object> open = new ArrayList<>();

    private ArrayText() {}

    static String of(Object array) {
        ArrayText text = new ArrayText();
        text.append(array);
        return text.out.toString();
    }

    private void append(Object array) {
        if (open.stream().anyMatch(each -> each == array)) {
            out.append("[...]");
            return;
        }
        open.add(array);
        out.append('[');
        int length = Array.getLength(array);
        for (int i = 0; i < length; i++) {
            out.append(i == 0 ? "" : ", ");
            if (out.length() > MAX || open.size() > MAX_DEPTH) {
                out.append('\u2026');
                break;
            }
            Object element = Array.get(array, i);
            if (element != null && element.getClass().isArray()) {
                append(element);
            } else {
                out.append(MessageText.textOf(element));
            }
        }
        out.append(']');
        open.remove(open.size() - 1);
    }
}
