//! The state machine of a page, over the page's one atomic word.
//!
//! Steps of the word, each one atomic operation:
//!
//! ```text
//! writer   undivided        -> divided, chunk 0 Writing     divide
//! writer   Free             -> Writing                      acquire
//! writer   Writing          -> Complete                     complete
//! reader   Complete         -> Reading, or back             try_claim; complete
//! reader   Reading          -> Free                         release
//! reader   Reading, rest Free -> all Reading -> undivided   close, open
//!
//! in a ring, writers take complete chunks themselves, by way of Reading; each of these steps is a visit, and notes its lap:
//! writer   undivided        -> divided, chunk 0 Writing                                visit
//! writer   Complete, Free, all of them -> all Reading -> divided, chunk 0 Writing      visit; change
//! writer   Complete, on a page with others -> Reading -> Free                          visit; release
//! ```
//!
//! Beside the header the word has the lap of the last visit, so that a step that was prepared
//! before another visit fails, whatever state the chunks have by then. Streams have no laps.
//!
//! Invariant: only its writer moves a chunk out of Writing, and only the party that moved it there,
//! or that got it from that one, moves it out of Reading, so their steps can't fail. A page with
//! all chunks in Reading belongs to the thread that claimed it.

use crate::sync::{AtomicU64, Ordering};
use protolog_core::chunk::{ChunkState, PageLayout, PageWord};

/// The place of the header in a page's word, so that it comes first in memory.
const HEADER_AT: u32 = if cfg!(target_endian = "big") { 32 } else { 0 };
const LAP_AT: u32 = 32 - HEADER_AT;

/// The word of a page: its header, and the lap in which a ring's writers last visited it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageState(u64);

impl PageState {
    pub(crate) fn new(word: PageWord, lap: u32) -> Self {
        Self(header_bits(word.0) | u64::from(lap) << LAP_AT)
    }

    /// The header.
    pub(crate) fn word(self) -> PageWord {
        PageWord((self.0 >> HEADER_AT) as u32)
    }

    /// The lap of the last visit.
    pub(crate) fn lap(self) -> u32 {
        (self.0 >> LAP_AT) as u32
    }

    /// The same with another header.
    fn with(self, word: PageWord) -> Self {
        Self::new(word, self.lap())
    }
}

/// A header's bits in the word.
const fn header_bits(header: u32) -> u64 {
    (header as u64) << HEADER_AT
}

/// A page's word in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page<'a>(&'a AtomicU64);

impl<'a> Page<'a> {
    pub(crate) fn new(word: &'a AtomicU64) -> Self {
        Self(word)
    }

    /// The word as it is now.
    pub(crate) fn state(self) -> PageState {
        PageState(self.0.load(Ordering::Acquire))
    }

    /// The header as it is now.
    pub(crate) fn word(self) -> PageWord {
        self.state().word()
    }

    /// Replaces the header of `before`, if the page is still so.
    fn replace(self, before: PageState, header: PageWord) -> bool {
        let (success, failure) = (Ordering::SeqCst, Ordering::Relaxed);
        self.0.compare_exchange(before.0, before.with(header).0, success, failure).is_ok()
    }

    /// Replaces `before` by `after`; fails with the page's present state.
    pub(crate) fn visit(self, before: PageState, after: PageState) -> Result<(), PageState> {
        let (success, failure) = (Ordering::SeqCst, Ordering::Acquire);
        let result = self.0.compare_exchange(before.0, after.0, success, failure);
        result.map(|_| ()).map_err(PageState)
    }

    /// Divides an undivided page and takes its first chunk.
    pub(crate) fn divide(self, layout: PageLayout) -> Option<usize> {
        // Most pages that are looked at are divided: load before writing.
        let state = self.state();
        let taken = PageWord::divided(layout).with(0, ChunkState::Writing);
        (state.word() == PageWord::UNDIVIDED && self.replace(state, taken)).then_some(0)
    }

    /// Takes a free chunk of a page whose layout `fits`.
    pub(crate) fn acquire(self, fits: impl Fn(PageLayout) -> bool) -> Option<(PageLayout, usize)> {
        let mut state = self.state();
        loop {
            let word = state.word();
            let layout = word.layout().filter(|&layout| fits(layout))?;
            let index = word.find(layout, ChunkState::Free)?;
            let taken = state.with(word.with(index, ChunkState::Writing));
            let (success, failure) = (Ordering::SeqCst, Ordering::Relaxed);
            match self.0.compare_exchange_weak(state.0, taken.0, success, failure) {
                Ok(_) => return Some((layout, index)),
                Err(now) => state = PageState(now),
            }
        }
    }

    /// Makes a chunk that was being written, or was claimed, complete.
    pub(crate) fn complete(self, index: usize) {
        // Acquired, too: in a ring its writer sees the position of the last visit then.
        self.0.fetch_or(bits(index, ChunkState::Complete), Ordering::AcqRel);
    }

    /// Frees a chunk that was being read.
    pub(crate) fn release(self, index: usize) {
        self.0.fetch_and(!bits(index, ChunkState::Complete), Ordering::Release);
    }

    /// Takes the whole page for the reader, which has chunk `index`, if all others are free.
    pub(crate) fn close(self, index: usize) -> bool {
        let state = self.state();
        let Some(layout) = state.word().layout() else { return false };
        let alone = PageWord::divided(layout).with(index, ChunkState::Reading);
        state.word() == alone && self.replace(state, claimed(layout))
    }

    /// Gives a page with the header `before`, which was claimed as a whole, the header `after`.
    pub(crate) fn change(self, before: PageWord, after: PageWord) {
        // Others may visit the page meanwhile: the lap is theirs.
        self.0.fetch_xor(header_bits(before.0 ^ after.0), Ordering::Release);
    }

    /// Takes a chunk that is complete, unless another thread takes it first, as long as the page is
    /// divided as it is in `word`.
    pub(crate) fn try_claim(self, word: PageWord, index: usize) -> bool {
        let (layout, mut state) = (word.layout(), self.state());
        while state.word().layout() == layout && state.word().state(index) == ChunkState::Complete {
            let claimed = state.with(state.word().with(index, ChunkState::Reading));
            let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
            match self.0.compare_exchange_weak(state.0, claimed.0, success, failure) {
                Ok(_) => return true,
                Err(now) => state = PageState(now),
            }
        }
        false
    }

    /// Makes a closed page an undivided one.
    pub(crate) fn open(self) {
        self.0.store(PageState::new(PageWord::UNDIVIDED, 0).0, Ordering::Release);
    }
}

/// The header of a page with all chunks claimed.
pub(crate) fn claimed(layout: PageLayout) -> PageWord {
    (0..layout.chunks())
        .fold(PageWord::divided(layout), |word, index| word.with(index, ChunkState::Reading))
}

/// The bits of chunk `index` that `state` sets.
const fn bits(index: usize, state: ChunkState) -> u64 {
    header_bits((state as u32) << (2 * index))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_page_goes_round() {
        let word = AtomicU64::new(0);
        let page = Page::new(&word);
        let any = |_| true;
        assert_eq!(page.acquire(any), None, "nothing to take before it is divided");
        assert_eq!(page.divide(PageLayout::Two), Some(0));
        assert_eq!(page.divide(PageLayout::One), None);
        assert_eq!(page.acquire(|layout| layout == PageLayout::One), None);
        assert_eq!(page.acquire(any), Some((PageLayout::Two, 1)));
        assert_eq!(page.acquire(any), None);
        page.complete(0);
        assert_eq!(page.word().find(PageLayout::Two, ChunkState::Complete), Some(0));
        assert!(page.try_claim(page.word(), 0));
        assert_eq!(page.word().state(0), ChunkState::Reading);
        assert!(!page.try_claim(page.word(), 0), "claimed already");
        assert!(!page.close(0), "chunk 1 is still being written");
        page.complete(1);
        assert!(!page.close(0), "chunk 1 is still to be read");
        page.release(0);
        assert!(page.try_claim(page.word(), 1));
        assert!(page.close(1));
        assert_eq!(page.acquire(any), None, "a closed page is the reader's");
        page.open();
        assert_eq!(page.word(), PageWord::UNDIVIDED);
    }

    #[test]
    fn acquired_in_time_a_page_stays_divided() {
        let word = AtomicU64::new(0);
        let page = Page::new(&word);
        page.divide(PageLayout::Four);
        page.complete(0);
        assert!(page.try_claim(page.word(), 0));
        assert_eq!(page.acquire(|_| true), Some((PageLayout::Four, 1)));
        assert!(!page.close(0));
        page.release(0);
        assert_eq!(page.word().state(1), ChunkState::Writing);
    }
}
