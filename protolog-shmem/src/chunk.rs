//! A chunk that a writer owns, and the cell that holds it while a reclaimer may take it.
//!
//! Invariants
//! - *one*: of a chunk in state Writing there is one [`WriteChunk`], in somebody's hands or in a
//!   [`ChunkCell`]. It is made by [`Buffer::acquire`](crate::Buffer::acquire) only, is not `Clone`,
//!   and [`Buffer::complete`](crate::Buffer::complete) consumes it.
//! - *same*: a [`WriteChunk`] carries the id of its buffer, which no other buffer of the process
//!   ever has; every function that takes one checks it.
#![allow(unsafe_code)] // Addresses that the hot path of a writer stores through.

use crate::slot::{MAX_BUFFER, PAGE, Slot};
use crate::sync::{AtomicU16, AtomicU64, Ordering};
use protolog_core::chunk::{MAX_CHUNKS, Packets, PageLayout};
use std::num::NonZeroU64;

/// A chunk that is being written, and its only owner.
///
/// One that is dropped stays in state Writing for good:
/// [`Buffer::complete`](crate::Buffer::complete) is its end.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a chunk that is not completed is lost to the buffer"]
pub struct WriteChunk(NonZeroU64);

// Bits of a chunk's word, from the lowest: index, layout, page, the buffer's id, requested.
const LAYOUT_AT: u32 = 4;
const PAGE_AT: u32 = 8;
const BUFFER_AT: u32 = 24;
/// Set in a cell while a reclaimer asks for the chunk.
const REQUESTED: u64 = 1 << 63;
/// The number of ids of buffers.
pub(crate) const BUFFERS: u64 = 1 << (63 - BUFFER_AT);

const _: () = assert!(MAX_CHUNKS <= 1 << LAYOUT_AT);
const _: () = assert!(MAX_BUFFER / PAGE <= 1 << (BUFFER_AT - PAGE_AT));

impl WriteChunk {
    /// The chunk at `slot`, which the caller just moved to state Writing, in the buffer with this
    /// id.
    #[inline]
    pub(crate) fn new(buffer: u64, Slot { page, index, layout }: Slot) -> Self {
        let place = (page as u64) << PAGE_AT | (layout as u64) << LAYOUT_AT | index as u64;
        Self(NonZeroU64::new(buffer << BUFFER_AT | place).expect("layouts count from 1"))
    }

    /// Its place.
    #[inline]
    pub(crate) fn slot(&self) -> Slot {
        let word = self.0.get();
        Slot {
            page: (word >> PAGE_AT) as usize & ((1 << (BUFFER_AT - PAGE_AT)) - 1),
            index: word as usize & ((1 << LAYOUT_AT) - 1),
            layout: PageLayout::ALL
                [(word >> LAYOUT_AT) as usize % (1 << (PAGE_AT - LAYOUT_AT)) - 1],
        }
    }

    /// Gives the chunk up and returns its place.
    #[inline]
    pub(crate) fn into_slot(self) -> Slot {
        self.slot()
    }

    /// The word that stands for the chunk in a cell.
    #[inline]
    fn into_word(self) -> u64 {
        self.0.get()
    }

    /// The id of its buffer.
    #[inline]
    pub(crate) fn buffer(&self) -> u64 {
        self.0.get() >> BUFFER_AT
    }

    /// The division of its page.
    #[inline]
    pub fn layout(&self) -> PageLayout {
        self.slot().layout
    }

    /// The number of its page.
    #[inline]
    pub fn page(&self) -> usize {
        self.slot().page
    }

    /// The most bytes that its packets can take.
    #[inline]
    pub fn payload(&self) -> usize {
        self.slot().payload()
    }
}

/// The addresses of a chunk, which its writer stores through without a call.
///
/// Whoever stores through them has the [`WriteChunk`] that they were lent for, or has offered it in
/// a [`ChunkCell`] and knows that nobody takes it from there meanwhile; and the buffer lives.
#[derive(Debug)]
pub struct OpenChunk {
    /// Where the packets begin.
    pub start: *mut u8,
    /// Where they have to end.
    pub end: *mut u8,
    /// The number of packets.
    pub count: PacketCount,
}

/// The word in a chunk's header that says how many packets were started; or none.
#[derive(Clone, Copy, Debug)]
pub struct PacketCount(*const AtomicU16);

impl PacketCount {
    /// The count of no chunk.
    pub const NONE: Self = Self(std::ptr::null());

    pub(crate) fn new(word: &AtomicU16) -> Self {
        Self(word)
    }

    /// Shows `packets` to readers.
    ///
    /// # Safety
    /// It is the count of a chunk, as [`OpenChunk`] says of stores. All packets but the last one
    /// are whole, each with its size before it, and nobody writes their bytes again before the
    /// chunk is free.
    #[inline(always)]
    #[allow(clippy::inline_always)] // A part of each message.
    pub unsafe fn publish(self, packets: Packets) {
        // SAFETY: not null, and mapped, since the caller has the chunk of a buffer that lives.
        let word = unsafe { &*self.0 };
        word.store(packets.0, Ordering::Release);
    }
}

/// A cell in which a writer leaves its chunk, so that it can be taken while the writer is idle.
///
/// ```text
/// writer      empty -> offered         offer
///             offered, requested -> empty      recall
/// reclaimer   offered -> requested     request
///             requested -> empty, or back to offered    take
/// ```
///
/// The cell names the holder of the chunk. Whether its writer is in the midst of a message is for
/// both to agree on otherwise.
#[derive(Debug)]
pub struct ChunkCell(AtomicU64);

/// A reclaimer's request for the chunk of a cell.
#[derive(Debug, PartialEq, Eq)]
pub struct Request(u64);

impl Default for ChunkCell {
    fn default() -> Self {
        Self::new()
    }
}

impl ChunkCell {
    /// An empty cell.
    pub fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Puts a chunk into the cell, which is empty.
    ///
    /// # Panics
    /// Where it is not.
    #[inline]
    pub fn offer(&self, chunk: WriteChunk) {
        // Only its writer fills the cell, so nobody else does between the two.
        assert!(self.0.load(Ordering::Relaxed) == 0, "a cell holds one chunk");
        self.0.store(chunk.into_word(), Ordering::Release);
    }

    /// Takes the chunk back for its writer; none where a reclaimer has it.
    #[inline]
    pub fn recall(&self) -> Option<WriteChunk> {
        NonZeroU64::new(self.0.swap(0, Ordering::AcqRel) & !REQUESTED).map(WriteChunk)
    }

    /// Returns whether there is a chunk.
    pub fn is_offered(&self) -> bool {
        self.0.load(Ordering::Acquire) != 0
    }

    /// The place of the chunk, if there is one, and the id of its buffer. By now the writer may
    /// have recalled it.
    pub(crate) fn slot(&self) -> Option<(Slot, u64)> {
        let word = self.0.load(Ordering::Acquire) & !REQUESTED;
        let chunk = NonZeroU64::new(word).map(WriteChunk)?;
        Some((chunk.slot(), chunk.buffer()))
    }

    /// Asks for the chunk; none where there is none, or somebody has asked already. The writer may
    /// still recall it.
    pub fn request(&self) -> Option<Request> {
        let word = self.0.load(Ordering::Acquire);
        if word == 0 || word & REQUESTED != 0 {
            return None;
        }
        let (success, failure) = (Ordering::Acquire, Ordering::Relaxed);
        self.0.compare_exchange(word, word | REQUESTED, success, failure).ok()?;
        Some(Request(word))
    }

    /// The request that is open, if its writer has not recalled the chunk since.
    pub fn requested(&self) -> Option<Request> {
        let word = self.0.load(Ordering::Acquire);
        (word & REQUESTED != 0).then_some(Request(word & !REQUESTED))
    }

    /// Ends a request: the chunk is the caller's if `is_idle`, else it stays offered. None, too,
    /// where its writer has recalled it.
    pub fn take(&self, Request(word): Request, is_idle: bool) -> Option<WriteChunk> {
        let next = if is_idle { 0 } else { word };
        let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
        self.0.compare_exchange(word | REQUESTED, next, success, failure).ok()?;
        NonZeroU64::new(word).filter(|_| is_idle).map(WriteChunk)
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
