//! The differences of a run from another one, or from several that are known to be good, in the
//! order in which they are reported: new, vanished, counts, values, order. Within each, the most
//! telling comes first: severe levels, great changes.
//!
//! Invariant: a value that differs among good runs by itself is no difference.

use super::DiffArgs;
use super::noise::ArgKind;
use super::order::{self, Place};
use super::tally::{MessageKey, MessageTally, Tally};
use super::values::{ArgColumn, Range};
use protolog_core::ArgumentNames;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// One difference.
#[derive(Debug)]
pub(super) enum Difference<'a> {
    /// Only the earlier runs have the message; the first of them is shown.
    Vanished { key: &'a MessageKey, message: &'a MessageTally },
    /// Only the second run has the message.
    New { key: &'a MessageKey, message: &'a MessageTally },
    /// Both have it, one more often. Of several runs before, the least and the greatest number.
    Count { key: &'a MessageKey, before: (u64, u64), after: u64 },
    /// An argument has other values. Arguments count from 1.
    Values { key: &'a MessageKey, argument: usize, name: Option<&'a str>, change: ValueChange<'a> },
    /// Messages come in another order on a thread.
    Order { thread: &'a str, places: Vec<Place<'a>> },
}

/// The change of an argument's values.
#[derive(Debug)]
pub(super) enum ValueChange<'a> {
    /// Values that only one of the runs has, each with its number, and those that both have, with
    /// both numbers.
    Choice {
        vanished: Vec<(&'a str, u64)>,
        new: Vec<(&'a str, u64)>,
        other: Vec<(&'a str, u64, u64)>,
    },
    /// Numbers have another range or mean.
    Range { before: Range, after: Range },
    /// There are more or fewer different texts.
    Texts { before: usize, after: usize },
}

/// A duration is another one if it is so many times as long.
const OTHER_DURATION: f64 = 2.0;

/// Compares a run with earlier ones, of which there is at least one.
pub(super) fn all<'a>(
    before: &'a [Tally],
    after: &'a Tally,
    args: &DiffArgs,
) -> Vec<Difference<'a>> {
    let earlier = |key: &MessageKey| -> Vec<&'a MessageTally> {
        before.iter().filter_map(|tally| tally.messages.get(key)).collect()
    };
    let severity = |key: &MessageKey| key.level.map_or(0, |level| level.severity() + 1);
    let mut new: Vec<_> =
        after.messages.iter().filter(|(key, _)| earlier(key).is_empty()).collect();
    new.sort_by_key(|(key, message)| Reverse((severity(key), message.count)));
    // One that a good run does without may be missing.
    let is_gone = |(key, _): &(&Rc<MessageKey>, &MessageTally)| {
        !after.messages.contains_key(*key) && earlier(key).len() == before.len()
    };
    let mut vanished: Vec<_> = before[0].messages.iter().filter(is_gone).collect();
    vanished.sort_by_key(|(key, message)| Reverse((severity(key), message.count)));
    let both: Vec<_> = after
        .messages
        .iter()
        .map(|(key, message)| (&**key, earlier(key), message))
        .filter(|(_, earlier, _)| !earlier.is_empty())
        .collect();
    let mut found: Vec<Difference<'a>> =
        new.into_iter().map(|(key, message)| Difference::New { key, message }).collect();
    found.extend(vanished.into_iter().map(|(key, message)| Difference::Vanished { key, message }));
    if !args.ignore_counts {
        found.extend(counts(&both, before.len(), args));
    }
    if !args.ignore_values {
        let values = both.iter().flat_map(|(key, old, new)| values(key, old, new, args));
        let mut values: Vec<_> = values.collect();
        values.sort_by_key(|(key, ..)| Reverse(severity(key)));
        found.extend(values.into_iter().map(|(key, (argument, name), change)| {
            Difference::Values { key, argument, name, change }
        }));
    }
    if !args.ignore_order {
        found.extend(orders(before, after));
    }
    found
}

/// The differences in how often messages were logged, the greatest change first.
fn counts<'a>(
    both: &[(&'a MessageKey, Vec<&'a MessageTally>, &'a MessageTally)],
    runs: usize,
    args: &DiffArgs,
) -> Vec<Difference<'a>> {
    let mut found: Vec<(&'a MessageKey, (u64, u64), u64)> = Vec::new();
    for (key, earlier, message) in both {
        let counts = || earlier.iter().map(|message| message.count);
        let least = if earlier.len() < runs { Some(0) } else { counts().min() }.unwrap_or(0);
        let greatest = counts().max().unwrap_or(0);
        let is_within = (least..=greatest).contains(&message.count);
        let is_near = |bound: u64| args.is_same(bound as f64, message.count as f64);
        if !is_within && !is_near(least) && !is_near(greatest) {
            found.push((key, (least, greatest), message.count));
        }
    }
    let change = |(_, (least, greatest), after): &(_, (u64, u64), u64)| {
        let near = if after > greatest { greatest } else { least };
        ((*after).max(1) as f64 / (*near).max(1) as f64).ln().abs()
    };
    found.sort_by(|one, other| change(other).total_cmp(&change(one)));
    found.into_iter().map(|(key, before, after)| Difference::Count { key, before, after }).collect()
}

/// The number and the name of an argument, and how its values differ.
type ChangedArgument<'a> = (&'a MessageKey, (usize, Option<&'a str>), ValueChange<'a>);

/// The differences in the values of a message.
fn values<'a>(
    key: &'a MessageKey,
    before: &[&'a MessageTally],
    after: &'a MessageTally,
    args: &DiffArgs,
) -> Vec<ChangedArgument<'a>> {
    let (mut found, names) = (Vec::new(), ArgumentNames::parse(&after.names));
    for (index, new) in after.columns.iter().enumerate() {
        let old: Vec<&ArgColumn> =
            before.iter().filter_map(|message| message.columns.get(index)).collect();
        let kind = after.kinds.get(index).copied().filter(|_| !args.noise).unwrap_or_default();
        let changed = match kind {
            _ if old.is_empty() => None,
            ArgKind::Identity => None,
            ArgKind::Duration => duration(&old, new),
            ArgKind::Value => change(&old, new, args),
        };
        let argument = (index + 1, names.get(index));
        found.extend(changed.map(|change| (key, argument, change)));
    }
    found
}

/// The change of a duration, which differs a little between any two runs.
fn duration<'a>(before: &[&'a ArgColumn], after: &'a ArgColumn) -> Option<ValueChange<'a>> {
    let ranges: Option<Vec<Range>> = before.iter().map(|column| column.range()).collect();
    let (before, after) = (hull(&ranges?)?, after.range()?);
    let is_longer = after.mean > before.means.1.max(f64::MIN_POSITIVE) * OTHER_DURATION;
    let is_shorter = after.mean * OTHER_DURATION < before.means.0;
    (is_longer || is_shorter).then_some(ValueChange::Range { before, after })
}

fn change<'a>(
    before: &[&'a ArgColumn],
    after: &'a ArgColumn,
    args: &DiffArgs,
) -> Option<ValueChange<'a>> {
    let few: Option<Vec<&'a BTreeMap<String, u64>>> =
        before.iter().map(|column| column.few()).collect();
    if let (Some(old), Some(new)) = (few, after.few()) {
        let keys = |values: &'a BTreeMap<String, u64>| values.keys().collect::<BTreeSet<_>>();
        let common = old.iter().map(|it| keys(it)).reduce(|one, other| &one & &other)?;
        let agree = old.iter().all(|values| values.len() == common.len());
        if agree || before.iter().any(|column| column.range().is_none()) {
            // Texts of which good runs have none in common differ from run to run.
            return if common.is_empty() && old.len() > 1 {
                None
            } else {
                choice(&old, &common, new, args)
            };
        }
    }
    let ranges: Option<Vec<Range>> = before.iter().map(|column| column.range()).collect();
    match (ranges.and_then(|ranges| hull(&ranges)), after.range()) {
        (Some(old), Some(new)) => {
            (!is_within(old, new, args)).then_some(ValueChange::Range { before: old, after: new })
        }
        _ => {
            let texts = || before.iter().map(|column| column.texts());
            let (least, greatest) = (texts().min()?, texts().max()?);
            let after = after.texts();
            let is_same = (least..=greatest).contains(&after)
                || [least, greatest].iter().any(|it| args.is_same(*it as f64, after as f64));
            let before = if after < least { least } else { greatest };
            (!is_same).then_some(ValueChange::Texts { before, after })
        }
    }
}

/// The values that differ, of few.
fn choice<'a>(
    before: &[&'a BTreeMap<String, u64>],
    common: &BTreeSet<&'a String>,
    after: &'a BTreeMap<String, u64>,
    args: &DiffArgs,
) -> Option<ValueChange<'a>> {
    let is_known = |value: &str| before.iter().any(|values| values.contains_key(value));
    let gone = common.iter().filter(|value| !after.contains_key(**value));
    let vanished: Vec<_> = gone.map(|value| (&***value, before[0][*value])).collect();
    let new = after.iter().filter(|(value, _)| !is_known(value));
    let new: Vec<_> = new.map(|(value, count)| (&**value, *count)).collect();
    // Where values came or went, all others have another part.
    let is_other = !args.ignore_counts && vanished.is_empty() && new.is_empty();
    let other = if is_other { other_counts(before, after, args) } else { Vec::new() };
    let is_same = vanished.is_empty() && new.is_empty() && other.is_empty();
    (!is_same).then_some(ValueChange::Choice { vanished, new, other })
}

/// The values that both have, one more often: where messages are as many as before, or where the
/// part of a value is by far another one.
fn other_counts<'a>(
    before: &[&'a BTreeMap<String, u64>],
    after: &'a BTreeMap<String, u64>,
    args: &DiffArgs,
) -> Vec<(&'a str, u64, u64)> {
    let total = |values: &BTreeMap<String, u64>| values.values().sum::<u64>().max(1) as f64;
    let of_after = total(after);
    let is_other = |value: &str, count: u64| {
        let mut each = before.iter().map(|values| {
            let old = values.get(value).copied().unwrap_or(0) as f64;
            (old, old / total(values))
        });
        let (first, share) = each.next()?;
        let hull = each.fold(((first, first), (share, share)), |(counts, shares), (old, share)| {
            let wider = |(least, most): (f64, f64), it: f64| (least.min(it), most.max(it));
            (wider(counts, old), wider(shares, share))
        });
        let ((least, most), (least_share, most_share)) = hull;
        let (count, share) = (count as f64, count as f64 / of_after);
        let is_as_many = before.iter().any(|values| args.is_same(total(values), of_after));
        let is_near = args.is_same(count, least) || args.is_same(count, most);
        let by_count = is_as_many && !(least..=most).contains(&count) && !is_near;
        let by_share = share > most_share + OTHER_SHARE || share < least_share - OTHER_SHARE;
        (by_count || by_share).then_some(first as u64)
    };
    let both = after.iter().filter(|(value, _)| before.iter().any(|it| it.contains_key(*value)));
    both.filter_map(|(value, count)| Some((&**value, is_other(value, *count)?, *count))).collect()
}

/// A value has another part of all if it differs by so much.
const OTHER_SHARE: f64 = 0.1;

/// The least and the greatest of all.
fn hull(ranges: &[Range]) -> Option<Range> {
    ranges.iter().copied().reduce(|one, other| Range {
        least: one.least.min(other.least),
        greatest: one.greatest.max(other.greatest),
        mean: one.mean,
        means: (one.means.0.min(other.means.0), one.means.1.max(other.means.1)),
        count: one.count + other.count,
    })
}

/// Returns whether numbers are as before. Of means, rounding makes another one of another order.
fn is_within(old: Range, new: Range, args: &DiffArgs) -> bool {
    let scale = [old.least, old.greatest, new.least, new.greatest];
    let rounding = scale.iter().fold(0.0, |most: f64, it| most.max(it.abs())) * ROUNDING;
    let (low, high) = old.means;
    let near = |it: f64| args.is_same(it, new.mean) || (it - new.mean).abs() <= rounding;
    let is_mean_same = (low..=high).contains(&new.mean) || near(low) || near(high);
    let is_several = low.to_bits() != high.to_bits();
    let within = |it: f64| is_several && (old.least..=old.greatest).contains(&it);
    is_mean_same
        && (args.is_same(old.least, new.least) || within(new.least))
        && (args.is_same(old.greatest, new.greatest) || within(new.greatest))
}

/// The part of numbers that is lost when they are added up in another order.
const ROUNDING: f64 = 1e-9;

/// The differences in the order of threads that all runs have, if it is one order in all runs
/// before.
fn orders<'a>(before: &'a [Tally], after: &'a Tally) -> impl Iterator<Item = Difference<'a>> {
    let (first, others) = before.split_first().expect("a run to compare with");
    first.threads.iter().filter_map(move |(thread, old)| {
        let is_one = others.iter().all(|other| other.threads.get(thread) == Some(old));
        let new = after.threads.get(thread).filter(|_| is_one)?;
        let places = order::places(old, new);
        (!places.is_empty()).then_some(Difference::Order { thread, places })
    })
}
