//! The growth of a stream's buffer: its first pages are there from the start, and more once half
//! of these are in use at a time. The stream's thread sees to that; a writer that is faster makes a
//! few pages be there itself.
//!
//! Invariant: *there*: no byte of a page that is not there is read or written.

use crate::buffer::Buffer;
use crate::slot::PAGE;
use crate::sync::Ordering;

/// So many pages are made at once, and a writer makes no more that finds none: 256 KiB, some
/// 100 µs, for which others that grow the same buffer, or map memory, may have to wait.
const STEP: usize = 64;

impl Buffer {
    /// Number of pages that are there: all, unless the memory grows.
    pub fn pages_there(&self) -> usize {
        self.there.load(Ordering::Acquire)
    }

    /// Makes twice as many pages be there if half of those that are have a chunk somebody writes or
    /// reads, so that bursts like this one find theirs. False where there was nothing to do.
    pub fn grow_if_half_used(&self) -> bool {
        let there = self.pages_there();
        let is_half_used = 2 * self.divided() >= there;
        is_half_used && self.grow(there, there)
    }

    /// Makes a few pages be there for a writer that found none among the first `there`; true where
    /// there are more than before, also by another thread.
    pub(crate) fn grow_for_writer(&self, there: usize) -> bool {
        self.grow(there, STEP)
    }

    /// Makes `more` pages be there beyond the first `there`, fewer at the end of the buffer or
    /// where the system has no more; true where there are more than before, also by another thread.
    fn grow(&self, there: usize, more: usize) -> bool {
        let end = (there + more).min(self.pages());
        if end <= there || self.is_discarded.load(Ordering::Relaxed) {
            return false;
        }
        for at in (there..end).step_by(STEP) {
            let to = (at + STEP).min(end);
            if !self.memory.grow(at * PAGE, (to - at) * PAGE) {
                break;
            }
            self.there.fetch_max(to, Ordering::AcqRel);
            // A writer that found none looks again.
            self.note_more();
        }
        self.pages_there() > there
    }
}
