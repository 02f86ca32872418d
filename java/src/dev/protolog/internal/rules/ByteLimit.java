package dev.protolog.internal.rules;

import dev.protolog.internal.groups.SettingParts;
import java.math.BigInteger;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * At most so many bytes in a time, of all messages of a session, as
 * {@code protolog-core/src/control/byte_limit.rs} has it: {@code 1MiB/s}, {@code 1MiB/s:8MiB} or
 * {@code 1 MiB/s burst 8 MiB}, {@code 64KiB/m}, {@code 100MiB/h}.
 *
 * <p>Invariant: a limit is of at least one byte, and of no more than {@value #MAX}, in a time; the
 * same holds for a burst, which is of no more than comes in a hundred years.
 */
public record ByteLimit(long count, Limit.Unit unit, long burst) {
    /** The most bytes of a limit, and of a burst. */
    static final long MAX = 1L << 40;

    /** The help line of a text that is no limit. */
    static final String HELP = "write bytes and a time, as in `1MiB/s` or `100KiB/m burst 1MiB`; a burst is at most what comes in 100 years";

    private static final long MAX_NANOS = 100L * 365 * 24 * 3_600_000_000_000L;
    private static final Pattern BYTES = Pattern.compile("(?i:([0-9]{1,10})[ \\t\\n\\r\\f]*(|ki|mi|gi)b)");
    private static final List<String> UNITS = List.of("", "ki", "mi", "gi");
    private static final List<String> SHOWN = List.of("B", "KiB", "MiB", "GiB");
    private static final int UNIT_BITS = 10;

    /** The limit in a text; null if it is none. */
    public static ByteLimit parse(String text) {
        String[] parts = Limit.parted(text);
        int slash = parts[0].indexOf('/');
        if (slash < 0) {
            return null;
        }
        long count = bytes(parts[0].substring(0, slash));
        long burst = parts[1] == null ? count : bytes(parts[1]);
        Limit.Unit unit = Limit.Unit.of(SettingParts.trim(parts[0].substring(slash + 1)));
        if (count == 0 || burst == 0 || unit == null) {
            return null;
        }
        ByteLimit limit = new ByteLimit(count, unit, burst);
        return limit.nanos(burst) <= MAX_NANOS ? limit : null;
    }

    /** As above; an error if a text is none. */
    public static ByteLimit of(String text) {
        ByteLimit limit = parse(text);
        if (limit == null) {
            throw new IllegalArgumentException("invalid limit of bytes `" + text + "`; " + HELP);
        }
        return limit;
    }

    /** The nanoseconds in which so many bytes may come, in the long run. */
    public long nanos(long bytes) {
        if (bytes <= (Long.MAX_VALUE - count) / unit.nanos) {
            return (bytes * unit.nanos + count - 1) / count;
        }
        BigInteger all = BigInteger.valueOf(bytes).multiply(BigInteger.valueOf(unit.nanos)).add(BigInteger.valueOf(count - 1));
        return all.divide(BigInteger.valueOf(count)).min(BigInteger.valueOf(Long.MAX_VALUE)).longValue();
    }

    /** The shortest text that means the same, without spaces. */
    @Override
    public String toString() {
        String rate = shown(count) + "/" + unit.letter;
        return burst == count ? rate : rate + ":" + shown(burst);
    }

    private static String shown(long bytes) {
        int unit = Math.min(Long.numberOfTrailingZeros(bytes) / UNIT_BITS, SHOWN.size() - 1);
        return (bytes >> unit * UNIT_BITS) + SHOWN.get(unit);
    }

    /** A number of bytes from 1 to {@link #MAX}; else 0. */
    private static long bytes(String text) {
        Matcher number = BYTES.matcher(SettingParts.trim(text));
        if (!number.matches()) {
            return 0;
        }
        int unit = UNITS.indexOf(number.group(2).toLowerCase(Locale.ROOT));
        long bytes = Long.parseLong(number.group(1)) << unit * UNIT_BITS;
        return bytes <= MAX ? bytes : 0;
    }
}
