//! Sampling by bytes: the chance of a size, estimates of bytes and of messages.

use super::*;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

fn sampling(interval: u64) -> Sampling {
    Sampling { rate: Rate::of_bytes(interval as u32).expect("a rate"), rule: 3 }
}

/// Returns whether a message is kept, and the number that it stands for.
fn keep_seeded(sampler: &ThreadSampler, interval: u64, bytes: u64) -> Option<f64> {
    let Some(rate) = rate_of_size(interval as u32, bytes) else { return Some(1.0) };
    sampler.keeps_bytes(sampling(interval), bytes).then(|| rate.weight())
}

/// The share of messages of a size that are kept.
fn share(seed: u64, interval: u64, bytes: u64) -> f64 {
    const MESSAGES: u32 = 100_000;
    let sampler = seeded(seed);
    let kept = (0..MESSAGES).filter(|_| keep_seeded(&sampler, interval, bytes).is_some()).count();
    kept as f64 / f64::from(MESSAGES)
}

/// The probabilities that are known of heap profilers which sample so.
#[test]
fn a_size_has_its_chance() {
    for (interval, bytes, expected) in [
        (512 * KIB, 3 * MIB / 2, 0.950),
        (2 * MIB, 7 * MIB / 2, 0.826),
        (512 * KIB, 512 * KIB, 0.632),
        (64, 64, 0.632),
        (MIB, 64 * KIB, 0.0606),
    ] {
        let rate = rate_of_size(interval as u32, bytes).expect("it is sampled");
        assert!((rate.probability() - expected).abs() < 0.004, "{bytes} of {interval}: {rate}");
        let (found, chance) = (share(1, interval, bytes), rate.probability());
        let error = (chance * (1.0 - chance) / 100_000.0).sqrt();
        assert!((found - chance).abs() < 4.0 * error, "{bytes} of {interval}: {found}, {chance}");
    }
}

#[test]
fn two_halves_are_kept_as_often_as_the_whole() {
    for interval in [512 * KIB, 100_000, 300] {
        for bytes in [2, interval / 10, interval, 3 * interval] {
            let miss = |bytes| {
                1.0 - rate_of_size(interval as u32, bytes).expect("it is sampled").probability()
            };
            let (halves, whole) = (miss(bytes / 2) * miss(bytes - bytes / 2), miss(bytes));
            assert!((halves - whole).abs() < 1e-6, "{bytes} of {interval}: {halves} {whole}");
            // The sampler's own: one of the halves at least.
            let sampler = seeded(bytes);
            let keeps = |bytes| keep_seeded(&sampler, interval, bytes).is_some();
            let missed = (0..50_000).filter(|_| !keeps(bytes / 2) & !keeps(bytes - bytes / 2));
            let found = missed.count() as f64 / 50_000.0;
            let error = (whole * (1.0 - whole) / 50_000.0).sqrt();
            assert!((found - whole).abs() < 4.0 * error + 1e-4, "{bytes} of {interval}: {found}");
        }
    }
}

/// What would be kept with more than 99 % is kept for sure, and stands for itself.
#[test]
fn a_large_message_counts_exactly() {
    let interval = 1000;
    assert!(rate_of_size(interval, 4599).expect("a rate").probability() > 0.9899);
    assert_eq!([4600, 5000, u64::MAX].map(|bytes| rate_of_size(interval, bytes)), [None; 3]);
    assert_eq!(rate_of_size(1, 5), None);
    let sampling = Some(sampling(1000));
    assert!((0..10_000).all(|_| keep_bytes(sampling, 1000, 4600) == Ok(None)));
    assert!((0..10_000).any(|_| keep_bytes(sampling, 1000, 4000) == Err(NotKept)));
}

/// The fraction that a message says is its chance, whatever its size and the interval.
#[test]
fn rates_are_as_exact_as_they_say() {
    for interval in [1_u32, 2, 18, 100, 1 << 10, 1 << 19, 999_999, 1 << 29, 1_000_000_000] {
        for bytes in [18_u64, 19, 23, 64, 1000, 4096, 70_000, 2_000_000, 900_000_000] {
            let Some(rate) = rate_of_size(interval, bytes) else { continue };
            let chance = -(bytes as f64 * (-1.0 / f64::from(interval)).ln_1p()).exp_m1();
            let error = (rate.probability() / chance - 1.0).abs();
            assert!(error < 0.5e-6, "{bytes} of {interval}: {error}");
            assert!(rate.of() < 1 << 21 || rate.kept() == 1, "in three bytes: {rate}");
        }
    }
}

/// Java's tests have the same vectors.
#[test]
fn rates_of_sizes_match_the_vectors() {
    let vectors = include_str!("../../../../../../protolog-core/testdata/byte_rates.tsv");
    let mut checked = 0;
    for row in vectors.lines().skip(1) {
        let cells: Vec<&str> = row.split('\t').collect();
        let [interval, bytes, expected] = cells[..] else { panic!("three cells: {row}") };
        let rate = rate_of_size(interval.parse().expect("bytes"), bytes.parse().expect("bytes"));
        assert_eq!(rate.map_or(String::new(), |rate| rate.to_string()), expected, "{row}");
        checked += 1;
    }
    assert!(checked > 90);
}

/// 10,000 runs of messages of unequal sizes, at intervals that change in flight: the estimates of
/// bytes and of messages are unbiased within four standard errors, and spread as the theory has it.
#[test]
fn estimates_of_bytes_and_messages_are_unbiased() {
    const RUNS: u64 = 10_000;
    let sizes = [18_u64, 25, 40, 120, 700, 3_000, 9_000];
    let messages: Vec<(u64, u64)> = (0..700_u64)
        .map(|at| {
            (sizes[(at * at % 11 % 7) as usize], [900, 5_000, 20_000][(at / 37 % 3) as usize])
        })
        .collect();
    let (mut of_bytes, mut of_messages) = (Vec::new(), Vec::new());
    for run in 0..RUNS {
        let sampler = seeded(run);
        let (mut bytes, mut count) = (0.0, 0.0);
        for (size, interval) in &messages {
            if let Some(weight) = keep_seeded(&sampler, *interval, *size) {
                bytes += weight * *size as f64;
                count += weight;
            }
        }
        of_bytes.push(bytes);
        of_messages.push(count);
    }
    let weight = |size, interval| rate_of_size(interval as u32, size).map_or(1.0, Rate::weight);
    for (found, amount) in
        [(of_bytes, (|size| size as f64) as fn(u64) -> f64), (of_messages, |_| 1.0)]
    {
        let total: f64 = messages.iter().map(|(size, _)| amount(*size)).sum();
        let variance = messages
            .iter()
            .map(|(size, interval)| amount(*size).powi(2) * (weight(*size, *interval) - 1.0));
        let expected = variance.sum::<f64>().sqrt();
        let (mean, deviation) = moments(&found);
        let error = expected / (RUNS as f64).sqrt();
        assert!((mean - total).abs() < 4.0 * error, "{mean} of {total} ± {error}");
        assert!((deviation / expected - 1.0).abs() < 0.04, "{deviation} of {expected}");
    }
}
