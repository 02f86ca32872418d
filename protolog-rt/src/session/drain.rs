//! From chunks to the file: what each sequence has written, in order, once.
//!
//! Chunks are found in any order. A writer's chunks have ids without a gap, so whatever is not the next one of its
//! sequence waits until the next one has come.
//!
//! Invariants: a packet is copied once, whole; what was copied from a chunk that was still being written is skipped when
//! the chunk is met again.

use super::core::Core;
use super::file::TraceFile;
use crate::shmem::drain::{self, Committed, Found};
use protolog_core::chunk::{ABANDONED, Packets};
use protolog_core::schema::packet;
use protozero::wire::{WireType, decode_varint, tag};
use std::collections::HashMap;

/// The first byte of a message's packet, and of no other one.
pub(super) const MESSAGE: u8 = tag(packet::TIMESTAMP, WireType::Varint) as u8;

/// The session's own sequence in the file; that of a writer is its id and one.
pub(super) const OWN_SEQUENCE: u32 = 1;

/// So many chunks are freed before those who wait for one are told, so that they do not wake for each.
const QUIET: usize = 16;

/// Copies packets to the file.
#[derive(Debug, Default)]
pub(super) struct Drain {
    sequences: HashMap<u16, Sequence>,
    /// Messages copied.
    pub(super) messages: u64,
    /// Chunks freed since those who wait for one were told.
    quiet: usize,
}

/// How far a writer's chunks were copied.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    next_chunk: u32,
    /// Bytes and packets of that chunk that were copied while it was still being written.
    done: (usize, u16),
    /// The beginning of a packet that goes on in that chunk.
    begun: Option<Vec<u8>>,
}

impl Drain {
    /// Copies everything that is complete, and with `unfinished_too` what is committed in chunks that are being written.
    pub(super) fn copy(&mut self, core: &Core, file: &mut TraceFile, unfinished_too: bool) {
        loop {
            let mut found = drain::find(&core.buffer, unfinished_too);
            found.sort_unstable_by_key(|found| {
                let next = self.sequences.get(&found.writer_id).map_or(0, |known| known.next_chunk);
                (found.writer_id, found.chunk_id.wrapping_sub(next))
            });
            let mut released = 0;
            for found in found {
                released += self.chunk(core, file, found) as usize;
            }
            self.announce(core);
            // What had to wait for a chunk that was completed in the meantime can now follow.
            if released == 0 || !unfinished_too {
                return;
            }
        }
    }

    /// Copies a chunk if it is its sequence's turn; true where the chunk is done with.
    fn chunk(&mut self, core: &Core, file: &mut TraceFile, found: Found) -> bool {
        let sequence = self.sequences.entry(found.writer_id).or_default();
        if found.chunk_id != sequence.next_chunk {
            return false;
        }
        let committed = drain::committed(&core.buffer, found);
        let mut to = Copy { file, sequence: self::sequence(found.writer_id), messages: 0 };
        sequence.copy(&committed, found.complete, &mut to);
        self.messages += to.messages;
        if found.complete {
            drain::release(&core.buffer, found.chunk);
            sequence.next_chunk = sequence.next_chunk.wrapping_add(1);
            sequence.next(false);
            self.quiet += 1;
            if self.quiet >= (core.buffer.pages() / 8).min(QUIET) {
                self.announce(core);
            }
        }
        found.complete
    }
}

impl Drain {
    /// Tells those who wait for a chunk that some were freed.
    fn announce(&mut self, core: &Core) {
        if self.quiet > 0 {
            core.announce_freed();
        }
        self.quiet = 0;
    }
}

/// Takes what a sequence has written.
pub(super) trait Sink {
    /// A packet that came in pieces.
    fn packet(&mut self, packet: &[u8]);

    /// Packets, each with its size before it.
    fn packets(&mut self, sized: &[u8]);
}

/// Copies to the file, and counts.
struct Copy<'a> {
    file: &'a mut TraceFile,
    sequence: u32,
    messages: u64,
}

impl Sink for Copy<'_> {
    fn packet(&mut self, packet: &[u8]) {
        self.file.packet(self.sequence, packet);
        self.messages += (packet.first() == Some(&MESSAGE)) as u64;
    }

    fn packets(&mut self, sized: &[u8]) {
        self.messages += self.file.packets(self.sequence, sized);
    }
}

impl Sequence {
    /// Gives the packets of a chunk that were not given before.
    pub(super) fn copy(&mut self, committed: &Committed<'_>, complete: bool, to: &mut impl Sink) {
        let continued = complete && committed.flags & Packets::CONTINUED != 0;
        let mut rest = committed.bytes.get(self.done.0..).unwrap_or_default();
        let mut left = committed.count.saturating_sub(self.done.1);
        if left > 0 && self.done.1 == 0 && committed.flags & Packets::CONTINUES != 0 {
            let Some((piece, after)) = split(rest) else { return };
            (rest, left) = (after, left - 1);
            let goes_on = continued && left == 0;
            // Without its beginning a piece is nothing.
            if let Some(begun) = &mut self.begun {
                begun.extend_from_slice(piece);
            }
            if let Some(whole) = self.begun.take_if(|_| !goes_on) {
                to.packet(&whole);
            }
            if goes_on {
                return;
            }
        }
        self.done = (committed.bytes.len(), committed.count);
        if left > 0 {
            let whole = if continued { before_last(rest, left) } else { rest.len() };
            let (whole, last) = rest.split_at(whole);
            to.packets(whole);
            self.begun = split(last).map(|(piece, _)| piece.to_vec());
        } else if complete {
            self.begun = None;
        }
    }

    /// Begins with the next chunk, or with one after chunks that are gone.
    pub(super) fn next(&mut self, gap: bool) {
        self.done = (0, 0);
        if gap {
            self.begun = None;
        }
    }
}

/// The first packet of `sized`, and what follows it.
pub(super) fn split(sized: &[u8]) -> Option<(&[u8], &[u8])> {
    let (size, size_len) = decode_varint(sized).ok()?;
    sized.get(size_len..)?.split_at_checked(size as usize)
}

/// Where the last of the `count` packets in `sized` begins.
fn before_last(sized: &[u8], count: u16) -> usize {
    let mut rest = sized;
    for _ in 1..count {
        rest = split(rest).map_or(&[], |(_, after)| after);
    }
    sized.len() - rest.len()
}

/// The sequence of a writer.
pub(super) fn sequence(writer_id: u16) -> u32 {
    OWN_SEQUENCE + writer_id as u32
}

// An abandoned packet's size fits no chunk, so the walk over committed packets ends there.
const _: () = assert!(ABANDONED as usize > protolog_core::chunk::MAX_PAGE);
