//! Differences for people: one part for each kind, the amounts of A before those of B.
//!
//! ```text
//! only in bad.pftrace: 1 message
//!        3  W demo::Net: retry %d                                 (net.rs:40)
//! ```

use super::DiffArgs;
use super::compare::{Difference, ValueChange};
use super::order::Place;
use super::tally::{MessageKey, MessageTally, Tally};
use protolog_reader::{Level, printable};
use std::fmt::Write;
use std::rc::Rc;

/// The most values of one argument to show.
const VALUES: usize = 8;
/// The most places of one thread to show.
const PLACES: usize = 10;
/// The most messages of one place to show.
const RUN: usize = 10;

/// Appends the report.
pub(super) fn write(
    args: &DiffArgs,
    before: &[Tally],
    after: &Tally,
    differences: &[Difference<'_>],
    out: &mut Vec<u8>,
) {
    let names = args.names().map(|name| printable(&name));
    let mut report = DiffReport { args, names: names.clone(), text: String::new(), part: None };
    for difference in differences {
        report.difference(difference).expect("a string takes every write");
    }
    let a = before.iter().map(|tally| tally.entries);
    let (least, most) = (a.clone().min().unwrap_or(0), a.max().unwrap_or(0));
    let a = if least == most { String::new() } else { format!("{least} to ") };
    let (a, b) = (a + &counted(most, "message"), counted(after.entries, "message"));
    let templates = counted(after.messages.len() as u64, "template");
    let ([old, new], text) = (names, &mut report.text);
    let _ = match differences {
        [] if before.len() == 1 => writeln!(text, "the same: {b} in both, of {templates}"),
        [] => {
            writeln!(text, "as in the {} runs of the baseline: {b}, of {templates}", before.len())
        }
        _ => writeln!(text, "\n{a} in {old}, {b} in {new}"),
    };
    out.extend_from_slice(text.as_bytes());
}

/// The report so far.
struct DiffReport<'a> {
    args: &'a DiffArgs,
    names: [String; 2],
    text: String,
    /// The heading of the part that was begun.
    part: Option<String>,
}

impl DiffReport<'_> {
    fn difference(&mut self, difference: &Difference<'_>) -> std::fmt::Result {
        match difference {
            Difference::New { key, message } => {
                self.part(&format!("only in {}", self.names[1]));
                self.message(key, message)
            }
            Difference::Vanished { key, message } => {
                self.part(&format!("only in {}", self.names[0]));
                self.message(key, message)
            }
            Difference::Count { key, before, after } => {
                self.part("more or less often");
                let (least, most) = *before;
                let near = if *after > most { most } else { least };
                let before =
                    if least == most { least.to_string() } else { format!("{least}..{most}") };
                let change = percent(near as f64, *after as f64);
                writeln!(self.text, "{before:>8} -> {after:<8} {change:>8}  {}", show(key))
            }
            Difference::Values { key, argument, name, change } => {
                self.part("other values");
                writeln!(self.text, "  {}", show(key))?;
                let name = name.map_or_else(String::new, |name| format!(" ({name})"));
                self.change(&format!("argument {argument}{name}"), change)
            }
            Difference::Order { thread, places } => {
                self.part(&format!("another order on the thread `{}`", printable(thread)));
                self.places(places)
            }
        }
    }

    /// Begins a part, unless it has begun.
    fn part(&mut self, heading: &str) {
        if self.part.as_deref() != Some(heading) {
            let gap = if self.part.is_some() { "\n" } else { "" };
            let _ = writeln!(self.text, "{gap}{heading}:");
            self.part = Some(heading.to_owned());
        }
    }

    fn message(&mut self, key: &MessageKey, message: &MessageTally) -> std::fmt::Result {
        write!(self.text, "{:>8}  {}", message.count, show(key))?;
        match &*message.location {
            "" => writeln!(self.text),
            location => writeln!(self.text, "  ({})", printable(location)),
        }
    }

    fn change(&mut self, argument: &str, change: &ValueChange<'_>) -> std::fmt::Result {
        match change {
            ValueChange::Choice { vanished, new, other } => {
                for (sign, values) in [('-', vanished), ('+', new)] {
                    if !values.is_empty() {
                        let shown = self.values(values);
                        writeln!(self.text, "    {argument}: {sign} {shown}")?;
                    }
                }
                self.other_counts(argument, other)
            }
            ValueChange::Range { before, after } => {
                let pairs = [
                    ("least", before.least, after.least),
                    ("mean", before.mean, after.mean),
                    ("greatest", before.greatest, after.greatest),
                ];
                let differing = pairs.iter().filter(|(_, old, new)| !self.args.is_same(*old, *new));
                let parts: Vec<String> = differing
                    .map(|(name, old, new)| {
                        format!("{name} {} -> {}", rounded(*old), rounded(*new))
                    })
                    .collect();
                writeln!(self.text, "    {argument}: {}", parts.join(", "))
            }
            ValueChange::Texts { before, after } => {
                writeln!(self.text, "    {argument}: {before} -> {after} different texts")
            }
        }
    }

    fn other_counts(&mut self, argument: &str, other: &[(&str, u64, u64)]) -> std::fmt::Result {
        let limit = self.args.limit(VALUES);
        let counts = other.iter().take(limit).map(|(value, before, after)| {
            format!("`{}` {before} -> {after} times", printable(value))
        });
        let counts = counts.collect::<Vec<_>>().join(", ");
        match other.len().saturating_sub(limit) {
            _ if other.is_empty() => Ok(()),
            0 => writeln!(self.text, "    {argument}: {counts}"),
            more => {
                writeln!(self.text, "    {argument}: {counts} and {more} more (--all shows them)")
            }
        }
    }

    fn values(&self, values: &[(&str, u64)]) -> String {
        let limit = self.args.limit(VALUES);
        let shown = values.iter().take(limit).map(|(value, count)| {
            let times = if *count == 1 { String::new() } else { format!(" ({count} times)") };
            format!("`{}`{times}", printable(value))
        });
        let shown = shown.collect::<Vec<_>>().join(", ");
        match values.len().saturating_sub(limit) {
            0 => shown,
            more => format!("{shown} and {more} more (--all shows them)"),
        }
    }

    fn places(&mut self, places: &[Place<'_>]) -> std::fmt::Result {
        let limit = self.args.limit(PLACES);
        for place in places.iter().take(limit) {
            let [old, new] = place.at;
            match place.after {
                Some(key) => {
                    let known = show(key);
                    writeln!(self.text, "  after {old} and {new} messages:\n    {known}")?;
                }
                None => writeln!(self.text, "  at the beginning:")?,
            }
            for (sign, keys) in [('-', place.removed), ('+', place.added)] {
                self.run(sign, keys)?;
            }
        }
        match places.len().saturating_sub(limit) {
            0 => Ok(()),
            more => writeln!(
                self.text,
                "  and {} (--all shows them)",
                counted(more as u64, "more place")
            ),
        }
    }

    /// Messages in a row; equal ones on one line.
    fn run(&mut self, sign: char, keys: &[Rc<MessageKey>]) -> std::fmt::Result {
        let limit = self.args.limit(RUN);
        let mut equal = keys.chunk_by(|one, other| one == other);
        for run in equal.by_ref().take(limit) {
            let times =
                if run.len() == 1 { String::new() } else { format!("  ({} times)", run.len()) };
            writeln!(self.text, "  {sign} {}{times}", show(&run[0]))?;
        }
        match equal.map(<[_]>::len).sum::<usize>() {
            0 => Ok(()),
            more => writeln!(
                self.text,
                "  {sign} and {} (--all shows them)",
                counted(more as u64, "more message")
            ),
        }
    }
}

/// The message as one line: level, group, template.
fn show(key: &MessageKey) -> String {
    let level = key.level.map_or('?', Level::letter);
    let group = if key.group.is_empty() { "?" } else { &key.group };
    format!("{level} {}: {}", printable(group), printable(&key.shown_template()))
}

fn percent(before: f64, after: f64) -> String {
    if before == 0.0 {
        String::new()
    } else {
        format!("{:+.0} %", (after - before) / before * 100.0)
    }
}

/// A number with five digits that say something, and no zeros at the end.
fn rounded(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e15 || !number.is_finite() {
        return number.to_string();
    }
    let decimals = (4.0 - number.abs().log10().floor()).clamp(0.0, 12.0);
    let text = format!("{number:.*}", decimals as usize);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

fn counted(count: u64, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_say_something() {
        let shown =
            [149.5, 1.495, 3.0, 0.000_123_456, 123_456.78, 1e20, f64::INFINITY].map(rounded);
        let expected =
            ["149.5", "1.495", "3", "0.00012346", "123457", "100000000000000000000", "inf"];
        assert_eq!(shown, expected);
    }
}
