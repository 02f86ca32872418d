//! Sampling by numbers that are drawn from a seed: gaps, estimates, threads, forks.

use super::*;

mod bytes;

fn rate(text: &str) -> Rate {
    Rate::parse(text).expect("a rate")
}

fn seeded(seed: u64) -> ThreadSampler {
    let sampler = ThreadSampler::new();
    sampler.process.set(PROCESS.load(Ordering::Relaxed));
    sampler.random.set(next_random(seed).0);
    sampler
}

/// Mean and standard deviation.
fn moments(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    (mean, (squares / (values.len() - 1) as f64).sqrt())
}

/// Chi-squared over bins that each expect as many gaps: the bounds are exceeded once in 100,000.
#[test]
fn gaps_are_geometric() {
    for text in ["1/2", "1/7", "3/10", "1/100", "1/5000"] {
        let (rate, sampler) = (rate(text), seeded(7));
        let miss = 1.0 - rate.probability();
        // Bins end at the quantiles; where gaps are short, several of them are one.
        let mut bounds: Vec<u64> = (1..40)
            .map(|part| ((1.0 - f64::from(part) / 40.0).ln() / miss.ln()).ceil() as u64)
            .collect();
        bounds.dedup();
        let mut found = vec![0_u32; bounds.len() + 1];
        let draws = 200_000_u32;
        for _ in 0..draws {
            let gap = sampler.draw(rate);
            found[bounds.partition_point(|bound| *bound <= gap)] += 1;
        }
        // The chance of a gap of n or more.
        let tail = |gap: u64| miss.powi(gap as i32);
        let mut begin = 0;
        let mut chi = 0.0;
        for (index, count) in found.iter().enumerate() {
            let end = bounds.get(index).copied();
            let chance = tail(begin) - end.map_or(0.0, tail);
            let expected = chance * f64::from(draws);
            assert!(expected > 5.0 || *count < 30, "{text}: {expected} {count}");
            chi += (f64::from(*count) - expected).powi(2) / expected.max(1e-9);
            begin = end.unwrap_or(begin);
        }
        let freedom = bounds.len() as f64;
        // Wilson and Hilferty's quantile of 0.99999.
        let bound = freedom
            * (1.0 - 2.0 / (9.0 * freedom) + 4.265 * (2.0 / (9.0 * freedom)).sqrt()).powi(3);
        assert!(chi < bound, "{text}: {chi} of {freedom}, {bound}");
    }
}

/// Java's tests have the same vectors.
#[test]
fn gaps_match_the_vectors() {
    let vectors = include_str!("../../../../../protolog-core/testdata/gaps.tsv");
    let mut checked = 0;
    for row in vectors.lines().skip(1) {
        let cells: Vec<&str> = row.split('\t').collect();
        let hex = |at: usize| u64::from_str_radix(cells[at], 16).expect("a number");
        // The state before the one that the number is made of.
        let before = hex(1).wrapping_sub(0x9e37_79b9_7f4a_7c15);
        assert_eq!(next_random(before), (hex(2), hex(1)), "{row}");
        assert_eq!(gap(rate(cells[0]), hex(2)).to_string(), cells[3], "{row}");
        checked += 1;
    }
    assert!(checked > 50);
}

#[test]
fn a_gap_is_bounded_by_the_numbers_that_are_drawn() {
    assert_eq!(gap(rate("100%"), 0), 0);
    assert_eq!(gap(rate("1/2"), u64::MAX), 0);
    // 2^-53 is the least: each gap of 53 halves it.
    assert!((52..=53).contains(&gap(rate("1/2"), 0)));
    let longest = gap(rate("1/1000000000"), 0);
    assert!((36_000_000_000..37_000_000_000).contains(&longest), "{longest}");
}

/// 10,000 runs of 2,000 messages, whose rate changes in flight. Of the estimates, the mean is that
/// of the messages within four standard errors, and the spread is as the theory has it.
#[test]
fn estimates_are_unbiased_while_rates_change() {
    const RUNS: u64 = 10_000;
    const MESSAGES: u64 = 2_000;
    let rates = [rate("1/50"), rate("1/8"), rate("1/200"), rate("2/3")];
    // Changes at no regular times, and of what the sampler has drawn nothing is known.
    let rate_at = |message: u64| rates[(message / 37 % 4) as usize];
    let mut estimates = Vec::new();
    for run in 0..RUNS {
        let sampler = seeded(run);
        let mut estimate = 0.0;
        for message in 0..MESSAGES {
            let rate = rate_at(message);
            if sampler.keeps(Sampling { rate, rule: 3 }) {
                estimate += rate.weight();
            }
        }
        estimates.push(estimate);
    }
    let (mean, deviation) = moments(&estimates);
    let variance: f64 = (0..MESSAGES).map(|message| rate_at(message).weight() - 1.0).sum();
    let error = variance.sqrt() / (RUNS as f64).sqrt();
    assert!((mean - MESSAGES as f64).abs() < 4.0 * error, "{mean} ± {error}");
    assert!((deviation / variance.sqrt() - 1.0).abs() < 0.03, "{deviation} of {}", variance.sqrt());
}

/// Calls with gaps of their own, which are forgotten now and then, as the rate changes: each
/// message is kept with its own chance, and whatever became of the one before.
#[test]
fn gaps_of_calls_are_as_good_as_those_of_rules() {
    const MESSAGES: u64 = 600_000;
    let rates = [rate("1/10"), rate("1/40"), rate("1/3")];
    SAMPLER.with(|sampler| {
        sampler.process.set(PROCESS.load(Ordering::Relaxed));
        sampler.random.set(next_random(5).0);
    });
    let (mut gaps, mut before) = ([None; 2], [false; 2]);
    let (mut expected, mut kept, mut after_kept) = ([0.0; 3], [0_u32; 3], [0_u32; 2]);
    for message in 0..MESSAGES {
        let (call, at) = ((message % 2) as usize, (message / 7 % 3) as usize);
        // With the rate, those of both calls.
        if message % 7 == 0 {
            gaps = [None; 2];
        }
        if message % 64 == 17 {
            gaps[call] = None;
        }
        let sampling = Some(Sampling { rate: rates[at], rule: 1 });
        let keeps = keep_by(sampling, &mut gaps[call]).is_ok();
        expected[at] += rates[at].probability();
        kept[at] += u32::from(keeps);
        if at == 0 && before[call] {
            after_kept[usize::from(keeps)] += 1;
        }
        before[call] = keeps;
    }
    for at in 0..3 {
        let error = f64::sqrt(expected[at] * (1.0 - rates[at].probability()));
        let (found, expected) = (f64::from(kept[at]), expected[at]);
        assert!((found - expected).abs() < 4.5 * error, "{found} of {expected} ± {error}");
    }
    let all = f64::from(after_kept[0] + after_kept[1]);
    let share = f64::from(after_kept[1]) / all;
    assert!((share - 0.1).abs() < 4.5 * (0.09 / all).sqrt(), "{share}: {after_kept:?}");
}

/// Messages are kept whatever became of the ones before, also where rules share a gap's place.
#[test]
fn messages_are_independent() {
    for rules in [[1, 1], [1, 1 + GAPS as u16]] {
        let sampler = seeded(11);
        let rate = rate("1/10");
        let mut pairs = [[0_u32; 2]; 2];
        let mut before = false;
        for message in 0..400_000_usize {
            let keeps = sampler.keeps(Sampling { rate, rule: rules[message % 2] });
            pairs[usize::from(before)][usize::from(keeps)] += 1;
            before = keeps;
        }
        for [passed, kept] in pairs {
            let all = f64::from(passed + kept);
            let share = f64::from(kept) / all;
            assert!((share - 0.1).abs() < 4.5 * (0.09 / all).sqrt(), "{share}: {pairs:?}");
        }
    }
}

/// Threads draw for themselves: what they keep together is what one would.
#[test]
fn threads_together_are_unbiased() {
    const MESSAGES: u64 = 100_000;
    for threads in 1..=8 {
        let sampling = Some(Sampling { rate: rate("1/50"), rule: 2 });
        let count = || (0..MESSAGES).filter(|_| keep(sampling).is_ok()).count();
        let kept: Vec<usize> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..threads).map(|_| scope.spawn(count)).collect();
            all.into_iter().map(|thread| thread.join().expect("it ends")).collect()
        });
        let expected = (threads * MESSAGES) as f64 / 50.0;
        let total = kept.iter().sum::<usize>() as f64;
        assert!((total - expected).abs() < 5.0 * (expected * 0.98).sqrt(), "{kept:?}");
        // Two keep as many by chance, once in 150 times.
        assert!(threads < 4 || kept.iter().any(|one| *one != kept[0]), "of their own: {kept:?}");
    }
}

#[test]
fn a_child_draws_for_itself() {
    let sampling = Sampling { rate: rate("1/1000000"), rule: 1 };
    let sampler = seeded(3);
    assert!(!sampler.keeps(sampling));
    let (left, random) = (sampler.gaps[1].left.get(), sampler.random.get());
    begin_child();
    sampler.keeps(sampling);
    assert_ne!((sampler.gaps[1].left.get() + 1, sampler.random.get()), (left, random));
}

#[test]
fn a_kept_message_has_its_own_rate_though_its_arguments_log() {
    let (one, other) = (Some(rate("1/2")), Some(rate("1/3")));
    let generation = super::super::generation();
    let note = |key, rate| note_kept(key, rate, generation);
    let take = |key| take_kept(key, || true);
    assert_eq!(take(7), None);
    note(7, one);
    note(8, other);
    note(9, None);
    assert_eq!([take(9), take(8), take(8)], [None, other, None]);
    // The same call within its own arguments, at another rate, and for sure.
    note(7, other);
    note(7, None);
    assert_eq!([take(7), take(7), take(7), take(7)], [None, other, one, None]);
    // One that panicked is forgotten with the next one before it.
    note(1, one);
    note(2, other);
    assert_eq!([take(1), take(2)], [one, None]);
}

#[test]
fn the_rate_of_a_message_that_panicked_is_no_later_ones() {
    let (one, other) = (Some(rate("1/2")), Some(rate("1/3")));
    let old = super::super::generation().wrapping_sub(1);
    // A message that asks has its own above it.
    note_kept(5, one, old);
    note_kept(5, other, old.wrapping_add(1));
    assert_eq!(take_kept(5, || true), other);
    // One that does not ask has none; it asked if its group has rules.
    assert_eq!(take_kept(5, || false), None);
    note_kept(5, one, old);
    assert_eq!(take_kept(5, || true), one);
    assert_eq!(take_kept(5, || false), None);
}

#[test]
fn a_signal_handler_within_keeps_its_message() {
    let sampling = Some(Sampling { rate: rate("1/1000000"), rule: 1 });
    SAMPLER.with(|sampler| sampler.is_in_use.set(true));
    assert!((0..1000).all(|_| keep(sampling) == Ok(None)));
    assert_eq!(
        (0..9).map(|_| keep_by(sampling, &mut Some(5))).find(|kept| *kept != Ok(None)),
        None
    );
    SAMPLER.with(|sampler| sampler.is_in_use.set(false));
}
