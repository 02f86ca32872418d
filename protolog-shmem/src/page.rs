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
//! in a ring, writers take what is complete themselves, by way of Reading:
//! writer   Complete, Free, all of them -> all Reading -> divided, chunk 0 Writing, or back   claim_all, set
//! writer   Complete         -> Reading -> Writing, or back   try_claim; reuse or complete
//! ```
//!
//! Invariant: only its writer moves a chunk out of Writing, and only who moved it there moves it out of Reading, so their steps
//! can't fail; a page whose chunks are all Reading belongs to whoever claimed it.

use crate::sync::{AtomicU32, Ordering};
use protolog_core::chunk::{ChunkState, PageLayout, PageWord};

/// A page's header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page<'a>(&'a AtomicU32);

impl<'a> Page<'a> {
    pub(crate) fn new(word: &'a AtomicU32) -> Self {
        Self(word)
    }

    /// The header as it is now.
    pub(crate) fn word(self) -> PageWord {
        PageWord(self.0.load(Ordering::Acquire))
    }

    /// Divides an undivided page and takes its first chunk.
    pub(crate) fn divide(self, layout: PageLayout) -> Option<usize> {
        // In a ring that went round no page is undivided: load before writing.
        if self.word() != PageWord::UNDIVIDED {
            return None;
        }
        let taken = PageWord::divided(layout).with(0, ChunkState::Writing);
        let (success, failure) = (Ordering::SeqCst, Ordering::Relaxed);
        let undivided = PageWord::UNDIVIDED.0;
        self.0.compare_exchange(undivided, taken.0, success, failure).ok().map(|_| 0)
    }

    /// Takes a free chunk of a page whose layout `fits`.
    pub(crate) fn acquire(self, fits: impl Fn(PageLayout) -> bool) -> Option<(PageLayout, usize)> {
        let mut word = self.word();
        loop {
            let layout = word.layout().filter(|&layout| fits(layout))?;
            let index = word.find(layout, ChunkState::Free)?;
            let taken = word.with(index, ChunkState::Writing);
            let (success, failure) = (Ordering::SeqCst, Ordering::Relaxed);
            match self.0.compare_exchange_weak(word.0, taken.0, success, failure) {
                Ok(_) => return Some((layout, index)),
                Err(now) => word = PageWord(now),
            }
        }
    }

    /// Makes a chunk that was being written, or was claimed, complete.
    pub(crate) fn complete(self, index: usize) {
        self.0.fetch_or(bits(index, ChunkState::Complete), Ordering::Release);
    }

    /// Frees a chunk that was being read.
    pub(crate) fn release(self, index: usize) {
        self.0.fetch_and(!bits(index, ChunkState::Complete), Ordering::Release);
    }

    /// Takes the whole page for the reader, which has chunk `index`, if all others are free.
    pub(crate) fn close(self, index: usize) -> bool {
        let Some(layout) = self.word().layout() else { return false };
        let alone = PageWord::divided(layout).with(index, ChunkState::Reading);
        let closed = (0..layout.chunks())
            .fold(PageWord::divided(layout), |word, index| word.with(index, ChunkState::Reading));
        let (success, failure) = (Ordering::Acquire, Ordering::Relaxed);
        self.0.compare_exchange(alone.0, closed.0, success, failure).is_ok()
    }

    /// Takes a whole page, which is still as `word` says, for a writer that divides it anew.
    pub(crate) fn claim_all(self, word: PageWord, layout: PageLayout) -> bool {
        let claimed = (0..layout.chunks())
            .fold(PageWord::divided(layout), |word, index| word.with(index, ChunkState::Reading));
        let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
        self.0.compare_exchange(word.0, claimed.0, success, failure).is_ok()
    }

    /// Makes a page that was claimed as a whole what `word` says.
    pub(crate) fn set(self, word: PageWord) {
        self.0.store(word.0, Ordering::Release);
    }

    /// Takes a chunk that is complete, unless another thread takes it first, as long as the page is divided as it is in
    /// `word`.
    pub(crate) fn try_claim(self, mut word: PageWord, index: usize) -> bool {
        let layout = word.layout();
        while word.layout() == layout && word.state(index) == ChunkState::Complete {
            let claimed = word.with(index, ChunkState::Reading);
            let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
            match self.0.compare_exchange_weak(word.0, claimed.0, success, failure) {
                Ok(_) => return true,
                Err(now) => word = PageWord(now),
            }
        }
        false
    }

    /// Makes a chunk that was claimed one that is being written.
    pub(crate) fn reuse(self, index: usize) {
        self.0.fetch_xor(
            bits(index, ChunkState::Reading) ^ bits(index, ChunkState::Writing),
            Ordering::Release,
        );
    }

    /// Makes a closed page an undivided one.
    pub(crate) fn open(self) {
        self.0.store(PageWord::UNDIVIDED.0, Ordering::Release);
    }
}

/// The bits of chunk `index` that `state` sets.
const fn bits(index: usize, state: ChunkState) -> u32 {
    (state as u32) << (2 * index)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_page_goes_round() {
        let word = AtomicU32::new(0);
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
        let word = AtomicU32::new(0);
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
