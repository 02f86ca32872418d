package dev.protolog.internal.text;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/**
 * Floats as C's printf writes them: {@code %f}, {@code %e} and {@code %g}. {@code String.format} is
 * not the same: it rounds the shortest decimal, not the value itself, writes {@code Infinity}, and
 * has no {@code %g} without zeros.
 *
 * <p>Invariant: the digits are exact, rounded half to even on the binary value.
 */
final class FloatText {
    private FloatText() {}

    /** {@code %f}: {@code digits} digits after the point. */
    static String fixed(double value, int digits) {
        return Double.isFinite(value) ? sign(value) + plain(magnitude(value), digits) : special(value);
    }

    /**
     * {@code %e}: one digit, {@code digits} digits after the point, an exponent of at least two
     * digits.
     */
    static String exponent(double value, int digits) {
        if (!Double.isFinite(value)) {
            return special(value);
        }
        BigDecimal rounded = round(magnitude(value), digits + 1);
        return sign(value) + mantissa(rounded, digits) + exponentText(exponentOf(rounded));
    }

    /**
     * {@code %g}: {@code digits} significant digits in whichever of the two forms is shorter, no
     * trailing zeros.
     */
    static String general(double value, int digits) {
        if (!Double.isFinite(value)) {
            return special(value);
        }
        int significant = Math.max(digits, 1);
        BigDecimal rounded = round(magnitude(value), significant);
        int exponent = exponentOf(rounded);
        if (exponent >= -4 && exponent < significant) {
            return sign(value) + withoutZeros(plain(magnitude(value), significant - 1 - exponent));
        }
        return sign(value) + withoutZeros(mantissa(rounded, significant - 1)) + exponentText(exponent);
    }

    private static String special(double value) {
        return Double.isNaN(value) ? "nan" : value < 0 ? "-inf" : "inf";
    }

    private static String sign(double value) {
        return Double.doubleToRawLongBits(value) < 0 ? "-" : "";
    }

    private static BigDecimal magnitude(double value) {
        return new BigDecimal(Math.abs(value));
    }

    private static String plain(BigDecimal magnitude, int digits) {
        return magnitude.setScale(digits, RoundingMode.HALF_EVEN).toPlainString();
    }

    private static BigDecimal round(BigDecimal magnitude, int significant) {
        return magnitude.round(new MathContext(significant, RoundingMode.HALF_EVEN));
    }

    private static int exponentOf(BigDecimal rounded) {
        return rounded.signum() == 0 ? 0 : rounded.precision() - rounded.scale() - 1;
    }

    private static String mantissa(BigDecimal rounded, int digits) {
        String all = rounded.unscaledValue().toString();
        String padded = all + "0".repeat(Math.max(0, digits + 1 - all.length()));
        return digits == 0 ? padded : padded.charAt(0) + "." + padded.substring(1);
    }

    private static String exponentText(int exponent) {
        int size = Math.abs(exponent);
        return (exponent < 0 ? "e-" : "e+") + (size < 10 ? "0" : "") + size;
    }

    private static String withoutZeros(String shown) {
        if (shown.indexOf('.') < 0) {
            return shown;
        }
        int end = shown.length();
        while (shown.charAt(end - 1) == '0') {
            end--;
        }
        return shown.substring(0, shown.charAt(end - 1) == '.' ? end - 1 : end);
    }
}
