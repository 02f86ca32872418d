//! The items of a log, in the order of time: entries, losses where they happened, and begins and
//! ends of spans if they were read.

use std::iter::Peekable;
use std::slice;

use crate::decode::collect::MessageRecord;
use crate::log::Log;
use crate::log::entry::Entry;
use crate::losses::loss::Loss;
use crate::spans::slices::SliceEdge;
use crate::spans::span_slice::SpanSlice;

/// An item of a log.
#[derive(Clone, Copy, Debug)]
pub enum Item<'a> {
    /// A message that was logged.
    Entry(Entry<'a>),
    /// Messages that are missing.
    Loss(&'a Loss),
    /// A thread entered a span.
    SpanBegin(&'a SpanSlice),
    /// A thread left a span.
    SpanEnd(&'a SpanSlice),
}

impl Log {
    /// All entries, by time.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = Entry<'_>> + DoubleEndedIterator {
        self.records().iter().map(|record| Entry::new(self, record))
    }

    /// All items by time. At one time, a loss comes before the entries, unless its time is a guess:
    /// then after them. A span begins before the entries and losses of that time, and ends after
    /// them.
    pub fn items(&self) -> Items<'_> {
        Items {
            log: self,
            records: self.records().iter().peekable(),
            losses: self.losses().iter().peekable(),
            edges: self.slice_edges().iter().peekable(),
        }
    }
}

/// Iterator over the [`Item`]s of a [`Log`].
#[derive(Clone, Debug)]
pub struct Items<'a> {
    log: &'a Log,
    records: Peekable<slice::Iter<'a, MessageRecord>>,
    losses: Peekable<slice::Iter<'a, Loss>>,
    edges: Peekable<slice::Iter<'a, SliceEdge>>,
}

impl<'a> Iterator for Items<'a> {
    type Item = Item<'a>;

    #[inline]
    fn next(&mut self) -> Option<Item<'a>> {
        let record = self.records.peek().map(|record| record.moment.ns);
        if let Some(item) = self.next_edge(record) {
            return Some(item);
        }
        // A loss with a time of its own comes before the record of that time. A guessed time is
        // that of the packet before the loss, so the loss comes after that record.
        let is_next = |loss: &&Loss| {
            record.is_none_or(|time| loss.time < time || loss.time == time && !loss.guessed)
        };
        if let Some(loss) = self.losses.next_if(is_next) {
            return Some(Item::Loss(loss));
        }
        self.records.next().map(|record| Item::Entry(Entry::new(self.log, record)))
    }
}

impl<'a> Items<'a> {
    /// The begin or end of a span, if it comes before the record of this time and the next loss.
    #[inline]
    fn next_edge(&mut self, record: Option<i64>) -> Option<Item<'a>> {
        let edge = *self.edges.peek()?;
        let others = [record, self.losses.peek().map(|loss| loss.time)];
        let is_next = others
            .into_iter()
            .flatten()
            .all(|time| edge.time < time || edge.time == time && !edge.is_end);
        if !is_next {
            return None;
        }
        self.edges.next();
        let slice = self.log.slices().get(edge.slice as usize)?;
        Some(if edge.is_end { Item::SpanEnd(slice) } else { Item::SpanBegin(slice) })
    }
}
