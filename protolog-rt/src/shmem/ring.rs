//! A buffer as a ring: writers take the oldest chunks again, and a reader looks at chunks that may be taken meanwhile.
//!
//! Pages are filled in turn, so those that come next are the oldest. A page of which no chunk is being written is taken
//! whole; where all pages have such a chunk, single chunks are taken.
//!
//! The reader pins one page at a time. Who takes a chunk marks it as being read, then looks whether its page is pinned;
//! the reader pins the page, then looks at the mark; a full fence stands between on both sides.
//!
//! Invariant: a chunk that the reader copies keeps its committed bytes until the pin is gone: either the reader sees that
//! the chunk is another one, or who wants it sees the pin and leaves it as it was.
#![allow(unsafe_code)] // As its neighbours.

use super::buffer::{Buffer, Chunk, PAGE, packets};
use super::drain::{Committed, Found, committed, find_in};
use crate::sync::{Ordering, fence, yield_now};
use protolog_core::chunk::{CHUNK_HEADER, ChunkState, PageLayout, PageWord};

/// So many pages ahead headers are asked for.
const AHEAD: usize = 16;

/// A copy of what is committed of a chunk.
#[derive(Debug)]
pub(crate) struct Image {
    /// Its packets, each with its size before it, as in [`Committed::bytes`].
    pub(crate) bytes: Vec<u8>,
    /// How many they are.
    pub(crate) count: u16,
    /// As in the chunk's header.
    pub(crate) flags: u16,
    /// Whether its writer was done with it.
    pub(crate) complete: bool,
}

impl Buffer {
    /// Takes a chunk for a writer: a free one, or the oldest that is complete, of layout `wanted` if possible, else with
    /// room for `payload` bytes of packets. None where all chunks are being written, or too small.
    pub(crate) fn acquire_ring(&self, wanted: PageLayout, payload: usize) -> Option<Chunk> {
        let open = &self.open[wanted as usize - 1];
        if let Some(page) =
            open.load(Ordering::Relaxed).checked_sub(1).filter(|_| wanted != PageLayout::One)
        {
            if let Some((layout, index)) = self.page(page).acquire(|layout| layout == wanted) {
                return Some(Chunk { page, index, layout });
            }
        }
        let start = self.next();
        let pages = || (start..self.pages()).chain(0..start);
        for page in pages() {
            let fresh = self.divide(page, wanted);
            let free = || self.page(page).acquire(|layout| layout == wanted);
            let old = || self.take_page(page, wanted).then_some((wanted, 0));
            if let Some((layout, index)) = fresh.or_else(free).or_else(old) {
                self.keep_open(page, layout);
                self.go_on(page);
                return Some(Chunk { page, index, layout });
            }
        }
        let roomy = |layout: PageLayout| layout.chunk_size(PAGE) - CHUNK_HEADER >= payload;
        pages().find_map(|page| {
            let (layout, index) =
                self.page(page).acquire(roomy).or_else(|| self.take_chunk(page, roomy))?;
            Some(Chunk { page, index, layout })
        })
    }

    /// Takes a page of which no chunk is being written, divides it, and takes its first chunk.
    fn take_page(&self, page: usize, wanted: PageLayout) -> bool {
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
            self.note_overwritten(Chunk { page, index, layout });
        }
        self.page(page).set(PageWord::divided(wanted).with(0, ChunkState::Writing));
        true
    }

    /// Makes the headers zero that a page has, or would have, in this layout.
    fn clear_headers(&self, page: usize, layout: PageLayout) {
        for index in 0..layout.chunks() {
            self.clear_header(Chunk { page, index, layout });
        }
    }

    /// Takes a complete chunk of a page that has others that are being written.
    fn take_chunk(
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
        let chunk = Chunk { page, index, layout };
        self.clear_header(chunk);
        self.note_overwritten(chunk);
        self.page(page).reuse(index);
        Some((layout, index))
    }

    /// Notes that a writer took a chunk that was complete.
    fn note_overwritten(&self, chunk: Chunk) {
        self.flow().add(chunk.layout, |passed| &passed.overwritten);
        self.note_freed(chunk);
    }

    /// Where the pin is gone, what its reader looked at came before.
    fn is_pinned(&self, page: usize) -> bool {
        self.pinned.load(Ordering::Acquire) == page + 1
    }

    /// Every chunk that is complete or has begun. One reader at a time.
    pub(crate) fn find_pinned(&self) -> Vec<Found> {
        let mut found = Vec::new();
        for page in 0..self.pages() {
            // The fence waits for what was asked for before it, one page after the other.
            self.fetch_page(page + AHEAD);
            self.pinned.store(page + 1, Ordering::Relaxed);
            fence(Ordering::SeqCst);
            find_in(self, page, true, &mut found);
        }
        self.pinned.store(0, Ordering::Release);
        found
    }

    /// Copies a chunk; none where it has been taken since it was found. One reader at a time.
    pub(crate) fn copy(&self, found: Found) -> Option<Image> {
        self.look(found, |committed, complete| {
            let (count, flags) = (committed.count, committed.flags);
            Image { bytes: committed.bytes.to_vec(), count, flags, complete }
        })
    }

    /// Calls `f` with what is committed of a chunk, and whether the chunk is complete; none where it has been taken since it
    /// was found. Nobody can take it meanwhile. One reader at a time.
    pub(crate) fn look<R>(
        &self,
        found: Found,
        f: impl FnOnce(&Committed<'_>, bool) -> R,
    ) -> Option<R> {
        let Chunk { page, index, layout } = found.chunk;
        self.pinned.store(page + 1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let mut word = self.page(page).word();
        // Somebody is about to take it, or to find the pin.
        while word.layout() == Some(layout) && word.state(index) == ChunkState::Reading {
            yield_now();
            word = self.page(page).word();
        }
        let complete = word.state(index) == ChunkState::Complete;
        // The count before the ids: where it is not 0, they are the chunk's, and not still those of a cleared header, which
        // are also those of a writer's first chunk.
        let same = word.layout() == Some(layout)
            && (complete || word.state(index) == ChunkState::Writing)
            && packets(self.packets(found.chunk)).count() > 0
            && self.chunk_id(found.chunk).load(Ordering::Relaxed) == found.chunk_id
            && self.writer_id(found.chunk).load(Ordering::Relaxed) == found.writer_id;
        let done = same.then(|| f(&committed(self, Found { complete, ..found }), complete));
        self.pinned.store(0, Ordering::Release);
        done
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use protolog_core::chunk::Packets;

    /// A complete chunk with one empty packet.
    fn fill(buffer: &Buffer, layout: PageLayout, id: u32) -> Chunk {
        let chunk = buffer.acquire_ring(layout, 1).expect("a chunk");
        buffer.chunk_id(chunk).store(id, Ordering::Relaxed);
        buffer.writer_id(chunk).store(1, Ordering::Relaxed);
        buffer.packets(chunk).store(Packets::new(1, 0).0, Ordering::Release);
        buffer.complete(chunk);
        chunk
    }

    fn ids(buffer: &Buffer) -> Vec<u32> {
        let mut ids: Vec<u32> = buffer.find_pinned().iter().map(|found| found.chunk_id).collect();
        ids.sort_unstable();
        ids
    }

    #[test]
    fn the_newest_stay() {
        let buffer = Buffer::anonymous(4 * PAGE).unwrap();
        for id in 0..10 {
            fill(&buffer, PageLayout::One, id);
        }
        assert_eq!(ids(&buffer), [6, 7, 8, 9]);
        for id in 10..24 {
            fill(&buffer, PageLayout::Fourteen, id);
        }
        assert_eq!(ids(&buffer)[..3], [7, 8, 9], "one page, divided anew");
        assert_eq!(ids(&buffer).len(), 3 + 14);
    }

    #[test]
    fn what_is_being_written_stays() {
        let buffer = Buffer::anonymous(2 * PAGE).unwrap();
        let mine = buffer.acquire_ring(PageLayout::Two, 1).unwrap();
        for id in 0..10 {
            assert_ne!(fill(&buffer, PageLayout::One, id), mine);
        }
        assert_eq!(ids(&buffer), [9]);
        let other = buffer.acquire_ring(PageLayout::One, 1).unwrap();
        let third = buffer.acquire_ring(PageLayout::One, 1).unwrap();
        assert_eq!(
            (third.page, third.layout),
            (mine.page, PageLayout::Two),
            "the rest of the page"
        );
        assert_ne!((third, other), (mine, mine));
        assert_eq!(buffer.acquire_ring(PageLayout::One, 1), None);
        buffer.complete(third);
        assert_eq!(buffer.acquire_ring(PageLayout::One, 1), Some(third), "taken alone");
        buffer.complete(third);
        assert_eq!(buffer.acquire_ring(PageLayout::One, 3000), None, "too small");
    }

    #[test]
    fn a_pinned_page_is_left_alone() {
        let buffer = Buffer::anonymous(2 * PAGE).unwrap();
        let (first, second) =
            (fill(&buffer, PageLayout::One, 0), fill(&buffer, PageLayout::One, 1));
        buffer.pinned.store(first.page + 1, Ordering::Relaxed);
        assert_eq!(buffer.acquire_ring(PageLayout::One, 1), Some(second));
        assert_eq!(buffer.acquire_ring(PageLayout::One, 1), None);
        buffer.pinned.store(0, Ordering::Relaxed);
        assert_eq!(buffer.acquire_ring(PageLayout::One, 1), Some(first));
    }

    #[test]
    fn a_chunk_that_was_taken_is_not_copied() {
        let buffer = Buffer::anonymous(PAGE).unwrap();
        fill(&buffer, PageLayout::One, 0);
        let found = buffer.find_pinned();
        assert_eq!(buffer.copy(found[0]).map(|image| (image.count, image.bytes[0])), Some((1, 0)));
        fill(&buffer, PageLayout::One, 1);
        assert!(buffer.copy(found[0]).is_none());
    }

    #[test]
    fn a_page_that_is_divided_anew_has_clean_headers() {
        let buffer = Buffer::anonymous(PAGE).unwrap();
        let layouts = [
            PageLayout::One,
            PageLayout::Fourteen,
            PageLayout::Two,
            PageLayout::Two,
            PageLayout::Four,
        ];
        for layout in layouts {
            let chunk = buffer.acquire_ring(layout, 1).unwrap();
            assert_eq!((chunk.layout, chunk.index), (layout, 0));
            for index in 0..layout.chunks() {
                let chunk = Chunk { index, ..chunk };
                let ids = (buffer.chunk_id(chunk), buffer.writer_id(chunk));
                let ids = (ids.0.load(Ordering::Relaxed), ids.1.load(Ordering::Relaxed));
                assert_eq!((ids, packets(buffer.packets(chunk)).0), ((0, 0), 0), "{chunk:?}");
            }
            // All of the page but its own header is what packets left there.
            for at in (8..PAGE).step_by(4) {
                buffer.word(at).store(u32::MAX, Ordering::Relaxed);
            }
            buffer.complete(chunk);
            while let Some(rest) = buffer.page(0).acquire(|_| true) {
                buffer.complete(Chunk { page: 0, index: rest.1, layout });
            }
        }
    }
}
