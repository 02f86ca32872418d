package dev.protolog.internal.write;

import java.math.BigInteger;

/**
 * An event as other programs know it, on this machine or another one: {@code NANOSECONDS-CAUSE}. As
 * {@code protolog-recording/src/event.rs}.
 *
 * @param nanos its time, in nanoseconds since 1970
 * @param cause its cause: letters, digits and hyphens
 */
public record EventKey(long nanos, String cause) {
    /** The most characters of a cause in a name. */
    public static final int MAX_CAUSE = 40;

    /** That of an event of any cause. */
    public static EventKey of(long nanos, String cause) {
        return new EventKey(nanos, inName(cause));
    }

    /** Null for a text that is none. */
    public static EventKey parse(String text) {
        int hyphen = text.indexOf('-');
        if (hyphen <= 0 || hyphen > 20 || !text.substring(0, hyphen).chars().allMatch(it -> it >= '0' && it <= '9')) {
            return null;
        }
        BigInteger nanos = new BigInteger(text.substring(0, hyphen));
        String cause = text.substring(hyphen + 1);
        // Not one that another form of the same cause would have, and no long one.
        return nanos.bitLength() < Long.SIZE && inName(cause).equals(cause) ? new EventKey(nanos.longValue(), cause) : null;
    }

    /** A cause as it stands in a name: letters, digits and hyphens. */
    public static String inName(String cause) {
        StringBuilder name = new StringBuilder();
        cause.codePoints().limit(MAX_CAUSE).forEach(it -> {
            boolean isPlain = it >= '0' && it <= '9' || it >= 'a' && it <= 'z' || it >= 'A' && it <= 'Z';
            if (isPlain) {
                name.append(Character.toLowerCase((char) it));
            } else if (name.length() > 0 && name.charAt(name.length() - 1) != '-') {
                name.append('-');
            }
        });
        int end = name.length() > 0 && name.charAt(name.length() - 1) == '-' ? name.length() - 1 : name.length();
        return end == 0 ? "trigger" : name.substring(0, end);
    }

    @Override
    public String toString() {
        return nanos + "-" + cause;
    }
}
