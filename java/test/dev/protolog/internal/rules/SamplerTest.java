package dev.protolog.internal.rules;

import static dev.protolog.SelfTest.check;

import dev.protolog.SelfTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Rates, and gaps by numbers that are drawn from a seed: the vectors that Rust has, too, and the
 * statistics of Rust's tests.
 */
public final class SamplerTest {
    private static final int RUNS = 10_000;
    private static final int MESSAGES = 2_000;
    private static final int BINS = 40;

    private SamplerTest() {}

    public static void run(Path vectors) throws IOException, InterruptedException {
        List<String> rates = Files.readAllLines(vectors.resolve("rates.tsv"));
        check("vectors of rates", rates.size() > 30, true);
        for (String line : rates.subList(1, rates.size())) {
            String[] row = line.split("\t", -1);
            Rate rate = Rate.parse(row[0]);
            check("rate " + row[0], rate == null ? "" : rate.toString(), row[1]);
        }
        consistent(vectors);
        for (String[] row : SelfTest.rows(vectors.resolve("gaps.tsv"), "rate\tstate\tnumber\tgap")) {
            long number = Long.parseUnsignedLong(row[2], 16);
            check("SplitMix64 in " + row[1], Sampler.mix(Long.parseUnsignedLong(row[1], 16)), number);
            check(row[0] + ": a gap by " + row[2], Sampler.gap(Rate.parse(row[0]), number), Long.valueOf(row[3]));
        }
        List.of("1/2", "1/7", "3/10", "1/100", "1/5000").forEach(SamplerTest::gapsAreGeometric);
        gapsAreBounded();
        estimatesAreUnbiased(true);
        estimatesAreUnbiased(false);
        messagesAreIndependent(1, 1);
        // Rules that share a place.
        messagesAreIndependent(1, 1 + Sampler.GAPS);
        for (int threads = 1; threads <= 8; threads++) {
            threadsTogetherAreUnbiased(threads);
        }
        threadsDrawForThemselves();
    }

    /** The randomness of values, and the thresholds in OpenTelemetry's own table. */
    private static void consistent(Path vectors) throws IOException {
        for (String[] row : SelfTest.rows(vectors.resolve("randomness.tsv"), "kind\tvalue\trandomness")) {
            long found = switch (row[0]) {
                case "text" -> Randomness.of(row[1]);
                case "float" -> Randomness.ofBits(Double.doubleToRawLongBits(Double.parseDouble(row[1])));
                case "bool" -> Randomness.of(Boolean.parseBoolean(row[1]));
                // Java has no unsigned ones.
                default -> new java.math.BigInteger(row[1]).bitLength() < Long.SIZE ? Randomness.of(Long.parseLong(row[1])) : Randomness.of(row[1]);
            };
            check("randomness of " + row[0] + " " + row[1], String.format("%014x", found), row[2]);
        }
        for (String[] row : SelfTest.rows(vectors.resolve("thresholds.tsv"), "rate\tthree\tfour\tfive")) {
            long threshold = Rate.parse(row[0]).threshold();
            for (int precision = 3; precision <= 5; precision++) {
                int leading = Long.numberOfLeadingZeros(~(threshold << Byte.SIZE)) / 4;
                long unit = 1L << 56 - 4 * (precision + leading);
                String digits = String.format("%014x", (threshold + unit / 2) / unit * unit);
                check("threshold of " + row[0], digits.replaceAll("0+$", ""), row[precision - 2].replaceAll("0+$", ""));
            }
        }
    }

    /** Chi-squared over bins that each expect as many gaps: exceeded once in 100,000. */
    private static void gapsAreGeometric(String text) {
        Rate rate = Rate.parse(text);
        Sampler sampler = new Sampler(7, true);
        double miss = 1 - rate.probability();
        // Bins end at the quantiles; where gaps are short, several of them are one.
        long[] bounds = IntStream.range(1, BINS)
                .mapToLong(part -> (long) Math.ceil(Math.log(1 - (double) part / BINS) / Math.log(miss))).distinct().toArray();
        int[] found = new int[bounds.length + 1];
        int draws = 200_000;
        for (int i = 0; i < draws; i++) {
            long gap = sampler.draw(rate);
            int bin = 0;
            while (bin < bounds.length && bounds[bin] <= gap) {
                bin++;
            }
            found[bin]++;
        }
        double chi = 0;
        for (int bin = 0; bin < found.length; bin++) {
            double tail = bin == bounds.length ? 0 : Math.pow(miss, bounds[bin]);
            double expected = draws * (Math.pow(miss, bin == 0 ? 0 : bounds[bin - 1]) - tail);
            check(text + ": enough for a bin", expected > 5 || found[bin] < 30, true);
            chi += Math.pow(found[bin] - expected, 2) / Math.max(expected, 1e-9);
        }
        double freedom = bounds.length;
        // Wilson and Hilferty's quantile of 0.99999.
        double bound = freedom * Math.pow(1 - 2 / (9 * freedom) + 4.265 * Math.sqrt(2 / (9 * freedom)), 3);
        check(text + ": " + chi + " of " + bound, chi < bound, true);
    }

    private static void gapsAreBounded() {
        check("all", Sampler.gap(Rate.parse("100%"), 0), 0L);
        check("the first one", Sampler.gap(Rate.parse("1/2"), -1), 0L);
        // 2^-53 is the least: each gap of 53 halves it.
        check("a half", List.of(52L, 53L).contains(Sampler.gap(Rate.parse("1/2"), 0)), true);
        long longest = Sampler.gap(Rate.parse("1/1000000000"), 0);
        check("the longest: " + longest, longest >= 36_000_000_000L && longest < 37_000_000_000L, true);
    }

    /**
     * Runs of messages whose rate changes in flight. Of the estimates, the mean is that of the
     * messages within four standard errors, and the spread is as the theory has it.
     */
    private static void estimatesAreUnbiased(boolean keepsGaps) {
        List<Rate> rates = List.of(Rate.parse("1/50"), Rate.parse("1/8"), Rate.parse("1/200"), Rate.parse("2/3"));
        double sum = 0;
        double squares = 0;
        for (int run = 0; run < RUNS; run++) {
            Sampler sampler = new Sampler(run, keepsGaps);
            double estimate = 0;
            for (int message = 0; message < MESSAGES; message++) {
                Rate rate = rates.get(message / 37 % 4);
                if (sampler.keeps(rate, 3)) {
                    estimate += 1 / rate.probability();
                }
            }
            sum += estimate;
            squares += Math.pow(estimate - MESSAGES, 2);
        }
        double variance = IntStream.range(0, MESSAGES).mapToDouble(message -> 1 / rates.get(message / 37 % 4).probability() - 1).sum();
        double error = Math.sqrt(variance / RUNS);
        double mean = sum / RUNS;
        check("a mean of " + mean + " by " + error, Math.abs(mean - MESSAGES) < 4 * error, true);
        double spread = Math.sqrt(squares / RUNS / variance);
        check("a spread of " + spread, Math.abs(spread - 1) < 0.03, true);
    }

    /** Messages are kept whatever became of the ones before. */
    private static void messagesAreIndependent(int even, int odd) {
        Sampler sampler = new Sampler(11, true);
        Rate rate = Rate.parse("1/10");
        int[] all = new int[2];
        int[] kept = new int[2];
        int before = 0;
        for (int message = 0; message < 400_000; message++) {
            boolean keeps = sampler.keeps(rate, message % 2 == 0 ? even : odd);
            all[before]++;
            kept[before] += keeps ? 1 : 0;
            before = keeps ? 1 : 0;
        }
        for (int i = 0; i < 2; i++) {
            double share = (double) kept[i] / all[i];
            check("a share of " + share, Math.abs(share - 0.1) < 4.5 * Math.sqrt(0.09 / all[i]), true);
        }
    }

    /** Threads draw for themselves: what they keep together is what one would. */
    private static void threadsTogetherAreUnbiased(int count) throws InterruptedException {
        int messages = 100_000;
        Rate rate = Rate.parse("1/50");
        int[] kept = new int[count];
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int number = i;
            threads.add(new Thread(() -> {
                Sampler sampler = Sampler.ofThread(number % 2 == 0);
                kept[number] = (int) IntStream.range(0, messages).filter(it -> sampler.keeps(rate, 2)).count();
            }));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        double expected = count * messages / 50.0;
        int total = IntStream.of(kept).sum();
        check(count + " threads: " + total, Math.abs(total - expected) < 5 * Math.sqrt(expected * 0.98), true);
    }

    private static void threadsDrawForThemselves() {
        Rate rate = Rate.parse("1/1000000");
        check("gaps of 100 threads", IntStream.range(0, 100).mapToObj(it -> Sampler.ofThread(true).draw(rate)).distinct().count() > 98, true);
    }
}
