package dev.protolog.internal.text;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAdder;

/**
 * Numbers in boxes as values of a trace, which are integers of 64 bits and doubles: those that are
 * such a value, and no others. A conversion that changes a value without a word is an error of the
 * call instead.
 *
 * <p>Invariant: {@link #integer} and {@link #floating} give the same whether the tool has processed
 * a call or not.
 */
public final class Numbers {
    /** The decimal digits of which a double keeps all. */
    private static final int DOUBLE_DIGITS = 15;

    private Numbers() {}

    /** The value for {@code %d}; null if the number has another one. */
    public static Long integer(Object number) {
        if (number instanceof Long || number instanceof Integer || number instanceof Short || number instanceof Byte
                || number instanceof AtomicLong || number instanceof AtomicInteger || number instanceof LongAdder) {
            return ((Number) number).longValue();
        }
        boolean fits = number instanceof BigInteger big && big.bitLength() < Long.SIZE;
        return fits ? ((BigInteger) number).longValue() : null;
    }

    /**
     * The value for {@code %x} and {@code %o}: an integer of up to 32 bits has no more digits than
     * those, also where it is negative.
     */
    public static Long bits(Object number) {
        Long value = integer(number);
        boolean isShort = number instanceof Integer || number instanceof Short || number instanceof Byte || number instanceof AtomicInteger;
        return value != null && isShort ? Long.valueOf(value & 0xffff_ffffL) : value;
    }

    /**
     * The value for {@code %f}; null if the number has more digits than a double keeps. Integers
     * fit, as Java widens them.
     */
    public static Double floating(Object number) {
        if (number instanceof Double || number instanceof Float || number instanceof DoubleAdder) {
            return ((Number) number).doubleValue();
        }
        if (number instanceof BigDecimal decimal) {
            double value = decimal.doubleValue();
            boolean fits = decimal.signum() == 0 || Double.isFinite(value) && Math.abs(value) >= Double.MIN_NORMAL
                    && decimal.stripTrailingZeros().precision() <= DOUBLE_DIGITS;
            return fits ? value : null;
        }
        Long integer = integer(number);
        return integer == null ? null : integer.doubleValue();
    }
}
