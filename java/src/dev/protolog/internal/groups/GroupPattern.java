package dev.protolog.internal.groups;

import dev.protolog.internal.text.WrittenName;

/**
 * Patterns of group names: what {@code PROTOLOG}, operators and the builder of a session name
 * groups by. A pattern is {@code *} for all groups, the full name of a group, its last segments
 * ({@code NET}, {@code AppLog.NET}) or its first ones ({@code com.foo}), in any case of ASCII
 * letters. In quotation marks it means no other name than what they hold ({@link WrittenName}).
 *
 * <p>Where several patterns name a group, a session takes the closest; settings take the last.
 *
 * <p>Invariant: this is the one place that compares patterns. The table {@code patterns.tsv} has
 * its cases, for Rust's too.
 */
public final class GroupPattern {
    /** The pattern does not name the group. */
    public static final int NONE = -1;
    /** It names all groups. */
    static final int ALL = 0;
    /** It has the last segments of the name. */
    public static final int END = Integer.MAX_VALUE - 1;
    /** It is the full name. */
    public static final int WHOLE = Integer.MAX_VALUE;

    private GroupPattern() {}

    public static boolean matches(String pattern, String fullName) {
        return closeness(pattern, fullName) != NONE;
    }

    /**
     * The way a pattern names a group: one of the numbers above or, if it has the first segments,
     * their length. The greater, the closer.
     */
    public static int closeness(String pattern, String fullName) {
        if (pattern.equals("*")) {
            return ALL;
        }
        String name = WrittenName.read(pattern);
        int length = name.length();
        int start = fullName.length() - length;
        if (length == 0) {
            return !pattern.isEmpty() && fullName.isEmpty() ? WHOLE : NONE;
        } else if (start < 0) {
            return NONE;
        } else if (start == 0) {
            return areEqual(name, fullName) ? WHOLE : NONE;
        } else if (endsSegment(fullName.substring(0, start)) && areEqual(name, fullName.substring(start))) {
            return END;
        }
        return beginsSegment(fullName.substring(length)) && areEqual(name, fullName.substring(0, length)) ? length : NONE;
    }

    private static boolean endsSegment(String before) {
        return before.endsWith("::") || before.endsWith(".");
    }

    private static boolean beginsSegment(String after) {
        return after.startsWith("::") || after.startsWith(".");
    }

    /** True if two texts of one length are equal but for the case of ASCII letters. */
    private static boolean areEqual(String one, String other) {
        for (int i = 0; i < one.length(); i++) {
            char a = one.charAt(i);
            char b = other.charAt(i);
            boolean areAscii = a < 0x80 && b < 0x80;
            if (a != b && !(areAscii && Character.toLowerCase(a) == Character.toLowerCase(b))) {
                return false;
            }
        }
        return true;
    }
}
