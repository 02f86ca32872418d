//! The differences of two runs, in the order in which they are reported: new, vanished, counts, values, order.

use super::DiffArgs;
use super::order::{self, Place};
use super::tally::{MessageKey, MessageTally, Tally};
use super::values::{ArgColumn, Range};
use std::collections::BTreeMap;

/// One difference.
#[derive(Debug)]
pub(super) enum Difference<'a> {
    /// Only the first run has the message.
    Vanished { key: &'a MessageKey, message: &'a MessageTally },
    /// Only the second run has the message.
    New { key: &'a MessageKey, message: &'a MessageTally },
    /// Both have it, one more often.
    Count { key: &'a MessageKey, before: u64, after: u64 },
    /// An argument has other values. Arguments count from 1.
    Values { key: &'a MessageKey, argument: usize, change: ValueChange<'a> },
    /// Messages come in another order on a thread.
    Order { thread: &'a str, places: Vec<Place<'a>> },
}

/// The change of an argument's values.
#[derive(Debug)]
pub(super) enum ValueChange<'a> {
    /// Values that only one of the runs has, each with its number.
    Choice { vanished: Vec<(&'a str, u64)>, new: Vec<(&'a str, u64)> },
    /// Numbers have another range or mean.
    Range { before: Range, after: Range },
    /// There are more or fewer different texts.
    Texts { before: usize, after: usize },
}

/// Compares two runs.
pub(super) fn all<'a>(before: &'a Tally, after: &'a Tally, args: &DiffArgs) -> Vec<Difference<'a>> {
    let missing = |key: &MessageKey, from: &Tally| !from.messages.contains_key(key);
    let vanished = before.messages.iter().filter(|(key, _)| missing(key, after));
    let vanished = vanished.map(|(key, message)| Difference::Vanished { key, message });
    let new = after.messages.iter().filter(|(key, _)| missing(key, before));
    let new = new.map(|(key, message)| Difference::New { key, message });
    let mut found: Vec<_> = new.chain(vanished).collect();
    let both = || {
        let pairs = before.messages.iter();
        pairs.filter_map(|(key, old)| Some((key, old, after.messages.get(key)?)))
    };
    if !args.ignore_counts {
        let differing =
            both().filter(|(_, old, new)| !args.is_same(old.count as f64, new.count as f64));
        found.extend(differing.map(|(key, old, new)| Difference::Count {
            key,
            before: old.count,
            after: new.count,
        }));
    }
    if !args.ignore_values {
        found.extend(both().flat_map(|(key, old, new)| values(key, old, new, args)));
    }
    if !args.ignore_order {
        found.extend(orders(before, after));
    }
    found
}

/// The differences in the values of a message that both runs have.
fn values<'a>(
    key: &'a MessageKey,
    before: &'a MessageTally,
    after: &'a MessageTally,
    args: &DiffArgs,
) -> Vec<Difference<'a>> {
    let pairs = before.columns.iter().zip(&after.columns).enumerate();
    let differing = pairs.filter_map(|(index, (old, new))| Some((index, change(old, new, args)?)));
    differing
        .map(|(index, change)| Difference::Values { key, argument: index + 1, change })
        .collect()
}

fn change<'a>(
    before: &'a ArgColumn,
    after: &'a ArgColumn,
    args: &DiffArgs,
) -> Option<ValueChange<'a>> {
    match (before.few(), after.few()) {
        (Some(old), Some(new)) => {
            let (vanished, new) = (only(old, new), only(new, old));
            let is_same = vanished.is_empty() && new.is_empty();
            (!is_same).then_some(ValueChange::Choice { vanished, new })
        }
        _ => match (before.range(), after.range()) {
            (Some(old), Some(new)) => {
                let pairs =
                    [(old.least, new.least), (old.mean, new.mean), (old.greatest, new.greatest)];
                let is_same = pairs.iter().all(|(old, new)| args.is_same(*old, *new));
                (!is_same).then_some(ValueChange::Range { before: old, after: new })
            }
            _ => {
                let (before, after) = (before.texts(), after.texts());
                let is_same = args.is_same(before as f64, after as f64);
                (!is_same).then_some(ValueChange::Texts { before, after })
            }
        },
    }
}

/// The values that only `one` has.
fn only<'a>(one: &'a BTreeMap<String, u64>, other: &BTreeMap<String, u64>) -> Vec<(&'a str, u64)> {
    let only = one.iter().filter(|(value, _)| !other.contains_key(*value));
    only.map(|(value, count)| (&**value, *count)).collect()
}

/// The differences in the order of threads that both runs have.
fn orders<'a>(before: &'a Tally, after: &'a Tally) -> impl Iterator<Item = Difference<'a>> {
    before.threads.iter().filter_map(|(thread, old)| {
        let places = order::places(old, after.threads.get(thread)?);
        (!places.is_empty()).then_some(Difference::Order { thread, places })
    })
}
