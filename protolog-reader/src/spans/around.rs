//! The spans that a message was logged in: those that its thread was in at the time.
//!
//! A call writes nothing of them, so they are looked up when a message is shown. A thread's slices
//! are nested, so each one but the outermost lies within another: the innermost that had begun
//! before the message is looked for, and from there those around it.
//!
//! Where an end was lost, a span may have been over already, and says so; where begins were lost,
//! the depth of the next slice shows that some are missing. Nothing is nested by guessing.
//!
//! Invariants: only slices with a depth count, which are those of our runtimes: others may be on
//! tracks that are no thread's. A slice is never within one that had ended before its begin. A
//! message costs at most [`MOST_AROUND`] of them, and its spans are one line.

use std::borrow::Cow;

use foldhash::HashMap;

use crate::spans::span_slice::{SpanArg, SpanSlice};

/// The most slices that are looked at for a message, the innermost ones. Our runtimes write none
/// that is deeper; of a trace that others made, each message would cost as much as all its slices.
const MOST_AROUND: usize = 64;

/// A span that a message was logged in.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SpanAround<'a> {
    /// The time that the thread was in the span.
    pub slice: &'a SpanSlice,
    /// Between this span and the one before it are others, which are not in the trace.
    pub is_after_gap: bool,
    /// Its end was lost, and may have been before the message.
    pub may_be_over: bool,
}

/// The slices of each thread, by its index.
#[derive(Debug, Default)]
pub(crate) struct ThreadSlices(HashMap<u32, Vec<NestedSlice>>);

/// A slice, by its index, and the one around it, by its place in the list of the thread.
#[derive(Clone, Copy, Debug)]
struct NestedSlice {
    slice: u32,
    outer: Option<u32>,
}

impl ThreadSlices {
    /// Nests slices, which are in the order of their begins.
    pub(crate) fn of(slices: &[SpanSlice]) -> Self {
        let mut threads: HashMap<u32, Vec<NestedSlice>> = HashMap::default();
        let mut open: HashMap<u32, Vec<u32>> = HashMap::default();
        for (index, slice) in slices.iter().enumerate() {
            let Some(entered) = slice.entered else { continue };
            let thread = threads.entry(slice.thread_index()).or_default();
            let open = open.entry(slice.thread_index()).or_default();
            let holds = |place: &u32| {
                let outer = &slices[thread[*place as usize].slice as usize];
                let is_over = outer.end_time().is_some_and(|end| end < slice.begin);
                !is_over && outer.entered.is_some_and(|of_outer| of_outer < entered)
            };
            while open.pop_if(|place| !holds(place)).is_some() {}
            let outer = open.last().copied();
            open.push(thread.len() as u32);
            thread.push(NestedSlice { slice: index as u32, outer });
        }
        Self(threads)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The spans of a thread at this time, the outermost first.
    pub(crate) fn spans_at<'a>(
        &self,
        slices: &'a [SpanSlice],
        thread: u32,
        time: i64,
    ) -> Vec<SpanAround<'a>> {
        let mut expected = 0;
        let around = self.at(slices, thread, time).into_iter().rev().map(|index| {
            let slice = &slices[index as usize];
            let entered = slice.entered.unwrap_or(expected);
            let is_after_gap = entered > expected;
            expected = entered.saturating_add(1);
            SpanAround { slice, is_after_gap, may_be_over: slice.ended_by.is_some() }
        });
        around.collect()
    }

    /// The spans around a slice, and itself, the outermost first.
    pub(crate) fn spans_at_slice<'a>(
        &self,
        slices: &'a [SpanSlice],
        slice: &SpanSlice,
    ) -> Vec<SpanAround<'a>> {
        let mut around = self.spans_at(slices, slice.thread_index(), slice.begin);
        // Others may have begun at the same time, within it.
        around.retain(|it| it.slice.entered <= slice.entered);
        around
    }

    /// The indices of the slices of a thread at this time, the innermost first.
    fn at(&self, slices: &[SpanSlice], thread: u32, time: i64) -> Vec<u32> {
        let Some(thread) = self.0.get(&thread) else { return Vec::new() };
        let slice = |nested: &NestedSlice| &slices[nested.slice as usize];
        let begun = thread.partition_point(|nested| slice(nested).begin <= time);
        let mut next = begun.checked_sub(1).and_then(|last| thread.get(last));
        let mut found = Vec::new();
        for _ in 0..MOST_AROUND {
            let Some(nested) = next else { break };
            if slice(nested).end_time().is_none_or(|end| time <= end) {
                found.push(nested.slice);
            }
            next = nested.outer.and_then(|place| thread.get(place as usize));
        }
        found
    }
}

/// The text of spans as it stands before a message, as `tracing-subscriber` writes it, with the
/// fields that were known when the thread entered the span: `net:request{id=7}`. A `?` marks one
/// that may have been over, and `…` stands for those that are not in the trace. Empty for none.
pub fn spans_text(spans: &[SpanAround<'_>]) -> String {
    let mut text = String::new();
    for span in spans {
        text.push_str(if text.is_empty() { "" } else { ":" });
        text.push_str(if span.is_after_gap { "…:" } else { "" });
        text.push_str(&in_line(&span.slice.name));
        for (index, SpanArg { name, value, .. }) in span.slice.fields(false).iter().enumerate() {
            let (name, value) = (in_line(name), in_line(value));
            text.extend([if index == 0 { "{" } else { " " }, &*name, "=", &*value]);
        }
        text.push_str(if span.slice.fields(false).is_empty() { "" } else { "}" });
        text.push_str(if span.may_be_over { "?" } else { "" });
    }
    text
}

/// A text without line feeds: a line that others chose would look like a message.
fn in_line(text: &str) -> Cow<'_, str> {
    if text.contains('\n') { text.replace('\n', "\\n").into() } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_message_looks_at_more_slices_than_runtimes_nest() {
        let slices: Vec<_> = (0..1000).map(|depth| slice(10, None, depth)).collect();
        let threads = ThreadSlices::of(&slices);
        let spans = threads.spans_at(&slices, 1, 20);
        assert_eq!(spans.len(), MOST_AROUND);
        let depths: Vec<_> = spans.iter().map(|span| span.slice.entered).collect();
        assert_eq!((depths[0], depths[63]), (Some(936), Some(999)), "the innermost");
        assert!(spans[0].is_after_gap, "others are around it");
        assert!(!spans[1].is_after_gap);
    }

    #[test]
    fn names_of_spans_and_fields_make_no_lines() {
        let arg = SpanArg { name: "i\nd".into(), value: "1\n2".into(), is_text: true };
        let mut slice = slice(10, None, 0);
        (slice.name, slice.args, slice.begin_args) = ("re\nquest".into(), vec![arg], 1);
        let span = SpanAround { slice: &slice, is_after_gap: false, may_be_over: false };
        assert_eq!(spans_text(&[span]), "re\\nquest{i\\nd=1\\n2}");
    }

    /// A slice of thread 1 from `begin` to `end`, within so many others.
    fn slice(begin: i64, end: Option<i64>, entered: u32) -> SpanSlice {
        SpanSlice { begin, end, entered: Some(entered), thread: 1, ..SpanSlice::default() }
    }

    fn at(slices: &[SpanSlice], time: i64) -> Vec<u32> {
        ThreadSlices::of(slices).at(slices, 1, time)
    }

    #[test]
    fn a_time_is_in_the_slices_that_hold_it() {
        let slices = [
            slice(10, Some(50), 0),
            slice(20, Some(30), 1),
            slice(30, Some(40), 1),
            slice(60, None, 0),
        ];
        let expected: [(i64, &[u32]); 9] = [
            (9, &[]),
            (10, &[0]),
            (20, &[1, 0]),
            (30, &[2, 0]),
            (41, &[0]),
            (50, &[0]),
            (51, &[]),
            (60, &[3]),
            (i64::MAX, &[3]),
        ];
        for (time, found) in expected {
            assert_eq!(at(&slices, time), found, "{time}");
        }
        assert!(ThreadSlices::of(&slices).at(&slices, 2, 20).is_empty(), "another thread");
    }

    #[test]
    fn a_slice_is_in_none_of_its_depth() {
        // The end of the first was lost: the begin of the second shows it.
        let mut lost = slice(10, None, 0);
        lost.ended_by = Some(20);
        let slices = [lost, slice(20, Some(30), 0)];
        assert_eq!(at(&slices, 15), [0]);
        assert_eq!(at(&slices, 25), [1]);
    }

    #[test]
    fn slices_of_others_are_on_no_thread() {
        let mut other = slice(10, Some(20), 0);
        other.entered = None;
        assert!(at(&[other], 15).is_empty());
    }
}
