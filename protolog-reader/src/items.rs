//! The items of a log, in the order of time: entries, and losses where they happened.

use std::iter::Peekable;
use std::slice;

use crate::collect::MessageRecord;
use crate::entry::Entry;
use crate::log::Log;
use crate::loss::Loss;

/// An item of a log.
#[derive(Clone, Copy, Debug)]
pub enum Item<'a> {
    /// A message that was logged.
    Entry(Entry<'a>),
    /// Messages that are missing.
    Loss(&'a Loss),
}

impl Log {
    /// All entries, by time.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = Entry<'_>> + DoubleEndedIterator {
        self.records().iter().map(|record| Entry::new(self, record))
    }

    /// Entries and losses, by time. At one time, a loss comes before the entries, unless its time is a guess: then after them.
    pub fn items(&self) -> Items<'_> {
        Items {
            log: self,
            records: self.records().iter().peekable(),
            losses: self.losses().iter().peekable(),
        }
    }
}

/// Iterator over the [`Item`]s of a [`Log`].
#[derive(Clone, Debug)]
pub struct Items<'a> {
    log: &'a Log,
    records: Peekable<slice::Iter<'a, MessageRecord>>,
    losses: Peekable<slice::Iter<'a, Loss>>,
}

impl<'a> Iterator for Items<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        let record = self.records.peek().map(|record| record.moment.ns);
        // A loss with a time of its own comes before the record of that time. A guessed time is that of the packet before
        // the loss, so the loss comes after that record.
        let is_next = |loss: &&Loss| {
            record.is_none_or(|time| loss.time < time || loss.time == time && !loss.guessed)
        };
        if let Some(loss) = self.losses.next_if(is_next) {
            return Some(Item::Loss(loss));
        }
        self.records.next().map(|record| Item::Entry(Entry::new(self.log, record)))
    }
}
