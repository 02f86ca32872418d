//! The reader of a buffer: finds chunks, reads their committed packets, releases them.
//!
//! There is one [`BufferReader`] at a time. It sees the chunks of a writer in any order and at any
//! time. A caller that needs them in order sorts by chunk id and waits for missing ones, since a
//! writer completes its chunks in order and leaves no gap.
//!
//! Invariants
//! - Only bytes that are *committed* are read: the packet that a writer may be filling is never
//!   touched. Of a complete chunk that is claimed or pinned no byte changes.
//! - *held*: a chunk is read only while its page is known to be divided as the chunk's slot says:
//!   in a stream because only the reader frees chunks, in a ring because the page is pinned.
#![allow(unsafe_code)] // Committed bytes in shared memory are read through addresses.

use crate::buffer::{Buffer, is_readable};
use crate::slot::Slot;
use crate::sync::{Ordering, fence, yield_now};
use protolog_core::FillPolicy;
use protolog_core::chunk::{ChunkState, PageLayout};
use protozero::wire::decode_varint;
use std::fmt;
use std::sync::{MutexGuard, PoisonError, TryLockError};

/// So many pages ahead headers are prefetched.
const AHEAD: usize = 16;

/// A chunk that had something to read when it was found.
#[derive(Clone, Copy, Debug)]
pub struct ChunkInfo {
    slot: Slot,
    /// The id of its writer.
    pub writer_id: u16,
    /// Its number among its writer's chunks.
    pub chunk_id: u32,
    /// Set once its writer has completed it.
    pub is_complete: bool,
}

impl ChunkInfo {
    /// The division of its page.
    pub fn layout(&self) -> PageLayout {
        self.slot.layout
    }

    /// The size of the chunk with its header, in bytes.
    pub fn size(&self) -> usize {
        self.slot.size()
    }
}

/// The committed part of a chunk: the bytes of its packets, each with its size before it, how many,
/// and flags.
#[derive(Clone, Copy)]
pub struct Committed<'a> {
    /// The packets, without the one that is still open. In a chunk that is complete something else
    /// may follow them.
    pub bytes: &'a [u8],
    /// Number of packets in `bytes`, the last of which may be an abandoned one, with a size beyond
    /// the end.
    pub count: u16,
    /// Flags as [`protolog_core::chunk::Packets`] has them; `CONTINUED` says something only when
    /// the chunk is complete.
    pub flags: u16,
}

impl Buffer {
    /// Returns the buffer's reader, as soon as nobody else has it.
    pub fn reader(&self) -> BufferReader<'_> {
        BufferReader::new(self, self.reader.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the buffer's reader; none where somebody has it.
    pub fn try_reader(&self) -> Option<BufferReader<'_>> {
        match self.reader.try_lock() {
            Err(TryLockError::WouldBlock) => None,
            Err(TryLockError::Poisoned(guard)) => Some(BufferReader::new(self, guard.into_inner())),
            Ok(guard) => Some(BufferReader::new(self, guard)),
        }
    }
}

/// The one reader of a buffer. See the module.
#[derive(Debug)]
pub struct BufferReader<'b> {
    buffer: &'b Buffer,
    _only: MutexGuard<'b, ()>,
}

impl<'b> BufferReader<'b> {
    /// The reader, where the guard of its lock is held.
    pub(crate) fn new(buffer: &'b Buffer, only: MutexGuard<'b, ()>) -> Self {
        Self { buffer, _only: only }
    }

    /// Finds every complete chunk, and with `unfinished_too` those that are being written and have
    /// begun.
    pub fn find(&mut self, unfinished_too: bool) -> Vec<ChunkInfo> {
        let mut found = Vec::new();
        for page in 0..self.buffer.pages_there() {
            let _pin = (self.buffer.fill_policy() == FillPolicy::RingBuffer).then(|| {
                // The fence waits for the prefetches before it, one page after the other.
                self.buffer.prefetch_page(page + AHEAD);
                Pin::new(self.buffer, page)
            });
            self.find_in(page, unfinished_too, &mut found);
        }
        found
    }

    /// Likewise, on one page.
    fn find_in(&self, page: usize, unfinished_too: bool, found: &mut Vec<ChunkInfo>) {
        let word = self.buffer.page(page).word();
        let Some(layout) = word.layout() else { return };
        for index in 0..layout.chunks() {
            let state = word.state(index);
            let slot = Slot { page, index, layout };
            // A count of 0: the header is not written yet.
            if !is_readable(state, unfinished_too) || self.buffer.packets_of(slot).count() == 0 {
                continue;
            }
            found.push(ChunkInfo {
                slot,
                writer_id: self.buffer.header(slot).writer_id.load(Ordering::Relaxed),
                chunk_id: self.buffer.header(slot).chunk_id.load(Ordering::Relaxed),
                is_complete: state == ChunkState::Complete,
            });
        }
    }

    /// Prefetches a chunk that is read soon.
    pub fn prefetch(&self, info: &ChunkInfo) {
        self.buffer.prefetch(info.slot);
    }

    /// Reads a chunk of a stream: claims it if it was complete when it was found, else shows the
    /// packets committed by now. None where it has been released since.
    ///
    /// # Panics
    /// Where the buffer is a ring, whose chunks have to be pinned.
    pub fn read(&mut self, info: &ChunkInfo) -> Option<ReadChunk<'_>> {
        let is_ring = self.buffer.fill_policy() == FillPolicy::RingBuffer;
        assert!(!is_ring, "chunks of a ring are pinned to be read");
        let ChunkInfo { slot, is_complete, .. } = *info;
        let page = self.buffer.page(slot.page);
        let word = page.word();
        let is_there = word.layout() == Some(slot.layout)
            && if is_complete {
                page.try_claim(word, slot.index)
            } else {
                is_readable(word.state(slot.index), true)
            };
        // Made only where it is there: dropping one releases the chunk.
        is_there.then(|| ReadChunk { buffer: self.buffer, slot, is_claimed: is_complete })
    }

    /// Frees a chunk that was held, and counts it as read.
    ///
    /// # Panics
    /// Where it is one of another buffer.
    pub fn release(&mut self, HeldChunk { slot, buffer }: HeldChunk) {
        assert!(buffer == self.buffer.id(), "a chunk of another buffer");
        self.buffer.counters().add(slot.layout, |counters| &counters.read);
        self.buffer.release(slot);
    }

    /// Copies a whole chunk, header and unused end included, for tests.
    ///
    /// # Safety
    /// No thread writes into the chunk, or divides its page anew.
    #[doc(hidden)]
    pub unsafe fn image(&mut self, info: &ChunkInfo) -> Vec<u8> {
        let slot = info.slot;
        let mut image = Vec::with_capacity(slot.size());
        image.extend(self.buffer.header(slot).chunk_id.load(Ordering::Relaxed).to_le_bytes());
        image.extend(self.buffer.header(slot).writer_id.load(Ordering::Relaxed).to_le_bytes());
        image.extend(self.buffer.packets_of(slot).0.to_le_bytes());
        // SAFETY: *mapped*: the payload is in the buffer, and by the caller's promise nobody writes
        // it.
        image.extend(unsafe {
            std::slice::from_raw_parts(self.buffer.payload(slot), slot.payload())
        });
        image
    }

    /// Pins a chunk, so that no writer takes it again meanwhile; none where it has been taken since
    /// it was found.
    pub fn pin(&mut self, info: &ChunkInfo) -> Option<PinnedChunk<'_>> {
        let (buffer, slot) = (self.buffer, info.slot);
        let Slot { page, index, layout } = slot;
        let pin = Pin::new(buffer, page);
        let mut word = buffer.page(page).word();
        // Somebody is about to take it, or to find the pin.
        while word.layout() == Some(layout) && word.state(index) == ChunkState::Reading {
            if buffer.is_handed_over(slot) {
                return None;
            }
            yield_now();
            word = buffer.page(page).word();
        }
        // The count before the ids: where it is not 0, they are the chunk's, and not still those of
        // a cleared header, which are also those of a writer's first chunk.
        let is_same = word.layout() == Some(layout)
            && is_readable(word.state(index), true)
            && buffer.packets_of(slot).count() > 0
            && buffer.header(slot).chunk_id.load(Ordering::Relaxed) == info.chunk_id
            && buffer.header(slot).writer_id.load(Ordering::Relaxed) == info.writer_id;
        let is_complete = word.state(index) == ChunkState::Complete;
        is_same.then_some(PinnedChunk { pin, slot, is_complete })
    }
}

/// A chunk of a stream that is being read. One that was complete is the reader's until this is
/// dropped, and free then.
#[must_use = "a complete chunk is free once this is dropped"]
pub struct ReadChunk<'b> {
    buffer: &'b Buffer,
    slot: Slot,
    is_claimed: bool,
}

impl ReadChunk<'_> {
    /// The committed part.
    pub fn committed(&self) -> Committed<'_> {
        // SAFETY: *held*: `read` found the page divided like this, and its borrow of the reader
        // keeps all others from freeing chunks; if it is to be read as a complete one, it is
        // claimed.
        unsafe { committed(self.buffer, self.slot, self.is_claimed) }
    }

    /// Leaves the chunk in the buffer, complete, to be read again.
    pub fn put_back(mut self) {
        if std::mem::take(&mut self.is_claimed) {
            self.buffer.page(self.slot.page).complete(self.slot.index);
        }
    }

    /// Keeps a complete chunk from being freed when this is dropped: it is free once the result is
    /// released. None of a chunk that is still being written.
    pub fn hold(mut self) -> Option<HeldChunk> {
        std::mem::take(&mut self.is_claimed)
            .then(|| HeldChunk { slot: self.slot, buffer: self.buffer.id() })
    }

    /// Releases the chunk as one with unusable packets; dropping it counts it as read.
    pub fn discard(mut self) {
        if std::mem::take(&mut self.is_claimed) {
            self.buffer.counters().add(self.slot.layout, |counters| &counters.discarded);
            self.buffer.release(self.slot);
        }
    }
}

impl Drop for ReadChunk<'_> {
    fn drop(&mut self) {
        if self.is_claimed {
            self.buffer.counters().add(self.slot.layout, |counters| &counters.read);
            self.buffer.release(self.slot);
        }
    }
}

impl fmt::Debug for ReadChunk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { buffer: _, slot, is_claimed } = self;
        f.debug_struct("ReadChunk").field("slot", slot).field("is_claimed", is_claimed).finish()
    }
}

/// A chunk of a stream that was read, and is not free yet: its bytes may still be on the way to a
/// file.
///
/// One that is dropped stays in state Reading for good: [`BufferReader::release`] is its end.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a chunk that is not released is lost to the buffer"]
pub struct HeldChunk {
    slot: Slot,
    /// The id of its buffer.
    buffer: u64,
}

impl HeldChunk {
    /// The size of the chunk with its header, in bytes.
    pub fn size(&self) -> usize {
        self.slot.size()
    }
}

/// A chunk that no writer takes again before this is dropped.
#[must_use = "the pin is gone once this is dropped"]
pub struct PinnedChunk<'b> {
    pin: Pin<'b>,
    slot: Slot,
    is_complete: bool,
}

impl PinnedChunk<'_> {
    /// The committed part.
    pub fn committed(&self) -> Committed<'_> {
        // SAFETY: *held*: the page is pinned and, as `pin` found after that, divided like this;
        // nobody writes into a complete chunk before the pin is gone.
        unsafe { committed(self.pin.buffer, self.slot, self.is_complete) }
    }

    /// Returns whether its writer has completed it.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }
}

impl fmt::Debug for PinnedChunk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PinnedChunk").field("slot", &self.slot).finish_non_exhaustive()
    }
}

/// A pinned page. The reader pins one at a time.
struct Pin<'b> {
    buffer: &'b Buffer,
    page: usize,
}

impl<'b> Pin<'b> {
    /// Pins `page`. Later loads of page and chunk headers see a writer that did not see the pin.
    fn new(buffer: &'b Buffer, page: usize) -> Self {
        buffer.pin(page);
        fence(Ordering::SeqCst);
        Self { buffer, page }
    }
}

impl Drop for Pin<'_> {
    fn drop(&mut self) {
        self.buffer.unpin(self.page);
    }
}

/// The committed part of a chunk, of a complete one with all that follows the packets.
///
/// # Safety
/// *held*, and if `is_complete` nobody writes into the chunk, both for the lifetime that the caller
/// gives the result.
unsafe fn committed(buffer: &Buffer, slot: Slot, is_complete: bool) -> Committed<'_> {
    let packets = buffer.packets_of(slot);
    let (start, payload) = (buffer.payload(slot), slot.payload());
    let (mut count, mut length) = (packets.count(), payload);
    // Taking the packets of a complete chunk finds their ends on the way; here that would be the
    // same work once more.
    if !is_complete {
        (count, length) = (count.saturating_sub(1), 0);
        for done in 0..count {
            // SAFETY: *committed*: the packet at `length` is one of those that the count covers,
            // but not the last one.
            let Some(size) = (unsafe { packet_span(start, length, payload) }) else {
                // A writer never leaves a chunk like this; the packets before are still good.
                count = done;
                break;
            };
            length += size;
        }
    }
    // SAFETY: *mapped*: `length` bytes are in the chunk's payload. They are all of a chunk that
    // nobody writes, or a sum of spans of *committed* packets.
    let bytes = unsafe { std::slice::from_raw_parts(start, length) };
    Committed { bytes, count, flags: packets.flags() }
}

/// Bytes of the packet at `at` and of its size, none where they do not fit the chunk.
///
/// # Safety
/// `payload` bytes from `start` are a chunk's, and the packet at `at` is *committed*.
#[inline]
unsafe fn packet_span(start: *const u8, at: usize, payload: usize) -> Option<usize> {
    if at >= payload {
        return None;
    }
    // SAFETY: `at < payload`, so the byte is in the chunk.
    let first = unsafe { start.add(at) };
    // SAFETY: the byte is *committed*: a size, or the first byte of one.
    let size = unsafe { first.read() };
    if size >= 0x80 {
        // SAFETY: the caller's promise is what it asks for.
        return unsafe { long_packet_span(start, at, payload) };
    }
    let span = 1 + size as usize;
    (span <= payload - at).then_some(span)
}

/// Likewise, for a size of any length.
///
/// # Safety
/// That of [`packet_span`].
unsafe fn long_packet_span(start: *const u8, at: usize, payload: usize) -> Option<usize> {
    let mut field = [0; 4];
    for (offset, byte) in field.iter_mut().enumerate().take(payload.saturating_sub(at)) {
        // SAFETY: `at + offset < payload`, so the byte is in the chunk.
        let place = unsafe { start.add(at + offset) };
        // SAFETY: the byte is *committed*: the size's last byte ends the loop.
        *byte = unsafe { place.read() };
        if *byte < 0x80 {
            break;
        }
    }
    let (size, length) = decode_varint(&field).ok()?;
    let span = length + size as usize;
    (span <= payload - at).then_some(span)
}

#[cfg(all(test, not(loom)))]
mod tests;
