//! The numbers of requests in a trace that is made of an archive.
//!
//! Invariant: no two requests of different ids have one number. One whose id comes again late has
//! another one: readers know requests by their ids, and an archive may have any number of them.

use foldhash::HashMap;

/// The most ids that are kept.
const MOST_IDS: usize = 4096;

/// See the module.
#[derive(Default)]
pub(super) struct RequestNumbers {
    numbers: HashMap<String, u64>,
    /// The newest one, from 1.
    newest: u64,
}

impl RequestNumbers {
    /// The number of the request with this id.
    pub(super) fn of(&mut self, id: &str) -> u64 {
        if let Some(number) = self.numbers.get(id) {
            return *number;
        }
        if self.numbers.len() >= MOST_IDS {
            self.numbers.clear();
        }
        self.newest += 1;
        self.numbers.insert(id.to_owned(), self.newest);
        self.newest
    }
}
