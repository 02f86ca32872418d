//! A span of a thread as it is shown: its time, its fields, its line of text.
//!
//! Invariant: a duration is that of a span whose begin and end are in the trace; what bounds a lost
//! end is never shown as its end.

use foldhash::HashMap;
use std::sync::Arc;

/// A span, from when a thread entered it to when it left it. A task that waits has several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpanSlice {
    /// Nanoseconds of the trace's clock.
    pub begin: i64,
    /// The same of the end; none if that is not in the trace.
    pub end: Option<i64>,
    /// The time by which it had ended, where the end was lost.
    pub ended_by: Option<i64>,
    /// The name of the span.
    pub name: Arc<str>,
    /// The target of the span, in Perfetto the category; may be empty.
    pub target: Arc<str>,
    /// The fields that were known at the begin, and those that were recorded since.
    pub args: Vec<SpanArg>,
    /// Number of `args` that were known at the begin.
    pub begin_args: usize,
    /// Number of slices of the track that this one is in.
    pub depth: u32,
    /// The trace is being written, and the end may follow.
    pub may_end: bool,
    pub(crate) thread: u32,
    /// The number of spans that the thread was in, if the trace says it.
    pub(crate) entered: Option<u32>,
    pub(crate) progress: SpanProgress,
    /// The id of its template in the dictionary, of a span of the program's own calls.
    pub(crate) message: Option<u64>,
}

/// The span of a slice, as far as the trace says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SpanProgress {
    /// In the order in which the process made its spans, from 1.
    pub(crate) number: Option<u64>,
    /// Nanoseconds of its slices until the end of this one, which is not the first.
    pub(crate) busy: Option<u64>,
    /// Nanoseconds from when it was made to the same.
    pub(crate) age: Option<u64>,
}

impl SpanProgress {
    /// The progress at an end, with the number from before if the end has none.
    pub(crate) fn or(self, before: Self) -> Self {
        Self { number: self.number.or(before.number), busy: self.busy, age: self.age }
    }
}

/// A field of a span.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpanArg {
    /// The name of the field.
    pub name: Arc<str>,
    /// The value as text.
    pub value: String,
    /// True if the value is not a number or a truth value that JSON can express.
    pub is_text: bool,
}

impl SpanSlice {
    /// Nanoseconds from begin to end, or the most that there can be; none without an end.
    pub fn duration(&self) -> Option<i64> {
        Some(self.end?.saturating_sub(self.begin))
    }

    /// The time at which its end stands among other items: that of the end, or by which it had
    /// ended.
    pub fn end_time(&self) -> Option<i64> {
        self.end.or(self.ended_by)
    }

    /// The most nanoseconds that it took, where its end was lost.
    pub fn longest(&self) -> Option<i64> {
        Some(self.ended_by?.saturating_sub(self.begin))
    }

    /// The number of its span in the process, from 1, if the trace says it: all slices of a span,
    /// of which each is a time that a thread was in it, have the same.
    pub fn number(&self) -> Option<u64> {
        self.progress.number
    }

    /// Nanoseconds of all slices of the span until the end of this one, if there were others, and
    /// the trace says it.
    pub fn busy(&self) -> Option<u64> {
        self.progress.busy
    }

    /// Nanoseconds since the span was made, at the end of this slice, if there were others, and the
    /// trace says it.
    pub fn age(&self) -> Option<u64> {
        self.progress.age
    }

    /// The fields at the begin or at the end, in the order in which they were first recorded, with
    /// the newest values.
    pub fn fields(&self, is_end: bool) -> Vec<&SpanArg> {
        let known = if is_end { self.args.len() } else { self.begin_args.min(self.args.len()) };
        let mut fields: Vec<&SpanArg> = Vec::new();
        let mut places = HashMap::default();
        for arg in &self.args[..known] {
            match places.get(&arg.name) {
                Some(&place) => fields[place] = arg,
                None => {
                    places.insert(&arg.name, fields.len());
                    fields.push(arg);
                }
            }
        }
        fields
    }

    /// The name and number with the fields of the begin, or with the duration and the fields of the
    /// end: `request#17 took 1.520 ms status=200`. If the span had other slices, the end has the
    /// time of all of them, and since the span was made. A begin without an end says so, unless one
    /// may follow, and so does an end that was lost.
    pub fn text(&self, is_end: bool) -> String {
        self.text_of(is_end, usize::MAX)
    }

    /// As [`Self::text`] of the begin, or so many bytes of it and more: names that are interned may
    /// be long, and many slices have them.
    pub(crate) fn beginning(&self, most: usize) -> String {
        self.text_of(false, most)
    }

    fn text_of(&self, is_end: bool, most: usize) -> String {
        let mut text = cut(&self.name, most).to_owned();
        if let Some(number) = self.number() {
            text.extend(["#", &number.to_string()]);
        }
        if is_end && let Some(duration) = self.duration() {
            text.extend([" took ", &duration_text(duration)]);
            if let (Some(busy), Some(age)) = (self.busy(), self.age()) {
                let [busy, age] =
                    [busy, age].map(|ns| duration_text(ns.try_into().unwrap_or(i64::MAX)));
                text.extend([" (", &busy, " of ", &age, " in all)"]);
            }
        }
        if is_end && let Some(longest) = self.longest() {
            text.extend([" took at most ", &duration_text(longest)]);
        }
        for SpanArg { name, value, .. } in self.fields(is_end) {
            if text.len() > most {
                break;
            }
            text.extend([" ", cut(name, most), "=", value]);
        }
        if self.ended_by.is_some() {
            text.push_str(" (its end was lost)");
        } else if !is_end && self.end.is_none() && !self.may_end {
            text.push_str(" (its end is not in the trace)");
        }
        text
    }

    pub(crate) fn thread_index(&self) -> u32 {
        self.thread
    }
}

/// The beginning of a text that has more bytes than `most`.
fn cut(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    (0..=most).rev().find_map(|end| text.get(..end)).unwrap_or_default()
}

/// Nanoseconds in a unit of their size, to three decimals: `1.520 ms`.
fn duration_text(ns: i64) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs")];
    let unit = units.into_iter().find(|(size, _)| ns.unsigned_abs() >= *size);
    unit.map_or_else(
        || format!("{ns} ns"),
        |(size, unit)| format!("{:.3} {unit}", ns as f64 / size as f64),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_takes_few_bytes_of_long_names() {
        let arg = |name: &str| SpanArg { name: name.into(), value: "7".to_owned(), is_text: false };
        let slice = |name: &str, args: Vec<SpanArg>| SpanSlice {
            name: name.into(),
            begin_args: args.len(),
            args,
            progress: SpanProgress { number: Some(3), ..SpanProgress::default() },
            ..SpanSlice::default()
        };
        let short = slice("work", vec![arg("left"), arg("right")]);
        assert_eq!(short.beginning(260), short.text(false));
        assert_eq!(short.text(false), "work#3 left=7 right=7 (its end is not in the trace)");
        let long = "é".repeat(1 << 16);
        let many = (0..20).map(|_| arg(&long)).collect();
        for slice in [slice(&long, Vec::new()), slice("work", many)] {
            let beginning = slice.beginning(259);
            assert!((260..700).contains(&beginning.len()), "{}", beginning.len());
            assert!(slice.text(false).as_bytes().starts_with(&beginning.as_bytes()[..258]));
        }
    }
}
