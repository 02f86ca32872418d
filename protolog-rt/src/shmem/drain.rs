//! The reader's side of a buffer: claiming chunks, reading what is committed, releasing them.
//!
//! One reader at a time. It sees the chunks of a writer in any order and at any time; who needs them in order sorts by
//! chunk id and waits for what is missing, since a writer completes its chunks in order and leaves no gap.
//!
//! Invariants: those of [`super`]. Only bytes that are *committed* are looked at: the packet that a writer may be filling
//! is never touched. Of a chunk that is complete, no byte changes until it is released.
#![allow(unsafe_code)] // Committed bytes in mapped memory are read through pointers.

use super::buffer::{Buffer, Chunk, packets, readable};
use crate::sync::Ordering;
use protolog_core::chunk::{ChunkState, Packets, PageLayout};
use protozero::wire::decode_varint;

/// A chunk that has something to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    /// Where it is.
    pub(crate) chunk: Chunk,
    /// Whose it is.
    pub(crate) writer_id: u16,
    /// Its number among its writer's chunks.
    pub(crate) chunk_id: u32,
    /// Whether its writer is done with it.
    pub(crate) complete: bool,
}

/// Every complete chunk, and with `unfinished_too` those that are being written and have begun.
pub(crate) fn find(buffer: &Buffer, unfinished_too: bool) -> Vec<Found> {
    let mut found = Vec::new();
    for page in 0..buffer.pages() {
        find_in(buffer, page, unfinished_too, &mut found);
    }
    found
}

/// The same, of one page.
pub(super) fn find_in(buffer: &Buffer, page: usize, unfinished_too: bool, found: &mut Vec<Found>) {
    let word = buffer.page(page).word();
    let Some(layout) = word.layout() else { return };
    for index in 0..layout.chunks() {
        let state = word.state(index);
        let chunk = Chunk { page, index, layout };
        // A count of 0: the header is not written yet.
        if !readable(state, unfinished_too) || packets(buffer.packets(chunk)).count() == 0 {
            continue;
        }
        found.push(Found {
            chunk,
            writer_id: buffer.writer_id(chunk).load(Ordering::Relaxed),
            chunk_id: buffer.chunk_id(chunk).load(Ordering::Relaxed),
            complete: state == ChunkState::Complete,
        });
    }
}

/// What of a chunk is committed: the bytes of its packets, each with its size before it, how many, and flags.
#[derive(Clone, Copy)]
pub(crate) struct Committed<'a> {
    /// The packets, without the one that is still open. In a chunk that is complete something else may follow them.
    pub(crate) bytes: &'a [u8],
    /// Number of packets in `bytes`, the last of which may be an abandoned one, whose size says more than there is.
    pub(crate) count: u16,
    /// [`Packets::CONTINUES`] and so on; [`Packets::CONTINUED`] says something only when the chunk is complete.
    pub(crate) flags: u16,
}

/// Reads a chunk that [`find`] found and that nobody has released since.
pub(crate) fn committed(buffer: &Buffer, found: Found) -> Committed<'_> {
    let word: Packets = packets(buffer.packets(found.chunk));
    let (start, payload) = (buffer.payload(found.chunk), found.chunk.payload());
    if found.complete {
        // Whoever takes the packets finds their ends on the way; looking for them here would be the same once more.
        return Committed {
            bytes: bytes(start, payload),
            count: word.count(),
            flags: word.flags(),
        };
    }
    let count = word.count().saturating_sub(1);
    let mut length = 0;
    for done in 0..count {
        let Some(size) = packet_span(start, length, payload) else {
            // A writer never leaves a chunk like this; what precedes is still good.
            return Committed { bytes: bytes(start, length), count: done, flags: word.flags() };
        };
        length += size;
    }
    Committed { bytes: bytes(start, length), count, flags: word.flags() }
}

/// A copy of a whole chunk that no thread is writing, for tests.
#[cfg(test)]
pub(crate) fn image(buffer: &Buffer, chunk: Chunk) -> Vec<u8> {
    let mut image = Vec::new();
    image.extend(buffer.chunk_id(chunk).load(Ordering::Relaxed).to_le_bytes());
    image.extend(buffer.writer_id(chunk).load(Ordering::Relaxed).to_le_bytes());
    image.extend(packets(buffer.packets(chunk)).0.to_le_bytes());
    image.extend(bytes(buffer.payload(chunk), chunk.payload()));
    image
}

/// Frees a chunk that is complete and has been read.
pub(crate) fn release(buffer: &Buffer, chunk: Chunk) {
    let page = buffer.page(chunk.page);
    page.claim(chunk.index);
    buffer.clear_header(chunk);
    if page.close(chunk.index) {
        // The whole page is the reader's now: make it *clean* for any layout.
        for layout in PageLayout::ALL {
            for index in 0..layout.chunks() {
                buffer.clear_header(Chunk { page: chunk.page, index, layout });
            }
        }
        page.open();
        buffer.note_undivided();
    } else {
        page.release(chunk.index);
    }
    buffer.note_freed(chunk);
}

/// Bytes of the packet at `at` and of its size, none where they do not fit the chunk.
#[inline]
fn packet_span(start: *mut u8, at: usize, payload: usize) -> Option<usize> {
    if at >= payload {
        return None;
    }
    // SAFETY: `at < payload`, so the byte lies in the chunk.
    let place = unsafe { start.add(at) };
    // SAFETY: it is *committed*: a size, or the first byte of one.
    let size = unsafe { place.read() };
    if size >= 0x80 {
        return long_packet_span(start, at, payload);
    }
    let span = 1 + size as usize;
    (span <= payload - at).then_some(span)
}

/// The same, whatever the length of the size.
fn long_packet_span(start: *mut u8, at: usize, payload: usize) -> Option<usize> {
    let mut field = [0; 4];
    for (offset, byte) in field.iter_mut().enumerate().take(payload.saturating_sub(at)) {
        // SAFETY: `at + offset < payload`, so the byte lies in the chunk.
        let place = unsafe { start.add(at + offset) };
        // SAFETY: it is *committed*: the size's last byte ends the loop.
        *byte = unsafe { place.read() };
        if *byte < 0x80 {
            break;
        }
    }
    let (size, length) = decode_varint(&field).ok()?;
    let span = length + size as usize;
    (span <= payload - at).then_some(span)
}

/// The first `length` bytes of a chunk's packets.
fn bytes<'a>(start: *mut u8, length: usize) -> &'a [u8] {
    // SAFETY: `length` is a sum of spans within the chunk, all *committed*, or the chunk is complete and that is all of it;
    // the caller ties the lifetime to the buffer and releases the chunk only after its last look.
    unsafe { std::slice::from_raw_parts(start, length) }
}
