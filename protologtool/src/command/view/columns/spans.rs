//! The spans of a log, a column of its own: they have their place in time, but no row in the list.
//!
//! A span has, in this order:
//!
//! - its begin since that of the span before, zigzag; for the first span, since the first item
//! - its duration plus one; without an end 0, then the most that it took plus one, or 0 if nothing
//!   is known
//! - its thread and its depth
//! - the texts of its name and target
//! - its number, 0 if it is not known
//! - the time of all its slices until the end of this one, plus one, and the time since it was
//!   made; without others a 0 alone
//! - the number of its fields, with the texts of their names and values

use super::values::{Texts, varint, zigzag};
use protolog_reader::SpanSlice;

/// See the module.
#[derive(Default)]
pub(super) struct SpanColumn {
    bytes: Vec<u8>,
    count: u64,
    /// The begin of the span before, in nanoseconds since the first item.
    last: i64,
}

impl SpanColumn {
    /// Adds a span that begins so many nanoseconds after the first item, on the thread of this
    /// index.
    pub(super) fn push(&mut self, slice: &SpanSlice, since: i64, thread: u64, texts: &mut Texts) {
        let bytes = &mut self.bytes;
        let above_zero = |ns: Option<i64>| ns.map_or(0, |ns| (ns.max(0) as u64).saturating_add(1));
        let (name, target) =
            (texts.index(slice.name.as_bytes()), texts.index(slice.target.as_bytes()));
        let duration = above_zero(slice.duration());
        varint(bytes, zigzag(since.wrapping_sub(self.last)));
        varint(bytes, duration);
        if duration == 0 {
            varint(bytes, above_zero(slice.longest()));
        }
        for number in [thread, slice.depth.into(), name, target] {
            varint(bytes, number);
        }
        varint(bytes, slice.number().unwrap_or(0));
        let times = slice.busy().zip(slice.age());
        varint(bytes, times.map_or(0, |(busy, _)| busy.saturating_add(1)));
        if let Some((_, age)) = times {
            varint(bytes, age);
        }
        varint(bytes, slice.args.len() as u64);
        for arg in &slice.args {
            for text in [&*arg.name, &*arg.value] {
                varint(bytes, texts.index(text.as_bytes()));
            }
        }
        self.last = since;
        self.count += 1;
    }

    /// The number of spans.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn bytes(&self) -> &Vec<u8> {
        &self.bytes
    }
}
