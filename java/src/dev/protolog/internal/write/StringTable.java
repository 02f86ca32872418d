package dev.protolog.internal.write;

import java.util.Arrays;

/**
 * The strings that a chunk has already, by their ids. It remembers the last {@value #SLOTS} of them
 * or fewer; a string that it has forgotten gets another id.
 *
 * <p>Invariant: an id belongs to one string until {@link #clear}.
 */
final class StringTable {
    private static final int SLOTS = 64;
    /** Longer strings are rarely equal, and would be kept from the garbage collector. */
    private static final int MAX_LENGTH = 128;

    private final String[] strings = new String[SLOTS];
    private final int[] iids = new int[SLOTS];
    private int next = 1;

    void clear() {
        if (next > 1) {
            Arrays.fill(strings, null);
            next = 1;
        }
    }

    /** The id of a string that the chunk has; 0 where it has none. */
    int find(String text) {
        int slot = slot(text);
        return text.equals(strings[slot]) ? iids[slot] : 0;
    }

    /** A new id for a string that the chunk gets now. */
    int add(String text, boolean isRemembered) {
        if (isRemembered && text.length() <= MAX_LENGTH) {
            int slot = slot(text);
            strings[slot] = text;
            iids[slot] = next;
        }
        return next++;
    }

    private static int slot(String text) {
        int hash = text.hashCode();
        return (hash ^ hash >>> 16 ^ hash >>> 7) & SLOTS - 1;
    }
}
