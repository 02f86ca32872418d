package dev.protolog.internal.rules;

import dev.protolog.internal.groups.SettingParts;
import java.math.BigInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * So many messages are kept of so many, each by chance, or all together that have one value of an
 * argument, as {@code protolog-core/src/control/rate.rs} has it: {@code 1/100}, {@code 1%},
 * {@code 0.25%}, {@code 1/100 by arg1}.
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
    /** Bits of a word for the argument's number, and for those and a number of messages. */
    private static final int BY_BITS = 4;
    private static final int OF_BITS = 30 + BY_BITS;
    private static final Pattern BY = Pattern.compile("(?i:(?::|[ \\t\\n\\r\\f]+by[ \\t\\n\\r\\f]+)arg)([1-9]|1[0-5])");
    /** The number of different values of a randomness: 2^56. */
    private static final BigInteger VALUES = BigInteger.ONE.shiftLeft(56);

    /** The most digits of a number, and of one behind the point of a percentage. */
    private static final int MAX_DIGITS = 10;
    private static final int DECIMALS = 7;
    private static final int PERCENT = 100;

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

    /** The probability with which a message is kept. */
    double probability() {
        return (double) kept / of;
    }

    boolean keepsAll() {
        return kept == of;
    }

    @Override
    public String toString() {
        return kept + "/" + of + (by == 0 ? "" : ":arg" + by);
    }

    /** The number that up to so many digits are; -1 for another text. */
    private static long number(String digits, int most) {
        boolean isNumber = !digits.isEmpty() && digits.length() <= most && digits.chars().allMatch(it -> it >= '0' && it <= '9');
        return isNumber ? Long.parseLong(digits) : -1;
    }
}
