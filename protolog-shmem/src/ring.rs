//! A buffer as a ring: writers take the oldest chunks again.
//!
//! Pages are taken in turn. A [`Position`], which all writers share, has the turn: the page, and
//! the lap. A writer that wants a chunk visits that page, which is the oldest, and then moves the
//! position on:
//!
//! ```text
//! all chunks complete or free    the page is claimed as a whole, divided anew, and its first chunk taken
//! some being written             complete chunks are overwritten: they are free, and the next that want their layout get
//!                                them. Where nearly every page has a chunk that is written, any chunk with enough room will do
//! visited in this lap            somebody was faster
//! ```
//!
//! A visit is one step of the page's word, which notes the lap. So pages are visited in the order
//! of their turns, and once per lap, however long a thread is preempted between two instructions: a
//! step from an earlier lap fails. And from that step on, the complete chunks of the page are gone
//! for all readers, also of a recording, whenever their bytes are overwritten.
//!
//! The reader pins one page at a time. A writer that claims chunks marks them as being read, then
//! checks whether their page is pinned; the reader pins the page, then checks the mark; a full
//! fence stands between on both sides. Chunks of a pinned page are handed over to the reader, which
//! frees them when it is done.
//!
//! Invariants
//! - *pinned*: a chunk that the reader has pinned keeps its committed bytes until the pin is gone.
//!   Either the reader sees that the chunk is another one, or the writer that takes it sees the pin
//!   and leaves it to the reader.
//! - *age*: the position moves on from a page only after that was visited in its lap. A writer
//!   takes each chunk on a page that comes later in turn than that of its chunk before, so its
//!   chunks are overwritten in their order.

use crate::buffer::{Buffer, has_room};
use crate::page::{PageState, claimed};
use crate::position::Position;
use crate::slot::Slot;
use crate::sync::{Ordering, fence};
use protolog_core::chunk::{ChunkState, PageLayout, PageWord};

/// The part of a ring, in pages, after which free chunks of a page are left alone: they would be
/// overwritten too early.
const OPEN_PART: usize = 4;

/// The fewest pages among which an idle one is looked for.
const MIN_LOOK_AHEAD: usize = 16;

/// The result of a visit.
enum Visit {
    /// The page is the visitor's, and its first chunk.
    Taken,
    /// The page has chunks that are being written, or somebody else visited it.
    Passed,
}

impl Buffer {
    /// Takes a chunk, as [`Buffer::acquire_after`] says.
    pub(crate) fn acquire_oldest(
        &self,
        previous: Option<usize>,
        wanted: PageLayout,
        payload: usize,
    ) -> Option<Slot> {
        if let Some(slot) = self.acquire_open(previous, wanted) {
            return Some(slot);
        }
        // Where an idle page is near, none that is in use is taken in its place.
        let (mut is_crowded, mut look_at) = (false, 0);
        for turn in 0..2 * self.pages() {
            let position = self.position();
            let page = position.page();
            if matches!(self.visit(position, wanted), Visit::Taken) {
                self.advance(position);
                self.keep_open(page, wanted);
                self.prefetch_ahead(page);
                return Some(Slot { page, index: 0, layout: wanted });
            }
            if let Some((layout, index)) = self.page(page).acquire(|layout| layout == wanted) {
                self.keep_open(page, wanted);
                return Some(Slot { page, index, layout });
            }
            if turn >= look_at {
                let idle = self.find_idle(position);
                is_crowded = idle.is_none();
                look_at = turn + idle.unwrap_or(self.pages());
            }
            if is_crowded {
                // The position stays, for the others that are free here.
                let roomy = self.page(page).acquire(|layout| has_room(layout, payload));
                if let Some((layout, index)) = roomy {
                    return Some(Slot { page, index, layout });
                }
            }
            self.advance(position);
        }
        None
    }

    /// Takes a free chunk of the page that was last divided like this, if that is young enough.
    fn acquire_open(&self, previous: Option<usize>, wanted: PageLayout) -> Option<Slot> {
        if wanted == PageLayout::One {
            return None;
        }
        let page = self.open[wanted as usize - 1].load(Ordering::Relaxed).checked_sub(1)?;
        let last_turn = |page| Position(u64::from(self.page(page).state().lap()) << 32).at(page);
        let (pages, turn) = (self.pages(), last_turn(page));
        let is_young = self.position().since(turn, pages) <= pages.div_ceil(OPEN_PART) as i64;
        let is_later = previous.is_none_or(|page| turn.since(last_turn(page), pages) >= 0);
        let slot = |(layout, index)| Slot { page, index, layout };
        let acquire = || self.page(page).acquire(|layout| layout == wanted).map(slot);
        (is_young && is_later).then(acquire)?
    }

    /// The number of turns after `position` at which a page was found of which no chunk is being
    /// written; none where none was found near.
    fn find_idle(&self, position: Position) -> Option<usize> {
        let near = (self.pages() / OPEN_PART).max(MIN_LOOK_AHEAD).min(self.pages());
        (1..=near).find(|turns| {
            let word = self.page((position.page() + turns) % self.pages()).word();
            word == PageWord::UNDIVIDED || word.layout().is_some_and(|layout| is_idle(word, layout))
        })
    }

    /// Visits a page in its turn.
    fn visit(&self, position: Position, wanted: PageLayout) -> Visit {
        let (number, page) = (position.page(), self.page(position.page()));
        let first = PageWord::divided(wanted).with(0, ChunkState::Writing);
        let mut state = page.state();
        loop {
            if state.lap().wrapping_sub(position.lap()) as i32 >= 0 {
                return Visit::Passed;
            }
            let word = state.word();
            let next = match word.layout() {
                None if word == PageWord::UNDIVIDED => first,
                None => word,
                Some(layout) if is_idle(word, layout) => claimed(layout),
                Some(layout) => complete(word, layout)
                    .fold(word, |word, index| word.with(index, ChunkState::Reading)),
            };
            if let Err(now) = page.visit(state, PageState::new(next, position.lap())) {
                state = now;
                continue;
            }
            let Some(layout) = word.layout() else {
                let is_divided = next == first;
                is_divided.then(|| self.note_divided());
                return if is_divided { Visit::Taken } else { Visit::Passed };
            };
            fence(Ordering::SeqCst);
            let is_mine = is_idle(word, layout);
            if self.overwrite(number, word, layout, is_mine.then_some(wanted)) && is_mine {
                page.change(next, first);
                return Visit::Taken;
            }
            return Visit::Passed;
        }
    }

    /// Overwrites the chunks that are complete in `word`, which the caller has claimed, and that of
    /// the whole page where it is to be divided as `whole` says. Else the chunks are free
    /// afterwards. False where the reader has to do it.
    fn overwrite(
        &self,
        page: usize,
        word: PageWord,
        layout: PageLayout,
        whole: Option<PageLayout>,
    ) -> bool {
        if self.hand_over(page, complete(word, layout)) {
            // The free ones of a page that was claimed as a whole.
            let free = |&index: &usize| whole.is_some() && word.state(index) == ChunkState::Free;
            (0..layout.chunks()).filter(free).for_each(|index| self.page(page).release(index));
            return false;
        }
        let Some(wanted) = whole else {
            let claimed = complete(word, layout).map(|index| Slot { page, index, layout });
            claimed.for_each(|slot| self.overwrite_chunk(slot));
            return true;
        };
        self.clear_headers(page, layout);
        if wanted != layout {
            self.clear_headers(page, wanted);
        }
        for index in complete(word, layout) {
            self.note_overwritten(Slot { page, index, layout });
        }
        true
    }

    /// Frees a chunk that the caller has claimed.
    fn overwrite_chunk(&self, slot: Slot) {
        self.clear_header(slot);
        self.page(slot.page).release(slot.index);
        self.note_overwritten(slot);
    }

    /// Counts a complete chunk that was overwritten.
    fn note_overwritten(&self, slot: Slot) {
        self.counters().add(slot.layout, |counters| &counters.overwritten);
        self.note_freed(slot);
    }

    /// Leaves claimed chunks of `page` to the reader, if that has pinned the page. Where the pin is
    /// gone, its reader's reads came before.
    fn hand_over(&self, page: usize, chunks: impl Iterator<Item = usize>) -> bool {
        let mut pinned = self.pinned.load(Ordering::Acquire);
        if pinned_page(pinned) != Some(page) {
            return false;
        }
        let chunks = chunks.fold(0, |all, index| all | handed_over(index));
        while pinned_page(pinned) == Some(page) {
            let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
            match self.pinned.compare_exchange(pinned, pinned | chunks, success, failure) {
                Ok(_) => return true,
                Err(now) => pinned = now,
            }
        }
        false
    }

    /// Pins a page for the reader.
    pub(crate) fn pin(&self, page: usize) {
        // Released, since a writer may take it for the end of the pin before.
        self.pinned.store(page as u64 + 1, Ordering::Release);
    }

    /// Ends the pin of the reader on `page`, and frees chunks handed to it meanwhile.
    pub(crate) fn unpin(&self, page: usize) {
        let pinned = self.pinned.swap(0, Ordering::AcqRel);
        let Some(layout) = self.page(page).word().layout() else { return };
        let handed_over = (0..layout.chunks()).filter(|&index| pinned & handed_over(index) != 0);
        handed_over.for_each(|index| self.overwrite_chunk(Slot { page, index, layout }));
    }

    /// Returns whether a chunk of the pinned page was handed over to the reader.
    pub(crate) fn is_handed_over(&self, slot: Slot) -> bool {
        self.pinned.load(Ordering::Acquire) & handed_over(slot.index) != 0
    }
}

/// Returns whether no chunk of a page with this header is being written or read.
fn is_idle(word: PageWord, layout: PageLayout) -> bool {
    let idle = |index| matches!(word.state(index), ChunkState::Complete | ChunkState::Free);
    (0..layout.chunks()).all(idle)
}

/// The complete chunks of a page with this header.
fn complete(word: PageWord, layout: PageLayout) -> impl Iterator<Item = usize> {
    (0..layout.chunks()).filter(move |&index| word.state(index) == ChunkState::Complete)
}

/// The page in the word that says which one is pinned: its number, plus one, in the lower half; in
/// the upper half a bit for each chunk that was handed over.
fn pinned_page(pinned: u64) -> Option<usize> {
    (pinned as u32 as usize).checked_sub(1)
}

/// The bit of a chunk that was handed over.
fn handed_over(index: usize) -> u64 {
    1 << (32 + index)
}

#[cfg(all(test, not(loom)))]
mod tests;
