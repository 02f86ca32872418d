package dev.protolog.internal.rules;

import dev.protolog.internal.groups.SettingParts;
import java.math.BigInteger;

/**
 * So many messages are kept of so many, each by chance, as
 * {@code protolog-core/src/control/rate.rs} has it: {@code 1/100}, {@code 1%}, {@code 0.25%}.
 *
 * <p>Invariant: at least one message in {@value #MAX} is kept, and at most all of them; the
 * fraction is reduced, so that equal rates are equal.
 */
record Rate(int kept, int of) {
    /** The largest number of messages of which a rate keeps some. */
    static final int MAX = 1_000_000_000;
    /** All messages are kept, whatever an earlier rule says. */
    static final Rate NONE = new Rate(0, 0);

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
        return new Rate((int) (kept / divisor), (int) (of / divisor));
    }

    /** The rate in a text; null if it is none. */
    static Rate parse(String text) {
        String rate = SettingParts.trim(text);
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
        return (long) kept << Integer.SIZE | of;
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
        return kept + "/" + of;
    }

    /** The number that up to so many digits are; -1 for another text. */
    private static long number(String digits, int most) {
        boolean isNumber = !digits.isEmpty() && digits.length() <= most && digits.chars().allMatch(it -> it >= '0' && it <= '9');
        return isNumber ? Long.parseLong(digits) : -1;
    }
}
