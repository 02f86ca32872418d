package dev.protolog.internal.rules;

import static dev.protolog.SelfTest.check;

import dev.protolog.SelfTest;
import java.io.IOException;
import java.nio.file.Path;
import java.util.stream.IntStream;

/** Sampling by bytes: the vectors that Rust has, too, and the statistics of Rust's tests. */
public final class ByteSamplerTest {
    private static final int RUNS = 10_000;
    private static final int MESSAGES = 600;
    private static final int SHARE_OF = 50_000;
    private static final long[] SIZES = {18, 25, 40, 120, 700, 3_000, 9_000};
    private static final String[] INTERVALS = {"1/900B", "1/5000B", "1/20000B"};

    private ByteSamplerTest() {}

    public static void run(Path vectors) throws IOException {
        for (String[] row : SelfTest.rows(vectors.resolve("byte_rates.tsv"), "interval\tbytes\trate")) {
            Rate found = Rate.parse("1/" + row[0] + "B").ofSize(Long.parseLong(row[1]));
            check(row[1] + " bytes at 1/" + row[0] + "B", found == null ? "" : found.toString(), row[2]);
        }
        hasChance(512 << 10, 3 << 19, 0.950);
        hasChance(2 << 20, 7 << 19, 0.826);
        hasChance(512 << 10, 512 << 10, 0.632);
        Sampler sampler = new Sampler(3, true);
        Rate rate = Rate.parse("1/1000B");
        double whole = 1 - chance(rate, 1000);
        long missed = IntStream.range(0, SHARE_OF).filter(it -> !sampler.keeps(rate, 1, 300) & !sampler.keeps(rate, 1, 700)).count();
        isNear("neither of two halves", (double) missed / SHARE_OF, whole);
        estimatesAreUnbiased(true);
        estimatesAreUnbiased(false);
    }

    private static void hasChance(int interval, int bytes, double expected) {
        Rate rate = Rate.parse("1/" + interval + "B");
        check(bytes + " of " + interval, Math.abs(chance(rate, bytes) - expected) < 0.001, true);
        Sampler sampler = new Sampler(1, true);
        long kept = IntStream.range(0, SHARE_OF).filter(it -> sampler.keeps(rate, 1, bytes)).count();
        isNear(bytes + " of " + interval, (double) kept / SHARE_OF, chance(rate, bytes));
    }

    private static void isNear(String what, double found, double chance) {
        check(what + ": " + found, Math.abs(found - chance) < 4.5 * Math.sqrt(chance * (1 - chance) / SHARE_OF), true);
    }

    private static double chance(Rate rate, long bytes) {
        Rate ofSize = rate.ofSize(bytes);
        return ofSize == null ? 1 : ofSize.probability();
    }

    /** Messages of unequal sizes, at intervals that change in flight. */
    private static void estimatesAreUnbiased(boolean keepsGaps) {
        double sum = 0;
        double squares = 0;
        double total = 0;
        double variance = 0;
        for (int message = 0; message < MESSAGES; message++) {
            long size = size(message);
            total += size;
            variance += (double) size * size * (1 / chance(rate(message), size) - 1);
        }
        for (int run = 0; run < RUNS; run++) {
            Sampler sampler = new Sampler(run, keepsGaps);
            double estimate = 0;
            for (int message = 0; message < MESSAGES; message++) {
                Rate ofSize = rate(message).ofSize(size(message));
                if (ofSize == null || sampler.keeps(rate(message), 3, size(message))) {
                    estimate += size(message) / (ofSize == null ? 1 : ofSize.probability());
                }
            }
            sum += estimate;
            squares += Math.pow(estimate - total, 2);
        }
        double mean = sum / RUNS;
        check("a mean of " + mean + " of " + total, Math.abs(mean - total) < 4 * Math.sqrt(variance / RUNS), true);
        double spread = Math.sqrt(squares / RUNS / variance);
        check("a spread of " + spread, Math.abs(spread - 1) < 0.04, true);
    }

    private static long size(int message) {
        return SIZES[message * message % 11 % SIZES.length];
    }

    private static Rate rate(int message) {
        return Rate.parse(INTERVALS[message / 37 % INTERVALS.length]);
    }
}
