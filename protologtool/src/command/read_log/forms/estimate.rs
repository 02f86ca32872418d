//! Estimates of how many messages were logged, from those that sampling kept.
//!
//! A message that was kept with probability p stands for 1/p (Horvitz and Thompson 1952). The sum
//! of these weights w is unbiased, and w(w - 1) of each is an unbiased estimate of its variance.
//! The interval is that of Wilson (1927), for a count of which each part is kept by chance: the
//! numbers from which the estimate is less than 1.96 standard deviations away, those of the number
//! itself. So it covers the number about as often where few messages were kept.
//!
//! Messages that were kept by the value of an argument were kept together or not at all: each value
//! is one draw. The variance is that of the sums of each value: for two messages of one value with
//! weights v <= w it has the part w(v - 1), the chance of both being 1/w. A few values say too
//! little about how unequal their sums are, so there is no interval below [`MIN_VALUES`].
//!
//! A number is exact only if no message of its group and level was passed over. Where none was kept
//! by chance, as many more as [`Unseen`] says may have been logged: those that were passed over, or
//! as many as would have left one with 95 %, whichever is less.

use crate::exit::Failure;
use protolog_reader::{Level, Log, LossCause, LossReason, printable};
use serde_json::{Value, json};
use std::collections::HashMap;

/// The quantile of a normal distribution beyond which 2.5 % are on each side.
const QUANTILE: f64 = 1.959_964;

/// The least number of values that an interval rests on.
const MIN_VALUES: usize = 20;

/// The group and the level of messages, as far as they are known.
pub(super) type GroupLevel = (Option<u32>, Option<Level>);

/// The greatest weights of messages, by their kind.
#[derive(Debug, Default)]
pub(super) struct Unseen(HashMap<GroupLevel, f64>);

impl Unseen {
    /// Notes a message that was kept, and its weight; infinite where it was kept with others, of
    /// which there may be as many.
    pub(super) fn note(&mut self, kind: GroupLevel, weight: f64) {
        let heaviest = self.0.entry(kind).or_default();
        *heaviest = heaviest.max(weight);
    }

    /// Returns how many messages of these kinds may have been logged of which none was kept.
    pub(super) fn most(&self, log: &Log, is_it: impl Fn(GroupLevel) -> bool) -> f64 {
        let is_known = |(group, level): GroupLevel| group.is_some() && level.is_some();
        let all = log.stats().passed_over.iter();
        let most = |(kind, count): (&GroupLevel, &u64)| {
            // What is none here was never kept: its rate is not known.
            let weight = self.0.get(kind).map_or(f64::INFINITY, |weight| *weight);
            (*count as f64).min(QUANTILE * QUANTILE * weight)
        };
        all.filter(|(kind, _)| !is_known(**kind) || is_it(**kind)).map(most).sum()
    }
}

/// A sum over messages that were kept, each with its weight.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Estimate {
    /// Of those that were not sampled.
    exact: f64,
    /// Of those that were, without weights.
    kept: f64,
    /// The same with weights.
    sum: f64,
    variance: f64,
    /// The amounts at each weight that were kept together, by their randomness.
    together: HashMap<u64, Vec<(f64, f64)>>,
}

/// An estimate with the numbers between which the true one is, in 95 % of all cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) estimate: u64,
    bounds: Bounds,
}

/// The bounds of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bounds {
    Known(u64, u64),
    /// None, since only so many values of an argument were kept.
    OfValues(usize),
}

impl Estimate {
    /// Adds a message that was kept, of so many bytes, or one; together with those of one
    /// randomness, or for itself.
    pub(super) fn add(&mut self, amount: f64, weight: f64, together: Option<u64>) {
        if weight <= 1.0 {
            self.exact += amount;
            return;
        }
        self.kept += amount;
        self.sum += amount * weight;
        let Some(randomness) = together else {
            self.variance += amount * amount * weight * (weight - 1.0);
            return;
        };
        let amounts = self.together.entry(randomness).or_default();
        // Weights are of rates, so equal ones have the same bits.
        match amounts.iter_mut().find(|(other, _)| other.to_bits() == weight.to_bits()) {
            Some((_, sum)) => *sum += amount,
            None => amounts.push((weight, amount)),
        }
    }

    /// Returns the estimate of the sum's variance.
    fn variance(&self) -> f64 {
        let of_value = |amounts: &Vec<(f64, f64)>| {
            let pairs =
                amounts.iter().flat_map(|one| amounts.iter().map(move |other| (one, other)));
            let part = |((v, one), (w, other)): (&(f64, f64), &(f64, f64))| {
                one * other * v.max(*w) * (v.min(*w) - 1.0)
            };
            pairs.map(part).sum::<f64>()
        };
        self.variance + self.together.values().map(of_value).sum::<f64>()
    }

    /// Returns the sum, with weights.
    pub(super) fn sum(&self) -> f64 {
        self.exact + self.sum
    }

    /// Returns whether some of them were kept by chance.
    pub(super) fn is_sampled(&self) -> bool {
        self.variance > 0.0 || !self.together.is_empty()
    }

    /// As [`Self::interval`], where so many more may have been logged if none was kept by chance.
    pub(super) fn interval_with(&self, most_unseen: impl FnOnce() -> f64) -> Interval {
        let mut interval = self.interval();
        if let (Bounds::Known(_, high), false) = (&mut interval.bounds, self.is_sampled()) {
            *high = high.saturating_add(most_unseen().ceil() as u64);
        }
        interval
    }

    /// Returns the estimate with its interval.
    pub(super) fn interval(&self) -> Interval {
        let estimate = self.sum().round() as u64;
        if !self.is_sampled() {
            return Interval::exact(estimate);
        }
        let values = self.together.len();
        if (1..MIN_VALUES).contains(&values) {
            return Interval { estimate, bounds: Bounds::OfValues(values) };
        }
        // The variance of a number n is n times this.
        let ratio = self.variance() / self.sum;
        let shift = QUANTILE * QUANTILE * ratio / 2.0;
        let half = (QUANTILE * QUANTILE * ratio * self.sum + shift * shift).sqrt();
        let low = self.exact + (self.sum + shift - half).max(self.kept);
        let high = self.exact + self.sum + shift + half;
        Interval { estimate, bounds: Bounds::Known(low.floor() as u64, high.ceil() as u64) }
    }
}

impl Interval {
    /// An exact number.
    pub(super) const fn exact(number: u64) -> Self {
        Self { estimate: number, bounds: Bounds::Known(number, number) }
    }

    /// `120 exact`, `50000 48200..51900`, or `700 of 7 values only`.
    pub(super) fn text(self) -> String {
        let Self { estimate, bounds } = self;
        let between = match bounds {
            Bounds::Known(low, high) if low == high => "exact".to_owned(),
            Bounds::Known(low, high) => format!("{low}..{high}"),
            Bounds::OfValues(1) => "of 1 value only".to_owned(),
            Bounds::OfValues(values) => format!("of {values} values only"),
        };
        format!("{estimate:>10} {between:>21}")
    }

    /// The cells of a table; without an interval those of its bounds are empty.
    pub(super) fn cells(self) -> [(&'static str, String); 3] {
        let [low, high] = self.bounds.map_or([None; 2], |low, high| [Some(low), Some(high)]);
        let text = |number: Option<u64>| number.map(|it| it.to_string()).unwrap_or_default();
        [("estimate", self.estimate.to_string()), ("low", text(low)), ("high", text(high))]
    }

    pub(super) fn json(self) -> Value {
        let [low, high] = self.bounds.map_or([None; 2], |low, high| [Some(low), Some(high)]);
        json!({"estimate": self.estimate, "low": low, "high": high})
    }
}

impl Bounds {
    fn map_or<T>(self, none: T, f: impl FnOnce(u64, u64) -> T) -> T {
        match self {
            Self::Known(low, high) => f(low, high),
            Self::OfValues(_) => none,
        }
    }
}

/// The total of a log, if it is exact: all entries that were counted, and what sampling passed
/// over. None if some entries were left out, since nobody knows how many of those that were passed
/// over the same filter would leave out; or if messages were lost, which may have stood for others.
pub(super) fn exact_total(log: &Log, counted: u64) -> Option<u64> {
    let stats = log.stats();
    let is_all = stats.entries == counted && !stats.has_losses() && stats.ended_early.is_none();
    is_all.then(|| stats.passed_over.values().fold(counted, |sum, one| sum.saturating_add(*one)))
}

/// An error if calls of a group were limited and sampled: nobody knows for how many messages those
/// stand that both let pass. And if messages were merged: a line has them once.
pub(super) fn check(log: &Log, kept: &Unseen) -> Result<(), Failure> {
    let stats = log.stats();
    let name = |group: Option<u32>| {
        group.map_or("a group that is not known".into(), |id| {
            let name = log.dictionary().group_name(id);
            format!("`{}`", printable(&name))
        })
    };
    let merged = stats.lost.keys().find(|(reason, _)| reason.is_repeat());
    if let Some((_, group)) = merged {
        let failure = Failure::new(format!(
            "no estimate: messages of {} repeat others, and are counted, not listed",
            name(*group)
        ));
        return Err(failure.help(
            "leave out `--estimate`, or end the rule, as in `protologtool configuration repeat net off`",
        ));
    }
    let is_sampled = |group: Option<u32>| {
        let mut groups = stats.passed_over.keys().chain(kept.0.keys()).map(|(group, _)| *group);
        groups.any(|sampled| sampled == group || sampled.is_none() || group.is_none())
    };
    let limited = stats.lost.keys().filter_map(|(reason, group)| {
        (*reason == LossReason::Reported(LossCause::Limited)).then_some(*group)
    });
    let Some(group) = limited.into_iter().find(|group| is_sampled(*group)) else { return Ok(()) };
    let name = name(group);
    let failure = Failure::new(format!(
        "no estimate: messages of {name} were sampled and limited, and those that passed both stand for an unknown number"
    ));
    Err(failure.help("end one of them, as in `protologtool configuration limit net none`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SplitMix64.
    struct Random(u64);

    impl Random {
        /// From 2^-53 to 1.
        fn uniform(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            (((mixed ^ mixed >> 31) >> 11) + 1) as f64 * (-53_f64).exp2()
        }

        /// The number that is passed over before the next one that is kept.
        fn gap(&mut self, chance: f64) -> usize {
            (self.uniform().ln() / (-chance).ln_1p()) as usize
        }

        /// The number of `messages` that are kept, by gaps as programs draw them.
        fn kept(&mut self, messages: u64, chance: f64) -> u64 {
            let (mut at, mut kept) = (0, 0);
            loop {
                at += self.gap(chance) as u64 + 1;
                if at > messages {
                    return kept;
                }
                kept += 1;
            }
        }
    }

    /// Of 10,000 runs with a seed each, the intervals cover the number in 95 ± 1 %, and the mean of
    /// the estimates is within four standard errors of it. Rates change in the last case.
    #[test]
    fn intervals_cover_what_they_say() {
        const RUNS: u64 = 10_000;
        for (index, parts) in [
            &[(20_000, 100.0)][..],
            &[(200_000, 1000.0)],
            &[(400, 10.0)],
            &[(1_000_000, 100.0)],
            &[(4_000, 10.0), (30_000, 100.0), (500, 1.0), (10_000, 50.0)],
        ]
        .into_iter()
        .enumerate()
        {
            let messages: u64 = parts.iter().map(|(messages, _)| messages).sum();
            let (mut covered, mut sum) = (0, 0.0);
            let mut random = Random(index as u64 + 1);
            let runs = if messages > 500_000 { RUNS / 5 } else { RUNS };
            for _ in 0..runs {
                let mut estimate = Estimate::default();
                for (messages, weight) in parts {
                    let all = *weight <= 1.0;
                    let kept = if all { *messages } else { random.kept(*messages, 1.0 / weight) };
                    (0..kept).for_each(|_| estimate.add(1.0, *weight, None));
                }
                covered += u64::from(covers(estimate.interval(), messages));
                sum += estimate.sum();
            }
            let share = covered as f64 / runs as f64;
            assert!((share - 0.95).abs() < 0.01, "{parts:?}: {share}");
            let variance: f64 = parts.iter().map(|(n, weight)| *n as f64 * (weight - 1.0)).sum();
            let (mean, error) = (sum / runs as f64, (variance / runs as f64).sqrt());
            assert!((mean - messages as f64).abs() < 4.0 * error, "{parts:?}: {mean} ± {error}");
        }
    }

    #[test]
    fn what_is_not_sampled_is_exact() {
        let mut estimate = Estimate::default();
        (0..7).for_each(|_| estimate.add(1.0, 1.0, None));
        assert_eq!(estimate.interval(), Interval::exact(7));
        assert_eq!(estimate.interval().text(), "         7                 exact");
        estimate.add(1.0, 100.0, None);
        let Interval { estimate, bounds } = estimate.interval();
        assert_eq!((estimate, bounds), (107, Bounds::Known(24, 570)));
    }

    fn covers(interval: Interval, number: u64) -> bool {
        interval.bounds.map_or(false, |low, high| (low..=high).contains(&number))
    }

    /// Values of an argument with messages of unequal numbers, kept together: the intervals cover
    /// the number in 95 ± 2 %, and the mean of the estimates is within four standard errors of it.
    /// In the last case a greater rate holds for half of each value's messages. With the variance
    /// of messages that are kept each for itself, fewer than two thirds are covered.
    #[test]
    fn intervals_of_messages_that_are_kept_together_cover_what_they_say() {
        const RUNS: u64 = 3_000;
        for (values, unequal, weights) in
            [(6_000, 1, [100.0, 100.0]), (6_000, 20, [100.0, 100.0]), (3_000, 20, [50.0, 10.0])]
        {
            let mut random = Random(7);
            // Both halves of a value's messages.
            let amounts: Vec<[f64; 2]> =
                (0..values).map(|value| [1.0 + (value % unequal) as f64, 9.0]).collect();
            let messages: f64 = amounts.iter().flatten().sum();
            let (mut covered, mut alone, mut sum, mut square) = (0, 0, 0.0, 0.0);
            for _ in 0..RUNS {
                let (mut estimate, mut wrong) = (Estimate::default(), Estimate::default());
                // Only the values of which one half at least is kept, by gaps between them.
                let most = 1.0 / f64::min(weights[0], weights[1]);
                let mut value = random.gap(most);
                while let Some(amounts) = amounts.get(value) {
                    let uniform = random.uniform() * most;
                    for (amount, weight) in amounts.iter().zip(weights) {
                        let is_kept = uniform <= 1.0 / weight;
                        for _ in 0..if is_kept { *amount as u64 } else { 0 } {
                            estimate.add(1.0, weight, Some(value as u64));
                            wrong.add(1.0, weight, None);
                        }
                    }
                    value += 1 + random.gap(most);
                }
                covered += u64::from(covers(estimate.interval(), messages as u64));
                alone += u64::from(covers(wrong.interval(), messages as u64));
                sum += estimate.sum();
                square += (estimate.sum() - messages).powi(2);
            }
            let share = covered as f64 / RUNS as f64;
            assert!((share - 0.95).abs() < 0.02, "{values} of {unequal}: {share}");
            assert!((alone as f64) < RUNS as f64 * 0.67, "{values} of {unequal}: {alone}");
            let mean = sum / RUNS as f64;
            let error = (square / RUNS as f64 / RUNS as f64).sqrt();
            assert!((mean - messages).abs() < 4.0 * error, "{mean} ± {error} of {messages}");
        }
    }

    /// Messages of unequal sizes, kept by one of their bytes: the intervals of their bytes and of
    /// their number cover those in 95 ± 1.5 %, and the means of the estimates are within four
    /// standard errors of them.
    #[test]
    fn intervals_of_messages_that_bytes_decide_cover_what_they_say() {
        const RUNS: u64 = 5_000;
        // So many messages of so many bytes, of which one in `interval` is kept.
        for (sizes, interval) in [
            (&[(20_000_u32, 20.0)][..], 2_000.0),
            (&[(3_000, 20.0), (2_000, 60.0), (400, 500.0)], 4_000.0),
            (&[(6_000, 25.0), (300, 2_000.0), (20, 30_000.0)], 5_000.0),
        ] {
            let mut random = Random(3);
            let messages: f64 = sizes.iter().map(|(count, _)| f64::from(*count)).sum();
            let bytes: f64 = sizes.iter().map(|(count, size)| f64::from(*count) * size).sum();
            let (mut covered, mut sums, mut squares) = ([0_u64; 2], [0.0; 2], [0.0; 2]);
            for _ in 0..RUNS {
                let mut estimates = [Estimate::default(), Estimate::default()];
                for (count, size) in sizes {
                    let chance = -(-size / interval).exp_m1();
                    // As programs do, which keep the largest for sure.
                    let is_sure = *size >= 4.6 * interval;
                    let kept = if is_sure {
                        u64::from(*count)
                    } else {
                        random.kept(u64::from(*count), chance)
                    };
                    let weight = if is_sure { 1.0 } else { 1.0 / chance };
                    for _ in 0..kept {
                        estimates[0].add(1.0, weight, None);
                        estimates[1].add(*size, weight, None);
                    }
                }
                for (at, number) in [messages, bytes].into_iter().enumerate() {
                    covered[at] += u64::from(covers(estimates[at].interval(), number as u64));
                    sums[at] += estimates[at].sum();
                    squares[at] += (estimates[at].sum() - number).powi(2);
                }
            }
            for (at, number) in [messages, bytes].into_iter().enumerate() {
                let share = covered[at] as f64 / RUNS as f64;
                assert!((share - 0.95).abs() < 0.015, "{sizes:?}: {share} at {at}");
                let mean = sums[at] / RUNS as f64;
                let error = (squares[at] / RUNS as f64 / RUNS as f64).sqrt();
                assert!((mean - number).abs() < 4.0 * error, "{mean} ± {error} of {number}");
            }
        }
    }

    #[test]
    fn few_values_have_no_interval() {
        let mut estimate = Estimate::default();
        for value in 0..19 {
            (0..3).for_each(|_| estimate.add(1.0, 10.0, Some(value)));
        }
        let few = estimate.interval_with(|| 1.0);
        assert_eq!(few.text(), "       570     of 19 values only");
        assert_eq!(few.cells().map(|(_, cell)| cell), ["570", "", ""].map(String::from));
        assert_eq!(few.json(), json!({"estimate": 570, "low": null, "high": null}));
        estimate.add(3.0, 10.0, Some(19));
        assert_eq!(estimate.interval().text(), "       600              397..907");
    }
}
