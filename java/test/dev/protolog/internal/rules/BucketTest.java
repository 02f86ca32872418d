package dev.protolog.internal.rules;

import static dev.protolog.SelfTest.check;

import dev.protolog.SelfTest;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Token buckets and the leases of threads, by the vectors that Rust has, too. */
public final class BucketTest {
    private static final long MILLI = 1_000_000;
    private static final int THREADS = 8;
    private static final int MAX_LEASE = 64;

    private BucketTest() {}

    public static void run(Path vectors) throws IOException, InterruptedException {
        for (String[] row : SelfTest.rows(vectors.resolve("buckets.tsv"), "limit\tcalls at milliseconds, by one thread\tof which pass")) {
            Bucket bucket = new Bucket(Limit.parse(row[0]));
            Leases leases = new Leases();
            List<String> passed = new ArrayList<>();
            for (String calls : row[1].split(" ")) {
                String[] parts = calls.split("@");
                passed.add(Integer.toString(passed(leases, bucket, Integer.parseInt(parts[0]), Long.parseLong(parts[1]) * MILLI)));
            }
            check(row[0] + ": " + row[1], String.join(" ", passed), row[2]);
        }
        tokensOfOneThatStopsGoBack();
        threadsShareABurst();
        manyBucketsShareLeases();
        aClockThatGoesBackSilencesNobody();
    }

    /** As Rust's test. */
    private static void aClockThatGoesBackSilencesNobody() {
        Bucket bucket = new Bucket(Limit.parse("1/h burst 3"));
        Leases one = new Leases();
        Leases other = new Leases();
        long late = 100L * 24 * 3_600_000 * MILLI;
        check("before", passed(one, bucket, 10, late), 3);
        check("clocks of threads differ a little", passed(other, bucket, 10, late - 500 * MILLI), 0);
        check("after it", passed(one, bucket, 10, 1000 * MILLI), 3);
        check("no more than that", passed(other, bucket, 10, 1000 * MILLI), 0);
        check("an hour later", passed(one, bucket, 10, 3_601_000 * MILLI), 1);
    }

    private static int passed(Leases leases, Bucket bucket, int calls, long now) {
        int passed = 0;
        for (int i = 0; i < calls; i++) {
            passed += leases.take(bucket, now) ? 1 : 0;
        }
        return passed;
    }

    private static void tokensOfOneThatStopsGoBack() {
        Bucket bucket = new Bucket(Limit.parse("1/h burst 800"));
        Leases one = new Leases();
        Leases other = new Leases();
        check("those of a lease", passed(one, bucket, 70, 1000 * MILLI), 70);
        int left = passed(other, bucket, 10_000, 1000 * MILLI);
        check("others don't have what is in a lease", left < 730 && left >= 730 - MAX_LEASE, true);
        check("it is given back", passed(one, bucket, 10_000, 1020 * MILLI), 730 - left);
    }

    private static void threadsShareABurst() throws InterruptedException {
        Bucket bucket = new Bucket(Limit.parse("1/h burst 5000"));
        AtomicInteger all = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            threads.add(new Thread(() -> {
                Leases leases = new Leases();
                int passed = 0;
                for (int call = 0; call < 10_000; call++) {
                    passed += leases.take(bucket, Leases.now()) ? 1 : 0;
                }
                all.addAndGet(passed);
            }));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        // What threads had in a lease when they ended is gone.
        check("a burst: " + all, all.get() <= 5000 && all.get() >= 5000 - THREADS * MAX_LEASE, true);
    }

    /** A lease that another bucket takes over gives back what it has. */
    private static void manyBucketsShareLeases() {
        Leases leases = new Leases();
        List<Bucket> buckets = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            buckets.add(new Bucket(Limit.parse("1/h burst 100")));
        }
        int passed = 0;
        for (int round = 0; round < 150; round++) {
            for (Bucket bucket : buckets) {
                passed += leases.take(bucket, 1000 * MILLI) ? 1 : 0;
            }
        }
        check("each bucket has its burst", passed, 40 * 100);
    }
}
