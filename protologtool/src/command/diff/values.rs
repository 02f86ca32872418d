//! The values that one argument of a message takes in a run.
//!
//! Up to [`FEW`] different values are counted one by one. From there on it is no choice but a
//! quantity: of numbers the least, the mean and the greatest are kept, of texts the number of
//! different ones.

use super::noise;
use protolog_reader::Arg;
use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The most different values that are compared one by one.
pub(super) const FEW: usize = 64;

/// The values of an argument.
#[derive(Clone, Debug, Default)]
pub(super) struct ArgColumn {
    /// The number of each value; more than [`FEW`] are not kept.
    few: BTreeMap<String, u64>,
    is_many: bool,
    /// Hashes of texts, where there are many.
    texts: HashSet<u64>,
    numbers: Option<Range>,
    count: u64,
}

/// The range of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    pub(super) least: f64,
    pub(super) greatest: f64,
    /// The mean of the numbers so far.
    pub(super) mean: f64,
    /// The least and the greatest mean of several runs.
    pub(super) means: (f64, f64),
    pub(super) count: u64,
}

impl ArgColumn {
    /// Adds a value that a thread of these ids has logged.
    pub(super) fn add(&mut self, arg: Arg<'_>, ids: [Option<u32>; 2]) {
        self.count += 1;
        if let Some(number) = as_number(arg) {
            let range = self.numbers.get_or_insert(Range::of(number));
            range.add(number);
        }
        let text = show(arg, ids);
        if self.is_many {
            self.note_text(arg, &text);
        } else {
            *self.few.entry(text).or_default() += 1;
            if self.few.len() > FEW {
                self.is_many = true;
                let all = std::mem::take(&mut self.few);
                for text in all.keys() {
                    self.note_text(arg, text);
                }
            }
        }
    }

    /// Each value with its number; none if there are many.
    pub(super) fn few(&self) -> Option<&BTreeMap<String, u64>> {
        (!self.is_many).then_some(&self.few)
    }

    /// The range of the numbers; none if a value is no number.
    pub(super) fn range(&self) -> Option<Range> {
        self.numbers.filter(|range| range.count == self.count)
    }

    /// The number of different texts.
    pub(super) fn texts(&self) -> usize {
        self.texts.len().max(self.few.len())
    }

    fn note_text(&mut self, arg: Arg<'_>, text: &str) {
        if as_number(arg).is_none() {
            let mut hasher = DefaultHasher::new();
            text.hash(&mut hasher);
            self.texts.insert(hasher.finish());
        }
    }
}

impl Range {
    fn of(number: f64) -> Self {
        Self { least: number, greatest: number, mean: 0.0, means: (0.0, 0.0), count: 0 }
    }

    fn add(&mut self, number: f64) {
        self.least = self.least.min(number);
        self.greatest = self.greatest.max(number);
        self.count += 1;
        self.mean += (number - self.mean) / self.count as f64;
        self.means = (self.mean, self.mean);
    }
}

fn as_number(arg: Arg<'_>) -> Option<f64> {
    match arg {
        Arg::Int(value) => Some(value as f64),
        Arg::Uint(value) => Some(value as f64),
        Arg::Float(value) => Some(value),
        Arg::Str(_) | Arg::Bool(_) => None,
    }
}

fn show(arg: Arg<'_>, ids: [Option<u32>; 2]) -> String {
    let number = match arg {
        Arg::Int(value) => u64::try_from(value).ok(),
        Arg::Uint(value) => Some(value),
        _ => None,
    };
    if number.is_some_and(|number| noise::is_own_id(number, ids)) {
        return "(own id)".to_owned();
    }
    match arg {
        Arg::Str(text) => noise::without_addresses(text),
        Arg::Int(value) => value.to_string(),
        Arg::Uint(value) => value.to_string(),
        Arg::Float(value) => format!("{value:?}"),
        Arg::Bool(value) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column<'a>(args: impl IntoIterator<Item = Arg<'a>>) -> ArgColumn {
        let mut column = ArgColumn::default();
        args.into_iter().for_each(|arg| column.add(arg, [None; 2]));
        column
    }

    #[test]
    fn few_values_are_counted_one_by_one() {
        let column = column([Arg::Str("up"), Arg::Str("down"), Arg::Str("up")]);
        let few = column.few().expect("few");
        let pairs: Vec<_> = few.iter().map(|(text, count)| (&**text, *count)).collect();
        assert_eq!(pairs, [("down", 1), ("up", 2)]);
        assert_eq!((column.range(), column.texts()), (None, 2));
    }

    #[test]
    fn many_numbers_are_a_range_and_many_texts_a_number() {
        let numbers = column((0..=100).map(Arg::Int));
        assert_eq!(numbers.few(), None);
        let range = numbers.range().expect("numbers");
        assert_eq!((range.least, range.mean, range.greatest), (0.0, 50.0, 100.0));
        let names: Vec<String> = (0..200).map(|number| format!("user {}", number % 100)).collect();
        let texts = column(names.iter().map(|name| Arg::Str(name)));
        assert_eq!((texts.few(), texts.range(), texts.texts()), (None, None, 100));
        // There is no range of values that are a number at one call and a text at the next.
        assert_eq!(column((0..=100).map(Arg::Int).chain([Arg::Str("none")])).range(), None);
    }
}
