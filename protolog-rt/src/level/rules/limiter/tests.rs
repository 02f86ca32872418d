//! Limits by times that are given: vectors, leases, threads, clocks.

use super::*;

const SECOND: u64 = 1_000_000_000;

fn bucket_of(limit: &str) -> Bucket {
    let bucket = Bucket::new();
    bucket.set(Limit::parse(limit).expect("a limit"));
    bucket
}

fn passed(lease: &Lease, bucket: &Bucket, calls: usize, now: impl Fn(usize) -> u64) -> usize {
    (0..calls).filter(|call| lease.take(1, bucket, now(*call))).count()
}

#[test]
fn calls_pass_as_the_vectors_say() {
    let vectors = include_str!("../../../../../protolog-core/testdata/buckets.tsv");
    let mut rows = 0;
    for line in vectors.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let [limit, calls, expected] = cells[..] else { panic!("three cells: {line}") };
        let (bucket, lease) = (bucket_of(limit), Lease::NONE);
        let found: Vec<String> = calls
            .split(' ')
            .map(|calls| {
                let (count, millis) = calls.split_once('@').expect("a time");
                let now = millis.parse::<u64>().expect("milliseconds") * (SECOND / 1000);
                let count = count.parse().expect("a number");
                passed(&lease, &bucket, count, |_| now).to_string()
            })
            .collect();
        assert_eq!(found.join(" "), expected, "{limit}: {calls}");
        rows += 1;
    }
    assert!(rows > 10);
}

#[test]
fn a_burst_passes_at_once_and_then_the_rate() {
    let (bucket, lease) = (bucket_of("100/s burst 500"), Lease::NONE);
    assert_eq!(passed(&lease, &bucket, 10_000, |_| SECOND), 500);
    // A call each millisecond: one in ten passes.
    let more = passed(&lease, &bucket, 10_000, |call| SECOND + call as u64 * 1_000_000);
    assert!((999..=1000).contains(&more), "{more}");
}

#[test]
fn tokens_of_a_thread_that_stops_go_back() {
    let bucket = bucket_of("1/h burst 800");
    let (one, other) = (Lease::NONE, Lease::NONE);
    // It has taken leases of 1, 2, 4 …, and has used a part of the last one.
    assert_eq!(passed(&one, &bucket, 70, |_| SECOND), 70);
    assert!(one.left.get() > 0);
    let left = passed(&other, &bucket, 10_000, |_| SECOND);
    assert!(left < 730, "{left}");
    let late = SECOND + 2 * LEASE_NANOS;
    assert_eq!(passed(&one, &bucket, 10_000, |_| late), 730 - left);
}

#[test]
fn threads_share_a_burst_and_a_rate() {
    let mut buckets = Buckets { last: 10_000, ..Buckets::new() };
    let key = BucketKey::Group("net".into(), "app::Net".into());
    let number = buckets.get_or_add(key.clone(), Limit::parse("1/h burst 5000").expect("one"));
    assert!(number > 0);
    let count = || (0..10_000).filter(|_| take([0, number]).is_ok()).count();
    let passed = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(count)).collect();
        threads.into_iter().map(|thread| thread.join().expect("it ends")).sum::<usize>()
    });
    // What threads had in a lease when they ended is gone.
    assert!((5000 - 8 * MAX_LEASE as usize..=5000).contains(&passed), "{passed}");
    // Another limit begins anew, for threads that know that there was no token, too.
    assert!((0..1000).any(|_| take([0, number]).is_err()));
    assert_eq!(buckets.get_or_add(key, Limit::parse("1/h burst 3").expect("one")), number);
    assert_eq!((0..10).filter(|_| take([0, number]).is_ok()).count(), 3);
}

#[test]
fn a_message_that_one_bucket_refuses_takes_no_token_of_the_other() {
    // Two that share a lease's place, and two that do not.
    for distance in [LEASES as u32 - 1, 0] {
        let mut buckets = Buckets { last: 30_000 + 100 * distance, ..Buckets::new() };
        let limit = |text| Limit::parse(text).expect("a limit");
        let call = buckets.get_or_add(BucketKey::Call(1), limit("1/h:10"));
        buckets.last += distance;
        let group = buckets.get_or_add(BucketKey::Group("a".into(), "b".into()), limit("1/h:3"));
        assert_eq!((group - call) as usize % LEASES == 0, distance > 0);
        let passed = |numbers| (0..50).filter(|_| take(numbers).is_ok()).count();
        assert_eq!(passed([call, group]), 3);
        assert_eq!(passed([call, 0]), 7, "of 10 no more than 3 were used");
    }
}

/// A thread that takes tokens by an old limit while another one is set does not leave the new
/// one without any for hours.
#[test]
fn a_limit_that_is_set_meanwhile_begins_full() {
    let limit = |text| Limit::parse(text).expect("a limit");
    let (slow, fast) = (limit("1/h:2"), limit("1000/s:1000"));
    let bucket = Bucket::new();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let _ = bucket.take(64, SECOND);
                }
            });
        }
        for _ in 0..20_000 {
            bucket.set(slow);
            bucket.set(fast);
        }
        done.store(true, Ordering::Relaxed);
    });
    // Whatever was taken by either, a second later the new limit gives what it says.
    let full_at = bucket.full_at.load(Ordering::Relaxed);
    assert!(full_at <= 2 * SECOND, "{full_at}");
}

#[test]
fn a_signal_handler_within_takes_its_token_from_the_bucket() {
    let mut buckets = Buckets { last: 20_000, ..Buckets::new() };
    let number = buckets.get_or_add(BucketKey::Call(u64::MAX), Limit::parse("1/h:2").expect("one"));
    THREAD_LEASES.with(|leases| leases.is_in_use.set(true));
    let passed = (0..5).filter(|_| take([number, 0]).is_ok()).count();
    THREAD_LEASES.with(|leases| leases.is_in_use.set(false));
    assert_eq!(passed, 2);
}

/// A process that was restored on another machine has a clock that begins earlier.
#[test]
fn a_clock_that_goes_back_silences_nobody() {
    let (bucket, lease, other) = (bucket_of("1/h burst 3"), Lease::NONE, Lease::NONE);
    let late = 100 * 24 * 3600 * SECOND;
    assert_eq!(passed(&lease, &bucket, 10, |_| late), 3);
    // Clocks of threads differ a little.
    assert_eq!(passed(&other, &bucket, 10, |_| late - SECOND / 2), 0);
    assert_eq!(passed(&lease, &bucket, 10, |_| SECOND), 3);
    assert_eq!(passed(&other, &bucket, 10, |_| SECOND), 0);
    assert_eq!(passed(&lease, &bucket, 10, |_| 3601 * SECOND), 1);
}
