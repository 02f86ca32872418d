package dev.protolog.internal.process;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Nanoseconds of BOOTTIME, the clock of traces. Java reads MONOTONIC, which stands still while the
 * machine is suspended; the distance comes from /proc/uptime.
 *
 * <p>Invariant: {@link #now} asks MONOTONIC alone, and never goes back unless the distance changes.
 */
public final class BootClock {
    private static final Path UPTIME = Path.of("/proc/uptime");
    /** The resolution of /proc/uptime, in nanoseconds. */
    private static final long TICK = 10_000_000;
    /** An error of the distance that is not worth another read, in nanoseconds. */
    private static final long PRECISE = 100_000;
    /**
     * A change of the distance between wall clock and MONOTONIC after which the machine may have
     * been suspended, or its clock set.
     */
    private static final long STEP = 100_000_000;

    /**
     * The offsets that a time namespace adds to MONOTONIC and BOOTTIME (time_namespaces(7)): traces
     * have the machine's clocks, also in a container.
     */
    private static final long MONOTONIC_ADDED = added("monotonic");
    private static final long BOOTTIME_ADDED = added("boottime");

    /** All sessions have one, so that they agree about the time of a message. */
    private static final BootClock OF_PROCESS = new BootClock();

    private volatile long offset = offset() - BOOTTIME_ADDED;
    private volatile long wallDistance = roughWall() - System.nanoTime();
    /** One thread at a time, for all: each would find another offset, by what it can measure. */
    private final AtomicBoolean isLooking = new AtomicBoolean();

    /** The clocks at one moment, in nanoseconds. */
    public record Moment(long realtime, long monotonic, long boottime) {}

    private BootClock() {}

    public static BootClock ofProcess() {
        return OF_PROCESS;
    }

    public long now() {
        return System.nanoTime() + offset;
    }

    /** The time now, after a look whether the machine was suspended meanwhile. */
    public long follow() {
        if (hasStepped() && isLooking.compareAndSet(false, true)) {
            try {
                // Another thread may have looked since.
                if (hasStepped()) {
                    offset = offset() - BOOTTIME_ADDED;
                    wallDistance = roughWall() - System.nanoTime();
                }
            } finally {
                isLooking.set(false);
            }
        }
        return now();
    }

    private boolean hasStepped() {
        return Math.abs(roughWall() - System.nanoTime() - wallDistance) > STEP;
    }

    /**
     * The time now of an event of this wall clock time; no later than now, and not before the clock
     * began.
     */
    public long at(Instant time) {
        return Math.max(1, now() - Math.max(0, wall() - nanos(time)));
    }

    /** An instant in nanoseconds since 1970; those that are too far away for that are moved. */
    public static long nanos(Instant time) {
        long seconds = Math.max(0, Math.min(time.getEpochSecond(), Long.MAX_VALUE / 1_000_000_000 - 1));
        return seconds * 1_000_000_000 + time.getNano();
    }

    public Moment moment() {
        long monotonic = System.nanoTime();
        return new Moment(wall(), monotonic - MONOTONIC_ADDED, monotonic + offset);
    }

    /** The wall clock to the millisecond, which allocates nothing. */
    private static long roughWall() {
        return System.currentTimeMillis() * 1_000_000;
    }

    public static long wall() {
        return nanos(Instant.now());
    }

    /**
     * BOOTTIME less MONOTONIC, as this process reads them. Most machines were never suspended: it
     * is zero there, unless the values read refute it. On others the tick at which the file changes
     * is waited for. Other threads may run between two reads, so each is held against the time
     * before and after it.
     */
    private static long offset() {
        try {
            long before = System.nanoTime();
            long shown = uptime();
            long after = System.nanoTime();
            if (shown - after <= 0 && shown + TICK - before >= 0) {
                return 0;
            }
            long best = shown - after;
            long width = after - before + TICK;
            long deadline = after + 3 * TICK;
            while (width > PRECISE && after < deadline) {
                long next = uptime();
                long now = System.nanoTime();
                // The file changed between the two reads.
                if (next != shown && now - before < width) {
                    width = now - before;
                    best = next - before - width / 2;
                }
                shown = next;
                before = after;
                after = now;
            }
            return best;
        } catch (IOException | RuntimeException e) {
            // Without /proc the two are taken for one.
            return 0;
        }
    }

    /** The time namespace's offset of a clock, in nanoseconds; 0 where there is none. */
    private static long added(String clock) {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/self/timens_offsets"))) {
                String[] fields = line.strip().split("\\s+");
                if (fields[0].equals(clock)) {
                    return Long.parseLong(fields[1]) * 1_000_000_000L + Long.parseLong(fields[2]);
                }
            }
        } catch (IOException | RuntimeException e) {
            // A kernel without time namespaces.
        }
        return 0;
    }

    private static long uptime() throws IOException {
        String seconds = Files.readString(UPTIME).split(" ", 2)[0];
        return new BigDecimal(seconds).movePointRight(9).longValueExact();
    }
}
