package dev.protolog.internal.rules;

import dev.protolog.internal.groups.SettingParts;
import java.util.Locale;

/**
 * At most so many messages in a time, as {@code protolog-core/src/control/limit.rs} has it:
 * {@code 100/s}, {@code 100/s:500} or {@code 100/s burst 500}, {@code 2/m}, {@code 30/h}.
 *
 * <p>Invariant: a limit lets at least one message pass, and no more than {@value #MAX} a second.
 */
public record Limit(int count, Unit unit, int burst) {
    /** The largest number of a limit, and of a burst. */
    static final int MAX = 1_000_000;
    /** No limit, whatever an earlier rule says. */
    static final Limit NONE = new Limit(0, Unit.SECOND, 0);

    /** The help line of a text that is no limit. */
    static final String HELP = "write a number up to 1000000 and a time, as in `100/s`, `2/m burst 10` or `30/h`";

    private static final int MAX_DIGITS = 18;

    /** A unit of time. */
    enum Unit {
        SECOND("s", "sec", 1_000_000_000L),
        MINUTE("m", "min", 60_000_000_000L),
        HOUR("h", "hour", 3_600_000_000_000L);

        final String letter;
        private final String word;
        final long nanos;

        Unit(String letter, String word, long nanos) {
            this.letter = letter;
            this.word = word;
            this.nanos = nanos;
        }

        /** Null for another word. */
        static Unit of(String text) {
            for (Unit unit : values()) {
                boolean isLong = text.equalsIgnoreCase(unit.name()) && unit != HOUR;
                if (isAscii(text) && (text.equalsIgnoreCase(unit.letter) || text.equalsIgnoreCase(unit.word) || isLong)) {
                    return unit;
                }
            }
            return null;
        }
    }

    /** The limit in a text; null if it is none. */
    public static Limit parse(String text) {
        String[] parts = parted(text);
        int slash = parts[0].indexOf('/');
        if (slash < 0) {
            return null;
        }
        int count = number(parts[0].substring(0, slash));
        int burst = parts[1] == null ? count : number(parts[1]);
        Unit unit = Unit.of(SettingParts.trim(parts[0].substring(slash + 1)));
        return count == 0 || burst == 0 || unit == null ? null : new Limit(count, unit, burst);
    }

    /** The part before {@code :} or {@code burst}, and the one behind it; null for none. */
    static String[] parted(String text) {
        int colon = text.indexOf(':');
        int at = colon >= 0 ? colon : text.indexOf(" burst ");
        String behind = at < 0 ? null : text.substring(at + (colon >= 0 ? 1 : " burst ".length()));
        return new String[] {at < 0 ? text : text.substring(0, at), behind};
    }

    /** The nanoseconds after which one more may come, in the long run. */
    long interval() {
        return count == 0 ? 0 : unit.nanos / count;
    }

    /** The shortest text that means the same, without spaces. */
    @Override
    public String toString() {
        String rate = count + "/" + unit.letter.toLowerCase(Locale.ROOT);
        return burst == count ? rate : rate + ":" + burst;
    }

    static boolean isAscii(String text) {
        return text.chars().allMatch(it -> it < 0x80);
    }

    /** A number from 1 to {@link #MAX}; else 0. */
    private static int number(String text) {
        String digits = SettingParts.trim(text);
        boolean isNumber = !digits.isEmpty() && digits.chars().allMatch(it -> it >= '0' && it <= '9');
        if (!isNumber) {
            return 0;
        }
        String rest = digits.replaceFirst("^0+(?=.)", "");
        long number = rest.length() > MAX_DIGITS ? Long.MAX_VALUE : Long.parseLong(rest);
        return number <= MAX ? (int) number : 0;
    }
}
