//! The search for a writer that is within a message, by a thread that logs itself: it takes no
//! time, or is not made.

use super::Arbiter;
use crate::writer::Writer;
use std::ptr;

/// So many writers a thread that logs can look at: each may be a line that another processor has.
const FEW: usize = 64;

impl Arbiter {
    /// Returns whether it takes no time to look at all writers; false where somebody has the list.
    pub(in crate::writer) fn has_few_writers(&self) -> bool {
        self.writers.try_lock().is_ok_and(|writers| self.all(&writers).nth(FEW).is_none())
    }

    /// Returns whether no writer but this one is within a message; false where somebody has the
    /// list.
    pub(in crate::writer) fn is_quiet_but_for(&self, writer: &Writer) -> bool {
        let Ok(writers) = self.writers.try_lock() else { return false };
        self.all(&writers).all(|other| ptr::eq(other, writer) || !other.is_busy())
    }
}
