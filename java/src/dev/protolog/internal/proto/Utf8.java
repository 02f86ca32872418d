package dev.protolog.internal.proto;

/**
 * UTF-8 without an object in between. An unpaired surrogate becomes a question mark, as with
 * {@link String#getBytes}.
 */
public final class Utf8 {
    private static final int ELLIPSIS = 3;

    private Utf8() {}

    /** The number of bytes of {@code text}. */
    public static int length(String text) {
        int length = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < 0x80) {
                length++;
            } else if (c < 0x800) {
                length += 2;
            } else if (isPair(text, i)) {
                length += 4;
                i++;
            } else {
                length += Character.isSurrogate(c) ? 1 : 3;
            }
        }
        return length;
    }

    /**
     * Writes {@code text}, {@code room} bytes at most, of which the last are an ellipsis if it is
     * cut. Gives the number of bytes.
     */
    public static int put(String text, byte[] to, int start, int room, boolean isCut) {
        int end = start + (isCut ? Math.max(0, room - ELLIPSIS) : room);
        int at = start;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < 0x80) {
                if (at + 1 > end) {
                    break;
                }
                to[at++] = (byte) c;
            } else if (c < 0x800) {
                if (at + 2 > end) {
                    break;
                }
                to[at++] = (byte) (0xc0 | c >> 6);
                to[at++] = (byte) (0x80 | c & 0x3f);
            } else if (isPair(text, i)) {
                if (at + 4 > end) {
                    break;
                }
                int point = Character.toCodePoint(c, text.charAt(++i));
                to[at++] = (byte) (0xf0 | point >> 18);
                to[at++] = (byte) (0x80 | point >> 12 & 0x3f);
                to[at++] = (byte) (0x80 | point >> 6 & 0x3f);
                to[at++] = (byte) (0x80 | point & 0x3f);
            } else if (Character.isSurrogate(c)) {
                if (at + 1 > end) {
                    break;
                }
                to[at++] = '?';
            } else {
                if (at + 3 > end) {
                    break;
                }
                to[at++] = (byte) (0xe0 | c >> 12);
                to[at++] = (byte) (0x80 | c >> 6 & 0x3f);
                to[at++] = (byte) (0x80 | c & 0x3f);
            }
        }
        if (isCut && room >= ELLIPSIS) {
            to[at++] = (byte) 0xe2;
            to[at++] = (byte) 0x80;
            to[at++] = (byte) 0xa6;
        }
        return at - start;
    }

    private static boolean isPair(String text, int at) {
        return Character.isHighSurrogate(text.charAt(at))
                && at + 1 < text.length()
                && Character.isLowSurrogate(text.charAt(at + 1));
    }
}
