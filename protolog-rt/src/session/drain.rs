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
    begun: Vec<u8>,
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
        let mut messages = 0;
        sequence.copy(&committed, found.complete, &mut |packet| {
            messages += write(file, found.writer_id, packet);
        });
        self.messages += messages;
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

impl Sequence {
    /// Gives the packets of a chunk that were not given before.
    pub(super) fn copy(
        &mut self,
        committed: &Committed<'_>,
        complete: bool,
        give: &mut dyn FnMut(&[u8]),
    ) {
        let continues = committed.flags & Packets::CONTINUES != 0;
        let continued = complete && committed.flags & Packets::CONTINUED != 0;
        let mut rest = committed.bytes.get(self.done.0..).unwrap_or_default();
        while self.done.1 < committed.count {
            let Ok((size, size_len)) = decode_varint(rest) else { break };
            let end = size_len + size as usize;
            let Some(packet) = rest.get(size_len..end) else { break };
            rest = rest.get(end..).unwrap_or_default();
            let first = self.done.1 == 0;
            self.done = (self.done.0 + end, self.done.1 + 1);
            let last = self.done.1 == committed.count;
            if !(first && continues) {
                self.begun.clear();
            }
            if last && continued {
                self.begun.extend_from_slice(packet);
            } else if !self.begun.is_empty() {
                self.begun.extend_from_slice(packet);
                give(&self.begun);
                self.begun.clear();
            } else if !(first && continues) {
                give(packet);
            }
        }
        if complete && !continued {
            self.begun.clear();
        }
    }

    /// Begins with the next chunk, or with one after chunks that are gone.
    pub(super) fn next(&mut self, gap: bool) {
        self.done = (0, 0);
        if gap {
            self.begun.clear();
        }
    }
}

/// Writes a packet, if it is not empty; 1 where it is a message.
fn write(file: &mut TraceFile, writer_id: u16, packet: &[u8]) -> u64 {
    let Some(first) = packet.first() else { return 0 };
    file.packet(sequence(writer_id), packet);
    (*first == MESSAGE) as u64
}

/// The sequence of a writer.
pub(super) fn sequence(writer_id: u16) -> u32 {
    OWN_SEQUENCE + writer_id as u32
}

// An abandoned packet's size fits no chunk, so the walk over committed packets ends there.
const _: () = assert!(ABANDONED as usize > protolog_core::chunk::MAX_PAGE);
