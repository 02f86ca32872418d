//! The items of a log, in the order of time: entries, losses where they happened, and begins and
//! ends of spans if they were read.

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
            records: self.records().iter(),
            losses: self.losses().iter(),
            edges: self.slice_edges().iter(),
        }
    }
}

/// Iterator over the [`Item`]s of a [`Log`].
#[derive(Clone, Debug)]
pub struct Items<'a> {
    log: &'a Log,
    records: slice::Iter<'a, MessageRecord>,
    losses: slice::Iter<'a, Loss>,
    edges: slice::Iter<'a, SliceEdge>,
}

impl<'a> Iterator for Items<'a> {
    type Item = Item<'a>;

    #[inline]
    fn next(&mut self) -> Option<Item<'a>> {
        let (losses, edges) = (self.losses.as_slice(), self.edges.as_slice());
        // Most logs have neither, or far between.
        if !losses.is_empty() || !edges.is_empty() {
            let record = self.records.as_slice().first().map(|record| record.moment.ns);
            if let Some(item) = self.next_edge(record).or_else(|| self.next_loss(record)) {
                return Some(item);
            }
        }
        self.records.next().map(|record| Item::Entry(Entry::new(self.log, record)))
    }
}

impl<'a> Items<'a> {
    /// Leaves out begins and ends of spans.
    #[must_use]
    pub fn without_spans(mut self) -> Self {
        self.edges = [].iter();
        self
    }

    /// The loss that comes before the record of this time.
    fn next_loss(&mut self, record: Option<i64>) -> Option<Item<'a>> {
        let loss = self.losses.as_slice().first()?;
        // A loss with a time of its own comes before the record of that time. A guessed time is
        // that of the packet before the loss, so the loss comes after that record.
        let is_next =
            record.is_none_or(|time| loss.time < time || loss.time == time && !loss.guessed);
        if is_next { self.losses.next().map(Item::Loss) } else { None }
    }

    /// The begin or end of a span, if it comes before the record of this time and the next loss.
    fn next_edge(&mut self, record: Option<i64>) -> Option<Item<'a>> {
        let edge = *self.edges.as_slice().first()?;
        let others = [record, self.losses.as_slice().first().map(|loss| loss.time)];
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
