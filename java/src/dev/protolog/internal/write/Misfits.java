package dev.protolog.internal.write;

import dev.protolog.internal.text.Arguments;

/**
 * Numbers of a processed call that no value of a trace stands for: a {@code Double} for {@code %d},
 * an integer of 65 bits. Its arguments are converted one by one before it begins, by methods that
 * give primitive values. So a number that does not fit leaves its text here, in the thread's call,
 * and a value that stands for it. The call finds that one among its arguments, and is written as
 * the {@code FORMAT_ERROR} that an unprocessed call is.
 *
 * <p>Invariants: a number that no call takes, since its call is not enabled any more, is forgotten
 * when {@value #MAX} others came; one of a call within the arguments of another leaves the other's
 * alone.
 */
final class Misfits {
    private static final int MAX = 32;
    /**
     * A value that stands for a number: as a long no usual one, as a double not a number, so that
     * it stays the same.
     */
    private static final long FIRST = 0x7ffb_1f52_c69d_8e00L;

    /** Text and class of each; null where there is none. */
    private final String[] texts = new String[MAX];
    private final String[] classes = new String[MAX];
    private int next;

    /** Keeps a number, and gives the value that stands for it. */
    long add(String text, String className) {
        int at = next;
        next = (at + 1) % MAX;
        texts[at] = text;
        classes[at] = className;
        return FIRST + at;
    }

    /**
     * The arguments of a call, with the texts of numbers that do not fit in their places, and the
     * error of the first one; null if all fit. They are forgotten here.
     */
    Found take(Call call) {
        Object[] args = null;
        int first = -1;
        String firstClass = null;
        for (int i = 0; i < call.count; i++) {
            long at = call.words[i] - FIRST;
            boolean isNumber = call.kind(i) == Arguments.INTEGER || call.kind(i) == Arguments.FLOATING;
            if (!isNumber || at < 0 || at >= MAX || texts[(int) at] == null) {
                continue;
            }
            if (args == null) {
                args = call.boxed();
                first = i;
                firstClass = classes[(int) at];
            }
            args[i] = texts[(int) at];
            texts[(int) at] = null;
        }
        return args == null ? null : new Found(args, first, firstClass);
    }

    /** True if no number is kept. */
    boolean isEmpty() {
        for (String text : texts) {
            if (text != null) {
                return false;
            }
        }
        return true;
    }

    /** {@code index}: the argument of the class {@code className}. */
    record Found(Object[] args, int index, String className) {}
}
