//! A buffer as a ring: writers take the oldest chunks again.
//!
//! Pages are filled in turn, so those that come next are the oldest. A page of which no chunk is being written is taken
//! whole; where all pages have such a chunk, single chunks are taken.
//!
//! The reader pins one page at a time. Whoever takes a chunk marks it as being read, then checks whether its page is pinned;
//! the reader pins the page, then checks the mark; a full fence stands between on both sides.
//!
//! Invariant: a chunk that the reader has pinned keeps its committed bytes until the pin is gone: either the reader sees that
//! the chunk is another one, or who takes it sees the pin and leaves it as it was.

use crate::buffer::Buffer;
use crate::slot::Slot;
use crate::sync::{Ordering, fence};
use protolog_core::chunk::{ChunkState, PageLayout, PageWord};

impl Buffer {
    /// Takes a page of which no chunk is being written, divides it, and takes its first chunk.
    pub(crate) fn take_page(&self, page: usize, wanted: PageLayout) -> bool {
        let word = self.page(page).word();
        let Some(layout) = word.layout() else { return false };
        let idle = |index| matches!(word.state(index), ChunkState::Complete | ChunkState::Free);
        if !(0..layout.chunks()).all(idle) || !self.page(page).claim_all(word, layout) {
            return false;
        }
        fence(Ordering::SeqCst);
        if self.is_pinned(page) {
            self.page(page).set(word);
            return false;
        }
        // Those that say something first: the places of the others may lie in the midst of what a recovery still reads.
        self.clear_headers(page, layout);
        if wanted != layout {
            fence(Ordering::Release);
            self.clear_headers(page, wanted);
        }
        for index in (0..layout.chunks()).filter(|&index| word.state(index) == ChunkState::Complete)
        {
            self.note_overwritten(Slot { page, index, layout });
        }
        self.page(page).set(PageWord::divided(wanted).with(0, ChunkState::Writing));
        true
    }

    /// Takes a complete chunk of a page that has others that are being written.
    pub(crate) fn take_chunk(
        &self,
        page: usize,
        fits: impl Fn(PageLayout) -> bool,
    ) -> Option<(PageLayout, usize)> {
        let word = self.page(page).word();
        let layout = word.layout().filter(|&layout| fits(layout))?;
        let index = word.find(layout, ChunkState::Complete)?;
        if !self.page(page).try_claim(word, index) {
            return None;
        }
        fence(Ordering::SeqCst);
        if self.is_pinned(page) {
            self.page(page).complete(index);
            return None;
        }
        let slot = Slot { page, index, layout };
        self.clear_header(slot);
        self.note_overwritten(slot);
        self.page(page).reuse(index);
        Some((layout, index))
    }

    /// Counts a complete chunk that a writer took again.
    fn note_overwritten(&self, slot: Slot) {
        self.counters().add(slot.layout, |counters| &counters.overwritten);
        self.note_freed(slot);
    }

    /// Returns whether the reader has pinned a page. Where the pin is gone, what its reader read came before.
    fn is_pinned(&self, page: usize) -> bool {
        self.pinned.load(Ordering::Acquire) == page + 1
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
