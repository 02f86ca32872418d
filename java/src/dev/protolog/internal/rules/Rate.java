package dev.protolog.internal.rules;

import dev.protolog.internal.groups.SettingParts;
import java.math.BigInteger;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * So many messages are kept of so many, each by chance, or all together that have one value of an
 * argument; or one byte is kept of so many, and with it its message. As
 * {@code protolog-core/src/control/rate.rs} has it: {@code 1/100}, {@code 1%}, {@code 0.25%},
 * {@code 1/100 by arg1}, {@code 1/512KiB}.
 *
 * <p>Invariant: at least one message in {@value #MAX} is kept, and at most all of them; the
 * fraction is reduced, so that equal rates are equal.
 */
record Rate(int kept, int of, int by) {
    /** The largest number of messages of which a rate keeps some. */
    static final int MAX = 1_000_000_000;
    /** All messages are kept, whatever an earlier rule says. */
    static final Rate NONE = new Rate(0, 0, 0);
    /** The greatest number of an argument by which messages are kept. */
    private static final int MAX_BY = 15;
    /** In the place of an argument's number: each byte is kept by chance. */
    private static final int BYTES = MAX_BY + 1;
    /** A number of kept messages that no rate has, in the words of those of bytes. */
    private static final long KEPT_OF_BYTES = (1L << 30) - 1;
    /** Bits of a word for the argument's number, and for those and a number of messages. */
    private static final int BY_BITS = 4;
    private static final int OF_BITS = 30 + BY_BITS;
    private static final Pattern INTERVAL = Pattern.compile("(?i:1/([0-9]{1,10})[ \\t\\n\\r\\f]*(|ki|mi)b)");
    private static final Pattern BY = Pattern.compile("(?i:(?::|[ \\t\\n\\r\\f]+by[ \\t\\n\\r\\f]+)arg)([1-9]|1[0-5])");
    /** Texts that are almost rates: of too many bytes, in other units, of messages. */
    private static final Pattern TOO_FAR = Pattern.compile("(?i:1/[0-9]{1,10}[ \\t\\n\\r\\f]*(|ki|mi|gi)b)");
    private static final Pattern BYTES_OF = Pattern.compile("(?s:1/[0-9]*[ \\t\\n\\r\\f]*(?=[^0-9]).*[bB])");
    private static final Pattern FRACTION = Pattern.compile("(?s:[0-9]+/([0-9]+)([ :].*)?)");
    /** The number of different values of a randomness: 2^56. */
    private static final BigInteger VALUES = BigInteger.ONE.shiftLeft(56);

    /** The most digits of a number, and of one behind the point of a percentage. */
    private static final int MAX_DIGITS = 10;
    private static final int DECIMALS = 7;
    private static final int PERCENT = 100;
    private static final int KIB_BITS = 10;

    /** The number of a rate's messages takes three bytes, if its chance is not less than that. */
    private static final double MOST = (1 << 21) - 1;
    /** A message of more than 4.6 times the interval is kept for sure. */
    private static final int SURE_TENTHS = 46;

    /** The rate of so many messages out of so many; null if that is none. */
    static Rate of(long kept, long of) {
        if (kept <= 0 || kept > of || of > MAX) {
            return null;
        }
        long divisor = BigInteger.valueOf(kept).gcd(BigInteger.valueOf(of)).longValue();
        return new Rate((int) (kept / divisor), (int) (of / divisor), 0);
    }

    /** The rate in a text; null if it is none. */
    static Rate parse(String text) {
        String words = SettingParts.trim(text);
        Matcher interval = INTERVAL.matcher(words);
        if (interval.matches()) {
            int shift = interval.group(2).isEmpty() ? 0 : Character.toLowerCase(interval.group(2).charAt(0)) == 'k' ? KIB_BITS : 2 * KIB_BITS;
            long bytes = Long.parseLong(interval.group(1)) << shift;
            return bytes == 0 || bytes > MAX ? null : new Rate(1, (int) bytes, BYTES);
        }
        int end = 0;
        while (end < words.length() && words.charAt(end) != ' ' && words.charAt(end) != ':') {
            end++;
        }
        Rate rate = parseFraction(words.substring(0, end));
        if (rate == null || end == words.length()) {
            return rate;
        }
        Matcher by = BY.matcher(words.substring(end));
        return by.matches() ? new Rate(rate.kept, rate.of, Integer.parseInt(by.group(1))) : null;
    }

    /** The help line of a text that is no rate, as Rust has it. */
    static String help(String text) {
        String words = SettingParts.trim(text);
        if (TOO_FAR.matcher(words).matches()) {
            return "keep one of at least 1 and at most 1000000000 bytes, as in `1/512KiB` or `1/900MiB`";
        } else if (BYTES_OF.matcher(words).matches()) {
            return "write bytes in the units B, KiB or MiB, as in `1/512KiB`";
        }
        Matcher fraction = FRACTION.matcher(words);
        if (fraction.matches() && new BigInteger(fraction.group(1)).compareTo(BigInteger.valueOf(MAX)) > 0) {
            return "keep at least one message of 1000000000, as in `1/1000000`";
        }
        return "write a part of all messages, as in `1/100`, `0.5%` or `1/100 by arg1`, or of all bytes, as in `1/512KiB`";
    }

    private static Rate parseFraction(String rate) {
        int slash = rate.indexOf('/');
        if (slash >= 0) {
            return of(number(rate.substring(0, slash), MAX_DIGITS), number(rate.substring(slash + 1), MAX_DIGITS + 1));
        }
        if (!rate.endsWith("%")) {
            return null;
        }
        String percent = rate.substring(0, rate.length() - 1);
        int point = percent.indexOf('.');
        long kept = number(point < 0 ? percent : percent.substring(0, point), MAX_DIGITS);
        long of = PERCENT;
        if (point >= 0) {
            String decimals = percent.substring(point + 1);
            long part = number(decimals, DECIMALS);
            for (int i = 0; i < decimals.length() && part >= 0; i++) {
                kept *= 10;
                of *= 10;
            }
            kept = part < 0 ? part : kept + part;
        }
        return of(kept, of);
    }

    /** The rate in one word, which is not 0. */
    long toWord() {
        if (by == BYTES) {
            return KEPT_OF_BYTES << OF_BITS | (long) of << BY_BITS;
        }
        return (long) kept << OF_BITS | (long) of << BY_BITS | by;
    }

    /** The parts of a word. */
    static int keptOf(long word) {
        return (int) (word >>> OF_BITS);
    }

    static int ofOf(long word) {
        return (int) (word >>> BY_BITS) & (1 << OF_BITS - BY_BITS) - 1;
    }

    static int byOf(long word) {
        return (int) word & MAX_BY;
    }

    /** Messages whose {@link Randomness} is less are passed over: (1 - p) * 2^56, rounded. */
    long threshold() {
        BigInteger twice = VALUES.multiply(BigInteger.valueOf(2L * kept)).add(BigInteger.valueOf(of));
        return VALUES.subtract(twice.divide(BigInteger.valueOf(2L * of))).longValue();
    }

    /** The number of bytes of which one is kept; 0 of a rate of messages. */
    int interval() {
        return by == BYTES ? of : 0;
    }

    /** The number of the argument by which messages are kept, from 1; 0 for none. */
    int argument() {
        return by == BYTES ? 0 : by;
    }

    /**
     * The rate at which messages of so many bytes are kept where one byte of so many is; null if
     * all are, since more than 99 % would be.
     */
    Rate ofSize(long bytes) {
        if (bytes >= Long.MAX_VALUE / 10 || bytes * 10 >= (long) of * SURE_TENTHS) {
            return null;
        }
        double chance = -Math.expm1(bytes * Math.log1p(-1.0 / of));
        double most = Math.max(Math.floor(MOST * chance), 1);
        return of((long) most, Math.round(most / chance));
    }

    /** The probability with which a message is kept. */
    double probability() {
        return (double) kept / of;
    }

    boolean keepsAll() {
        return kept == of;
    }

    @Override
    public String toString() {
        if (by == BYTES) {
            int units = Math.min(Integer.numberOfTrailingZeros(of) / KIB_BITS, 2);
            return kept + "/" + (of >> units * KIB_BITS) + List.of("B", "KiB", "MiB").get(units);
        }
        return kept + "/" + of + (by == 0 ? "" : ":arg" + by);
    }

    /** The number that up to so many digits are; -1 for another text. */
    private static long number(String digits, int most) {
        boolean isNumber = !digits.isEmpty() && digits.length() <= most && digits.chars().allMatch(it -> it >= '0' && it <= '9');
        return isNumber ? Long.parseLong(digits) : -1;
    }
}
