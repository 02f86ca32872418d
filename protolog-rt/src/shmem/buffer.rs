//! A buffer: pages in memory, and how writers take chunks of it and give them back full.
//!
//! Acquiring is lock-free: a look at the page that last had room for this size of chunk, then the pages in turn from
//! where the last search ended. A search that found nothing is not repeated until the reader has freed something.
//!
//! Invariants: those of [`super`], *owner*, *committed* and *clean*.
#![allow(unsafe_code)] // Chunks in mapped memory are reached through pointers.

use super::flow::Flow;
use super::memory::Memory;
use super::page::Page;
use crate::sync::{AtomicU16, AtomicU32, AtomicUsize, Ordering};
use protolog_core::chunk::{
    CHUNK_HEADER, ChunkState, PACKETS_AT, Packets, PageLayout, WRITER_ID_AT,
};
use std::io;

/// Size of a page, in bytes.
pub(crate) const PAGE: usize = 4096;

/// The most bytes that packets can take in one chunk.
pub(crate) const MAX_PAYLOAD: usize = PageLayout::One.chunk_size(PAGE) - CHUNK_HEADER;

/// The largest buffer, in bytes: what a tracing service accepts as shared memory.
pub(crate) const MAX_BUFFER: usize = 32 << 20;

/// Bytes that the machine fetches at once.
const LINE: usize = 64;

/// How much of a page is asked for before somebody writes there, in lines: its header, its first chunk's, that one's first
/// packet and some twenty messages. By then the machine has seen that it is written in order, and fetches the rest by itself.
const WANTED: usize = 8;

/// So many pages ahead: of two threads that take pages in turn, each is to ask for one that it takes itself.
const AHEAD: usize = 2;

/// How much of a chunk is asked for before it is read, in lines.
const FETCHED: usize = 16;

/// The size of a buffer of at least `bytes` bytes: whole pages.
pub(crate) fn size(bytes: usize) -> usize {
    bytes.clamp(PAGE, MAX_BUFFER).next_multiple_of(PAGE)
}

/// Chunks in shared memory. See the module.
#[derive(Debug)]
pub(crate) struct Buffer {
    memory: Memory,
    pages: usize,
    /// The page, plus one, that last had room for this layout; not kept for pages of one chunk.
    pub(super) open: [AtomicUsize; PageLayout::ALL.len()],
    /// The page, plus one, that the reader of a ring looks at.
    pub(super) pinned: AtomicUsize,
    traffic: Traffic,
}

/// What changes with each chunk: on one line, for threads that hand it over have to wait for it.
#[derive(Debug, Default)]
#[repr(C, align(128))]
struct Traffic {
    /// Where the next search for a page begins.
    next: AtomicUsize,
    /// Bytes in complete chunks, headers included.
    complete: AtomicUsize,
    /// Number of pages that are divided.
    divided: AtomicUsize,
    /// Counts up with each chunk that the reader frees.
    freed: AtomicU32,
    /// How much went through.
    flow: Flow,
}

/// A chunk's place: for its writer while it is Writing, for the reader while it is Reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// The page it is on.
    pub(crate) page: usize,
    /// Which one on the page.
    pub(crate) index: usize,
    /// The page's layout.
    pub(crate) layout: PageLayout,
}

impl Chunk {
    /// The most bytes that its packets can take.
    pub(crate) fn payload(self) -> usize {
        self.layout.chunk_size(PAGE) - CHUNK_HEADER
    }

    /// Its size with its header.
    pub(crate) fn size(self) -> usize {
        self.layout.chunk_size(PAGE)
    }

    /// Its offset in the buffer.
    fn at(self) -> usize {
        self.page * PAGE + self.layout.chunk_at(PAGE, self.index)
    }
}

impl Buffer {
    /// A buffer in memory of its own, of at least `bytes` bytes.
    pub(crate) fn anonymous(bytes: usize) -> io::Result<Self> {
        Ok(Self::over(Memory::anonymous(size(bytes))?))
    }

    /// A buffer in `memory`, which is zeroed and as large as [`size`] says.
    pub(crate) fn over(memory: Memory) -> Self {
        Self {
            pages: memory.len() / PAGE,
            memory,
            open: Default::default(),
            pinned: AtomicUsize::new(0),
            traffic: Traffic::default(),
        }
    }

    /// Number of pages.
    pub(crate) fn pages(&self) -> usize {
        self.pages
    }

    /// How much went through.
    pub(crate) fn flow(&self) -> &Flow {
        &self.traffic.flow
    }

    /// Where the next search for a page begins.
    pub(super) fn next(&self) -> usize {
        self.traffic.next.load(Ordering::Relaxed)
    }

    /// Changes whenever the reader has freed something.
    pub(crate) fn freed(&self) -> u32 {
        self.traffic.freed.load(Ordering::Acquire)
    }

    /// Takes a chunk for a writer: one of a page of layout `wanted` if there is one, else any free one with room for
    /// `payload` bytes of packets.
    pub(crate) fn acquire(&self, wanted: PageLayout, payload: usize) -> Option<Chunk> {
        let open = &self.open[wanted as usize - 1];
        if let Some(page) =
            open.load(Ordering::Relaxed).checked_sub(1).filter(|_| wanted != PageLayout::One)
        {
            if let Some((layout, index)) = self.page(page).acquire(|layout| layout == wanted) {
                return Some(Chunk { page, index, layout });
            }
        }
        let start = self.next();
        let pages = || (start..self.pages).chain(0..start);
        for page in pages() {
            let divided = self.divide(page, wanted);
            if let Some((layout, index)) =
                divided.or_else(|| self.page(page).acquire(|layout| layout == wanted))
            {
                self.keep_open(page, layout);
                self.go_on(page);
                return Some(Chunk { page, index, layout });
            }
        }
        let roomy = |layout: PageLayout| layout.chunk_size(PAGE) - CHUNK_HEADER >= payload;
        pages().find_map(|page| {
            let (layout, index) = self.page(page).acquire(roomy)?;
            Some(Chunk { page, index, layout })
        })
    }

    /// The next search for this layout begins with `page`, where others may have room on it.
    #[inline]
    pub(super) fn keep_open(&self, page: usize, layout: PageLayout) {
        if layout != PageLayout::One {
            self.open[layout as usize - 1].store(page + 1, Ordering::Relaxed);
        }
    }

    /// The next search begins after `page`. A page there is asked for, since who takes it has to wait for its lines.
    pub(super) fn go_on(&self, page: usize) {
        let next = if page + 1 < self.pages { page + 1 } else { 0 };
        self.traffic.next.store(next, Ordering::Relaxed);
        let wanted = (page + AHEAD) % self.pages * PAGE;
        for line in 0..WANTED {
            self.want_line(wanted + line * LINE);
        }
    }

    /// Divides an undivided page and takes its first chunk.
    pub(super) fn divide(&self, page: usize, layout: PageLayout) -> Option<(PageLayout, usize)> {
        let index = self.page(page).divide(layout)?;
        self.traffic.divided.fetch_add(1, Ordering::Relaxed);
        Some((layout, index))
    }

    /// Whether somebody has a chunk on half of the pages or more.
    pub(crate) fn is_scarce(&self) -> bool {
        self.traffic.divided.load(Ordering::Relaxed) >= self.pages.div_ceil(2)
    }

    /// Whether half of the buffer or more waits for the reader.
    pub(crate) fn is_half_full(&self) -> bool {
        self.traffic.complete.load(Ordering::Relaxed) >= self.pages * PAGE / 2
    }

    /// Gives a chunk that was being written to the reader. True where this made half of the buffer wait for the reader.
    pub(crate) fn complete(&self, chunk: Chunk) -> bool {
        let size = chunk.size();
        // Before anybody can take the chunk, who then takes it off again.
        let before = self.traffic.complete.fetch_add(size, Ordering::Relaxed);
        self.flow().add(chunk.layout, |passed| &passed.written);
        self.flow().reach(before + size);
        self.page(chunk.page).complete(chunk.index);
        let half = self.pages * PAGE / 2;
        before < half && before + size >= half
    }

    /// Gives the memory back to the system. Writers that do not know yet that it is over write to zeroed pages.
    pub(crate) fn discard(&self) {
        self.memory.discard();
    }

    /// The header of page `page`, below [`Self::pages`].
    pub(super) fn page(&self, page: usize) -> Page<'_> {
        debug_assert!(page < self.pages, "page {page} of {}", self.pages);
        Page::new(self.memory.u32(page * PAGE))
    }

    /// Count and flags of a chunk.
    pub(crate) fn packets(&self, chunk: Chunk) -> &AtomicU16 {
        self.memory.u16(chunk.at() + PACKETS_AT)
    }

    /// Writer id of a chunk.
    pub(crate) fn writer_id(&self, chunk: Chunk) -> &AtomicU16 {
        self.memory.u16(chunk.at() + WRITER_ID_AT)
    }

    /// Id of a chunk.
    pub(crate) fn chunk_id(&self, chunk: Chunk) -> &AtomicU32 {
        self.memory.u32(chunk.at())
    }

    /// The first byte of a chunk's packets; [`Chunk::payload`] bytes from there are its owner's.
    pub(crate) fn payload(&self, chunk: Chunk) -> *mut u8 {
        self.address(chunk.at() + CHUNK_HEADER)
    }

    /// Asks for the beginning of a chunk, which is to be read soon: the rest of a page the machine fetches by itself, once it
    /// sees that it is read in order.
    pub(crate) fn fetch(&self, chunk: Chunk) {
        for line in 0..FETCHED {
            self.fetch_line(chunk.at() + line * LINE);
        }
    }

    /// Asks for the header of a page, if there is such a page.
    pub(super) fn fetch_page(&self, page: usize) {
        if page < self.pages {
            self.fetch_line(page * PAGE);
        }
    }

    /// Asks for a line that is to be written soon.
    fn want_line(&self, at: usize) {
        #[cfg(all(target_arch = "x86_64", not(any(loom, miri))))]
        // SAFETY: a prefetch has no effect that a program can see, whatever the address; a processor that does not know this
        // one takes it for nothing.
        unsafe {
            core::arch::asm!("prefetchw [{}]", in(reg) self.address(at), options(nostack, preserves_flags));
        }
        #[cfg(not(all(target_arch = "x86_64", not(any(loom, miri)))))]
        let _ = at;
    }

    fn fetch_line(&self, at: usize) {
        #[cfg(all(target_arch = "x86_64", not(loom)))]
        if at < self.memory.len() {
            use core::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
            // SAFETY: a prefetch has no effect that a program can see, whatever the address.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(self.address(at).cast()) };
        }
        #[cfg(not(all(target_arch = "x86_64", not(loom))))]
        let _ = at;
    }

    /// Makes a chunk's header zero. The count first, so that a recovery never takes what is left for another chunk's.
    pub(super) fn clear_header(&self, chunk: Chunk) {
        self.packets(chunk).store(0, Ordering::Relaxed);
        self.writer_id(chunk).store(0, Ordering::Release);
        self.chunk_id(chunk).store(0, Ordering::Release);
    }

    /// Notes that the reader freed a chunk.
    pub(super) fn note_freed(&self, chunk: Chunk) {
        let before = self.traffic.complete.fetch_sub(chunk.size(), Ordering::Relaxed);
        debug_assert!(before >= chunk.size(), "counted before it was freed");
        self.traffic.freed.fetch_add(1, Ordering::Release);
    }

    /// Notes that the reader made a page undivided.
    pub(super) fn note_undivided(&self) {
        self.traffic.divided.fetch_sub(1, Ordering::Relaxed);
    }

    /// The 32 bits at `at`.
    #[cfg(test)]
    pub(super) fn word(&self, at: usize) -> &AtomicU32 {
        self.memory.u32(at)
    }

    /// The address of a byte of the mapping.
    fn address(&self, at: usize) -> *mut u8 {
        debug_assert!(at < self.memory.len(), "byte {at} of {}", self.memory.len());
        // SAFETY: callers stay below `pages * PAGE`, the size of the mapping.
        unsafe { self.memory.base().as_ptr().add(at) }
    }
}

/// Whether a chunk of a page with header `state` has something for the reader.
pub(super) fn readable(state: ChunkState, unfinished_too: bool) -> bool {
    state == ChunkState::Complete || unfinished_too && state == ChunkState::Writing
}

/// What a chunk's count and flags say.
pub(super) fn packets(word: &AtomicU16) -> Packets {
    Packets(word.load(Ordering::Acquire))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn chunks_of_one_buffer_do_not_overlap() {
        let buffer = Buffer::anonymous(2 * PAGE).unwrap();
        let mut chunks = vec![buffer.acquire(PageLayout::Fourteen, 1).unwrap()];
        chunks.push(buffer.acquire(PageLayout::Four, 1).unwrap());
        while let Some(chunk) = buffer.acquire(PageLayout::Two, 1) {
            chunks.push(chunk);
        }
        assert_eq!(chunks.len(), 14 + 4, "other layouts' chunks are taken when no page is left");
        let mut spans: Vec<_> =
            chunks.iter().map(|chunk| (chunk.at(), chunk.layout.chunk_size(PAGE))).collect();
        spans.sort_unstable();
        assert!(spans.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0), "{spans:?}");
    }

    #[test]
    fn a_chunk_that_is_too_small_is_not_taken() {
        let buffer = Buffer::anonymous(PAGE).unwrap();
        assert!(buffer.acquire(PageLayout::Fourteen, 1).is_some());
        assert_eq!(buffer.acquire(PageLayout::One, 285), None);
        assert!(buffer.acquire(PageLayout::One, 284).is_some());
    }

    #[test]
    fn half_a_buffer_wakes_the_reader_once() {
        let buffer = Buffer::anonymous(4 * PAGE).unwrap();
        let wakes: Vec<bool> = (0..4)
            .map(|_| {
                let chunk = buffer.acquire(PageLayout::One, 1).unwrap();
                buffer.complete(chunk)
            })
            .collect();
        assert_eq!(wakes, [false, false, true, false]);
        assert_eq!(buffer.acquire(PageLayout::One, 1), None);
    }
}
