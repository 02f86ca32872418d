//! From chunks to the file: what each sequence has written, in order, once.
//!
//! Chunks are found in any order. A writer's chunks have ids without a gap, so whatever is not the next one of its
//! sequence waits until the next one has come.
//!
//! Invariants: a packet is copied once, whole; what was copied from a chunk that was still being written is skipped when
//! the chunk is met again.

use super::core::Core;
use super::file::TraceFile;
use super::state::SequenceState;
use super::wire::{sequence_id, span, split};
use protolog_core::chunk::Packets;
use protolog_shmem::{BufferReader, ChunkInfo, Committed};
use std::collections::{HashMap, HashSet};

/// So many chunks are freed before those who wait for one are told, so that they do not wake for each.
const QUIET: usize = 16;

/// The most bytes that a packet grows on its way to a file: its tag, its sequence, and a byte of its size.
const GROWTH: usize = 6;

/// Copies packets to the file.
#[derive(Debug, Default)]
pub(super) struct Drain {
    sequences: HashMap<u16, Sequence>,
    /// Chunks freed since those who wait for one were told.
    quiet: usize,
    /// The writers that wrote to the file.
    pub(super) written: HashSet<u16>,
}

/// How far a writer's chunks were copied.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    next_chunk: u32,
    /// Bytes and packets of that chunk that were copied while it was still being written.
    done: (usize, u16),
    /// The beginning of a packet that goes on in that chunk.
    begun: Option<Vec<u8>>,
    /// What its chunk set up.
    /// Apart, since sequences of threads that are gone have none, and there may be many of those.
    state: Option<Box<SequenceState>>,
    /// Whether the file has that.
    stale: bool,
}

impl Drain {
    /// Copies everything that is complete, and with `unfinished_too` what is committed in chunks that are being written.
    /// False where the file has no room for the next chunk: go on with another one.
    pub(super) fn copy(&mut self, core: &Core, file: &mut TraceFile, unfinished_too: bool) -> bool {
        let mut reader = core.buffer.reader();
        loop {
            let mut found = reader.find(unfinished_too);
            // Keys are looked up once, and most chunks are in order already.
            found.sort_by_cached_key(|chunk| {
                let next = self.sequences.get(&chunk.writer_id).map_or(0, |known| known.next_chunk);
                (chunk.writer_id, chunk.chunk_id.wrapping_sub(next))
            });
            let mut released = 0;
            let mut all = found.into_iter().peekable();
            while let Some(info) = all.next() {
                all.peek().iter().for_each(|next| reader.prefetch(next));
                match self.chunk(core, &mut reader, file, info) {
                    Some(done) => released += done as usize,
                    None => return false,
                }
            }
            self.announce(core);
            // What had to wait for a chunk that was completed in the meantime can now follow.
            if released == 0 || !unfinished_too {
                return true;
            }
        }
    }

    /// Copies a chunk if it is its sequence's turn; true where the chunk is done with, none where the file has no room.
    fn chunk(
        &mut self,
        core: &Core,
        reader: &mut BufferReader<'_>,
        file: &mut TraceFile,
        info: ChunkInfo,
    ) -> Option<bool> {
        let ChunkInfo { writer_id, is_complete, .. } = info;
        let sequence = self.sequences.entry(writer_id).or_default();
        if info.chunk_id != sequence.next_chunk {
            return Some(false);
        }
        let Some(chunk) = reader.read(&info) else { return Some(false) };
        let committed = chunk.committed();
        if !file.has_room(|| sequence.size(&committed), self.written.len()) {
            chunk.put_back();
            return None;
        }
        let mut to = FileCopy { file, sequence: sequence_id(writer_id) };
        if sequence.copy(&committed, is_complete, &mut to) {
            self.written.insert(writer_id);
        }
        if is_complete {
            if to.file.has_failed() {
                chunk.discard();
            } else {
                drop(chunk);
            }
            sequence.next_chunk = sequence.next_chunk.wrapping_add(1);
            sequence.next(false);
            self.quiet += 1;
            if self.quiet >= (core.buffer.pages() / 8).min(QUIET) {
                self.announce(core);
            }
        }
        Some(is_complete)
    }

    /// Goes on with a file that has nothing of any sequence yet.
    pub(super) fn next_file(&mut self) {
        self.written.clear();
        self.set_up_again();
    }

    /// Goes on where what chunks had set up may be missing.
    pub(super) fn set_up_again(&mut self) {
        for sequence in self.sequences.values_mut() {
            sequence.stale = sequence.begun.is_some() || sequence.done.1 > 0;
        }
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

    /// The first `count` packets of `sized`, each with its size before it; all, if what follows is no packet.
    fn packets(&mut self, sized: &[u8], count: u16);
}

/// Copies to the file.
struct FileCopy<'a> {
    file: &'a mut TraceFile,
    sequence: u32,
}

impl Sink for FileCopy<'_> {
    fn packet(&mut self, packet: &[u8]) {
        self.file.copy(self.sequence, packet);
    }

    fn packets(&mut self, sized: &[u8], count: u16) {
        self.file.packets(self.sequence, sized, count);
    }
}

impl Sequence {
    /// Gives the packets of a chunk that were not given before; false where there are none.
    pub(super) fn copy(
        &mut self,
        committed: &Committed<'_>,
        complete: bool,
        to: &mut impl Sink,
    ) -> bool {
        let continued = complete && committed.flags & Packets::CONTINUED != 0;
        let mut rest = committed.bytes.get(self.done.0..).unwrap_or_default();
        let mut left = committed.count.saturating_sub(self.done.1);
        let some = left > 0;
        if some && std::mem::take(&mut self.stale) {
            let packets = self.state.iter().flat_map(|state| state.packets());
            packets.for_each(|packet| to.packet(&packet));
        }
        if some && self.done.1 == 0 && committed.flags & Packets::CONTINUES != 0 {
            let Some((piece, after)) = split(rest) else { return false };
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
                return true;
            }
        }
        if left > 0 {
            let whole = if continued { span(rest, left as usize - 1) } else { rest.len() };
            let (whole, last) = rest.split_at(whole);
            to.packets(whole, left - continued as u16);
            // What is left of the chunk, or of its last packet, may go to another file.
            if continued || !complete {
                self.state.get_or_insert_default().follow(whole);
            }
            self.begun = split(last).map(|(piece, _)| piece.to_vec());
        } else if complete {
            self.begun = None;
        }
        self.done = (committed.bytes.len(), committed.count);
        some
    }

    /// The most bytes that the rest of a chunk takes in a file.
    fn size(&self, committed: &Committed<'_>) -> usize {
        let packets = committed.count.saturating_sub(self.done.1) as usize;
        let begun = self.begun.as_ref().map_or(0, Vec::len);
        let state = self.state.as_ref().filter(|_| self.stale).map_or(0, |state| state.size());
        let rest = committed.bytes.get(self.done.0..).unwrap_or_default();
        state + begun + span(rest, packets) + packets * GROWTH
    }

    /// Begins with the next chunk, or with one after chunks that are gone.
    pub(super) fn next(&mut self, gap: bool) {
        self.done = (0, 0);
        self.stale &= self.begun.is_some();
        // A chunk sets up its own, but what goes on in it rests on the one before.
        self.state.take_if(|_| self.begun.is_none());
        if gap {
            self.begun = None;
        }
    }
}
