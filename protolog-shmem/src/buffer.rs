//! A buffer: pages in memory, and how writers take chunks of it and complete them.
//!
//! Acquiring is lock-free: first the page that last had room for this size of chunk, then the pages
//! in turn from where the last search ended. A ring ([`crate::ring`]) takes the oldest chunks
//! again.
//!
//! Invariants: those of the [crate], *owner*, *committed* and *clean*, and *there*
//! ([`crate::growth`]).
#![allow(unsafe_code)] // Prefetches.

use crate::chunk::{BUFFERS, ChunkCell, OpenChunk, PacketCount, WriteChunk};
use crate::counters::Counters;
use crate::memory::{ChunkHeader, Memory};
use crate::page::Page;
use crate::position::Position;
use crate::slot::{MAX_BUFFER, PAGE, Slot};
use crate::sync::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use protolog_core::chunk::{CHUNK_HEADER, ChunkState, Packets, PageLayout};
use protolog_core::{BufferStats, FillPolicy};
use std::sync::atomic::{AtomicBool, AtomicU64 as StdAtomicU64};
use std::sync::{Mutex, PoisonError};

/// Bytes that the machine fetches at once.
const LINE: usize = 64;

/// The part of a page that is prefetched before somebody writes there, in lines: its header, its
/// first chunk's, that one's first packet and some twenty messages. By then the machine has seen
/// that it is written in order, and fetches the rest by itself.
const PREFETCHED_FOR_WRITING: usize = 8;

/// So many pages ahead: of two threads that take pages in turn, each is to prefetch one that it
/// takes itself.
const AHEAD: usize = 2;

/// The part of a chunk that is prefetched before it is read, in lines.
const PREFETCHED_FOR_READING: usize = 16;

/// The most bytes that wait before the reader is woken: enough that it is rare, and no more, since
/// a burst finds the remaining bytes.
const DUE: usize = 2 << 20;

/// Chunks in shared memory. See the module.
#[derive(Debug)]
pub struct Buffer {
    pub(crate) memory: Memory,
    pages: usize,
    /// The number of pages that are there.
    pub(crate) there: AtomicUsize,
    fill_policy: FillPolicy,
    /// A number that no other buffer of the process has.
    id: u64,
    /// Set when the memory was given back. No model does that.
    pub(crate) is_discarded: AtomicBool,
    /// Held by the reader.
    pub(crate) reader: Mutex<()>,
    /// The page, plus one, that last had room for this layout; not kept for pages of one chunk.
    pub(crate) open: [AtomicUsize; PageLayout::ALL.len()],
    /// The page that the reader of a ring has pinned, see [`crate::ring`].
    pub(crate) pinned: AtomicU64,
    usage: Usage,
}

/// The words that change with each chunk: on one line, since threads that share them wait for it.
#[derive(Debug, Default)]
#[repr(C, align(128))]
struct Usage {
    /// Where the next search for a page begins: a [`Position`].
    next: AtomicU64,
    /// Bytes in complete chunks, headers included.
    complete: AtomicUsize,
    /// Number of pages that are divided.
    divided: AtomicUsize,
    /// Counts up with each chunk that is freed, and when more pages are there.
    freed: AtomicU32,
    counters: Counters,
}

impl Buffer {
    /// A buffer in `memory`, which is zeroed and as large as [`size`](crate::size) says.
    ///
    /// # Panics
    /// Where the memory is not whole pages, none, or more than [`MAX_BUFFER`].
    pub fn new(memory: Memory, fill_policy: FillPolicy) -> Self {
        let pages = memory.len() / PAGE;
        Self::with_pages(memory, fill_policy, pages)
    }

    /// A buffer of a stream in `memory` that grows, of which the first `there` bytes are there,
    /// whole pages.
    ///
    /// # Panics
    /// As [`Self::new`], and where no page is there or more than all.
    pub fn growing(memory: Memory, there: usize) -> Self {
        assert!(
            (PAGE..=memory.len()).contains(&there),
            "{there} bytes of {} are there",
            memory.len()
        );
        Self::with_pages(memory, FillPolicy::Stream, there / PAGE)
    }

    fn with_pages(memory: Memory, fill_policy: FillPolicy, there: usize) -> Self {
        static NEXT_ID: StdAtomicU64 = StdAtomicU64::new(0);
        let len = memory.len();
        assert!(len > 0 && len % PAGE == 0 && len <= MAX_BUFFER, "a buffer of {len} bytes");
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        assert!(id < BUFFERS, "more buffers than there are ids");
        Self {
            pages: len / PAGE,
            there: AtomicUsize::new(there),
            memory,
            fill_policy,
            id,
            is_discarded: AtomicBool::new(false),
            reader: Mutex::new(()),
            open: Default::default(),
            pinned: AtomicU64::new(0),
            usage: Usage { next: AtomicU64::new(Position::FIRST.0), ..Usage::default() },
        }
    }

    /// A number that no other buffer of the process has.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Number of pages.
    pub fn pages(&self) -> usize {
        self.pages
    }

    /// The fate of chunks once they are complete.
    #[inline]
    pub fn fill_policy(&self) -> FillPolicy {
        self.fill_policy
    }

    /// Statistics of the chunks that went through.
    pub fn stats(&self) -> BufferStats {
        self.counters().stats(self.pages)
    }

    /// Counters of the chunks that went through.
    pub(crate) fn counters(&self) -> &Counters {
        &self.usage.counters
    }

    /// A number that changes whenever a chunk was freed.
    pub fn freed(&self) -> u32 {
        self.usage.freed.load(Ordering::Acquire)
    }

    /// Takes a chunk for a writer: one of a page of layout `wanted` if there is one, else any with
    /// room for `payload` bytes of packets. Chunks are free ones, and in a ring also the oldest
    /// that are complete.
    pub fn acquire(&self, wanted: PageLayout, payload: usize) -> Option<WriteChunk> {
        self.acquire_after(None, wanted, payload)
    }

    /// Likewise, for a writer whose last chunk is, or was, on page `previous`: in a ring the new
    /// chunk does not get old before that one.
    pub fn acquire_after(
        &self,
        previous: Option<usize>,
        wanted: PageLayout,
        payload: usize,
    ) -> Option<WriteChunk> {
        let slot = if self.fill_policy == FillPolicy::RingBuffer {
            self.acquire_oldest(previous, wanted, payload)?
        } else {
            self.acquire_free(wanted, payload)?
        };
        // A discard zeroes the states of pages, so that a chunk would be taken twice. Either this
        // load, which comes after the step that took the chunk in the order of all SeqCst steps,
        // sees it, or the chunk was taken before.
        (!self.is_discarded.load(Ordering::SeqCst)).then(|| WriteChunk::new(self.id, slot))
    }

    fn acquire_free(&self, wanted: PageLayout, payload: usize) -> Option<Slot> {
        loop {
            let there = self.pages_there();
            if let Some(slot) = self.acquire_like(wanted, there) {
                return Some(slot);
            }
            if !self.grow_for_writer(there) {
                return (0..there).find_map(|page| {
                    let has_room = |layout| has_room(layout, payload);
                    let (layout, index) = self.page(page).acquire(has_room)?;
                    Some(Slot { page, index, layout })
                });
            }
        }
    }

    /// Takes a free chunk of this layout on one of the first `there` pages.
    fn acquire_like(&self, wanted: PageLayout, there: usize) -> Option<Slot> {
        let exact = |layout| layout == wanted;
        let open = self.open[wanted as usize - 1].load(Ordering::Relaxed).checked_sub(1);
        if let Some(page) = open.filter(|_| wanted != PageLayout::One) {
            if let Some((layout, index)) = self.page(page).acquire(exact) {
                return Some(Slot { page, index, layout });
            }
        }
        // The position may be that of a thread that knows of more pages.
        let start = self.position().page().min(there);
        for page in (start..there).chain(0..start) {
            let fresh = self.divide(page, wanted);
            if let Some((layout, index)) = fresh.or_else(|| self.page(page).acquire(exact)) {
                self.keep_open(page, layout);
                // Others may be further by now. Then the next search is longer, and finds the same.
                let next = Position::FIRST.at(page).next(there);
                self.usage.next.store(next.0, Ordering::Relaxed);
                self.prefetch_ahead(page);
                return Some(Slot { page, index, layout });
            }
        }
        None
    }

    /// Where the next search for a page begins.
    pub(crate) fn position(&self) -> Position {
        Position(self.usage.next.load(Ordering::Acquire))
    }

    /// Makes the next search begin after `position`, unless it does already.
    pub(crate) fn advance(&self, position: Position) {
        let (now, next) = (position.0, position.next(self.pages).0);
        let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
        _ = self.usage.next.compare_exchange(now, next, success, failure);
    }

    /// Makes the next search for this layout begin with `page`, where others may have room on it.
    #[inline]
    pub(crate) fn keep_open(&self, page: usize, layout: PageLayout) {
        if layout != PageLayout::One {
            self.open[layout as usize - 1].store(page + 1, Ordering::Relaxed);
        }
    }

    /// Prefetches a page after `page`, since the writer that takes it waits for its lines.
    pub(crate) fn prefetch_ahead(&self, page: usize) {
        let ahead = (page + AHEAD) % self.pages * PAGE;
        for line in 0..PREFETCHED_FOR_WRITING {
            self.prefetch_for_writing(ahead + line * LINE);
        }
    }

    /// Divides an undivided page and takes its first chunk.
    fn divide(&self, page: usize, layout: PageLayout) -> Option<(PageLayout, usize)> {
        let index = self.page(page).divide(layout)?;
        self.note_divided();
        Some((layout, index))
    }

    /// Notes that a page was divided.
    pub(crate) fn note_divided(&self) {
        self.usage.divided.fetch_add(1, Ordering::Relaxed);
    }

    /// Begins a chunk: enters its writer, and lends the addresses that its writer stores through.
    /// Readers see nothing of it before a count is published.
    pub fn open(&self, chunk: &mut WriteChunk, writer_id: u16, chunk_id: u32) -> OpenChunk {
        self.check(chunk);
        let slot = chunk.slot();
        let header = self.header(slot);
        header.chunk_id.store(chunk_id, Ordering::Relaxed);
        header.writer_id.store(writer_id, Ordering::Relaxed);
        let start = self.payload(slot);
        let end = start.wrapping_add(slot.payload());
        OpenChunk { start, end, count: PacketCount::new(header.packets) }
    }

    /// Packets that were published of a chunk.
    pub fn published(&self, chunk: &WriteChunk) -> Packets {
        self.check(chunk);
        self.packets_of(chunk.slot())
    }

    /// Id and packets of the chunk in a cell, if there is one, as they were a moment ago: to
    /// compare with a later call's.
    ///
    /// By now its writer may have recalled the chunk, and another one may write packets where its
    /// header was. Then the result is made of any bytes.
    ///
    /// # Safety
    /// In that case these loads race with plain stores, which Rust leaves undefined and the machine
    /// does not: the caller compares results and uses them for nothing else.
    pub unsafe fn peek(&self, cell: &ChunkCell) -> Option<(u32, Packets)> {
        let (slot, buffer) = cell.slot()?;
        assert!(buffer == self.id, "a chunk of another buffer");
        Some((self.header(slot).chunk_id.load(Ordering::Relaxed), self.packets_of(slot)))
    }

    /// Makes a chunk complete, for the reader, or for the writers of a ring. True where enough
    /// waits for the reader since then.
    pub fn complete(&self, chunk: WriteChunk) -> bool {
        self.check(&chunk);
        let slot = chunk.into_slot();
        let size = slot.size();
        // Before anybody can take the chunk: the taker takes it off again.
        let before = self.usage.complete.fetch_add(size, Ordering::Relaxed);
        self.counters().add(slot.layout, |counters| &counters.written);
        self.counters().reach(before + size);
        self.page(slot.page).complete(slot.index);
        let due = self.due();
        before < due && before + size >= due
    }

    /// The chunk at `slot`, which the caller just moved to state Writing.
    #[cfg(test)]
    pub(crate) fn owned(&self, slot: Slot) -> WriteChunk {
        WriteChunk::new(self.id, slot)
    }

    /// Panics where a chunk is not one of this buffer.
    #[inline]
    pub(crate) fn check(&self, chunk: &WriteChunk) {
        assert!(chunk.buffer() == self.id, "a chunk of another buffer");
    }

    /// Makes the next search of a stream begin at the first page. Called whenever chunks were
    /// freed, it keeps writers on the pages that they used last, which the processor still has, and
    /// leaves the rest of a large buffer to bursts.
    pub fn rewind(&self) {
        debug_assert!(self.fill_policy == FillPolicy::Stream, "a ring's position only moves on");
        self.usage.next.store(Position::FIRST.0, Ordering::Relaxed);
    }

    /// Returns whether somebody has a chunk on half of the pages that are there or more.
    pub fn is_scarce(&self) -> bool {
        self.divided() >= self.pages_there().div_ceil(2)
    }

    /// Returns whether nobody has a chunk, and none waits for the reader.
    pub fn is_free(&self) -> bool {
        self.divided() == 0
    }

    /// Number of pages that are divided.
    pub(crate) fn divided(&self) -> usize {
        self.usage.divided.load(Ordering::Relaxed)
    }

    /// Has writers that found no chunk look again: more pages are there.
    pub(crate) fn note_more(&self) {
        self.usage.freed.fetch_add(1, Ordering::Release);
    }

    /// Returns whether so much waits for the reader that it should read: half of a small buffer,
    /// [`DUE`] bytes of a large one.
    pub fn is_due(&self) -> bool {
        self.usage.complete.load(Ordering::Relaxed) >= self.due()
    }

    fn due(&self) -> usize {
        (self.pages * PAGE / 2).min(DUE)
    }

    /// Gives the memory back to the system, once nobody reads. No chunk is acquired any more;
    /// writers that have one write to zeroed pages.
    pub fn discard(&self) {
        let _reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_discarded.store(true, Ordering::SeqCst);
        self.memory.discard();
    }

    /// The header of page `page`.
    #[inline]
    pub(crate) fn page(&self, page: usize) -> Page<'_> {
        Page::new(self.memory.page_word(page * PAGE))
    }

    /// The header of a chunk.
    #[inline]
    pub(crate) fn header(&self, slot: Slot) -> ChunkHeader<'_> {
        self.memory.chunk_header(slot.at())
    }

    /// Count and flags of a chunk as they are now; the bytes that they cover are visible.
    #[inline]
    pub(crate) fn packets_of(&self, slot: Slot) -> Packets {
        Packets(self.header(slot).packets.load(Ordering::Acquire))
    }

    /// The first byte of a chunk's packets; [`Slot::payload`] bytes from there are its owner's.
    #[inline]
    pub(crate) fn payload(&self, slot: Slot) -> *mut u8 {
        self.memory.address(slot.at() + CHUNK_HEADER)
    }

    /// Prefetches the beginning of a chunk that is read soon: the rest of a page the machine
    /// fetches by itself, once it sees that it is read in order.
    pub(crate) fn prefetch(&self, slot: Slot) {
        for line in 0..PREFETCHED_FOR_READING {
            self.prefetch_for_reading(slot.at() + line * LINE);
        }
    }

    /// Prefetches the header of a page, if there is such a page.
    pub(crate) fn prefetch_page(&self, page: usize) {
        self.prefetch_for_reading(page * PAGE);
    }

    /// Prefetches a line that is written soon.
    fn prefetch_for_writing(&self, at: usize) {
        #[cfg(all(target_arch = "x86_64", not(any(loom, miri))))]
        // SAFETY: a prefetch has no effect that a program can see, whatever the address; a
        // processor that does not know this one takes it for nothing.
        unsafe {
            core::arch::asm!("prefetchw [{}]", in(reg) self.memory.hint(at), options(nostack, preserves_flags));
        }
        #[cfg(not(all(target_arch = "x86_64", not(any(loom, miri)))))]
        let _ = at;
    }

    /// Prefetches a line that is read soon, if it is in the memory.
    fn prefetch_for_reading(&self, at: usize) {
        #[cfg(all(target_arch = "x86_64", not(any(loom, miri))))]
        if at < self.memory.len() {
            use core::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
            // SAFETY: a prefetch has no effect that a program can see, whatever the address.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(self.memory.hint(at).cast()) };
        }
        #[cfg(not(all(target_arch = "x86_64", not(any(loom, miri)))))]
        let _ = at;
    }

    /// Makes a chunk's header zero. The count first, so that a recovery never takes the remaining
    /// fields for another chunk's.
    pub(crate) fn clear_header(&self, slot: Slot) {
        let header = self.header(slot);
        header.packets.store(0, Ordering::Relaxed);
        header.writer_id.store(0, Ordering::Release);
        header.chunk_id.store(0, Ordering::Release);
    }

    /// Makes the headers zero that a page has, or would have, in this layout.
    pub(crate) fn clear_headers(&self, page: usize, layout: PageLayout) {
        for index in 0..layout.chunks() {
            self.clear_header(Slot { page, index, layout });
        }
    }

    /// Frees a chunk that the reader claimed.
    pub(crate) fn release(&self, slot: Slot) {
        let page = self.page(slot.page);
        self.clear_header(slot);
        if page.close(slot.index) {
            // The whole page is the reader's now: make it *clean* for any layout.
            for layout in PageLayout::ALL {
                self.clear_headers(slot.page, layout);
            }
            page.open();
            self.usage.divided.fetch_sub(1, Ordering::Relaxed);
        } else {
            page.release(slot.index);
        }
        self.note_freed(slot);
    }

    /// Notes that a chunk that was complete is free, or is written again.
    pub(crate) fn note_freed(&self, slot: Slot) {
        self.usage.complete.fetch_sub(slot.size(), Ordering::Relaxed);
        self.usage.freed.fetch_add(1, Ordering::Release);
    }
}

/// Returns whether chunks of a page with this layout have room for `payload` bytes of packets.
pub(crate) fn has_room(layout: PageLayout, payload: usize) -> bool {
    layout.chunk_size(PAGE) - CHUNK_HEADER >= payload
}

/// Returns whether a chunk in `state` has something for the reader.
pub(crate) fn is_readable(state: ChunkState, unfinished_too: bool) -> bool {
    state == ChunkState::Complete || unfinished_too && state == ChunkState::Writing
}

#[cfg(all(test, not(loom)))]
mod tests;
