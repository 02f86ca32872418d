//! Copies packets from chunks to a file: each sequence in order, each packet once.
//!
//! Chunks are found in any order. The ids of a sequence's chunks have no gap, so a chunk that is not the next one of its
//! sequence waits for that.
//!
//! Invariant: a packet is copied once, and whole. Packets copied from a chunk that was still being written are skipped when
//! the chunk is found again.

use super::core::Core;
use super::file::TraceFile;
use super::state::SequenceState;
use super::wire::{sequence_id, span, split};
use protolog_core::chunk::Packets;
use protolog_shmem::{BufferReader, ChunkInfo, Committed};
use std::collections::{HashMap, HashSet};

/// The number of chunks that are freed before waiting writers are woken, so that they do not wake for each.
const FREED_PER_WAKE: usize = 16;

/// The most bytes that a packet grows on its way to a file: its tag, its sequence, and a byte of its size.
const GROWTH: usize = 6;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Drain {
    sequences: HashMap<u16, Sequence>,
    /// Chunks freed since waiting writers were woken.
    freed: usize,
    /// The writers that wrote to the file.
    pub(super) written: HashSet<u16>,
}

/// The progress of copying a sequence.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    next_chunk: u32,
    /// Bytes and packets of that chunk that were copied while it was still being written.
    done: (usize, u16),
    /// The beginning of a packet that continues in that chunk.
    begun: Option<Vec<u8>>,
    /// The incremental state of the chunk. In a box, since sequences of ended threads have none, and there may be many.
    state: Option<Box<SequenceState>>,
    /// The file lacks the state.
    stale: bool,
}

impl Drain {
    /// Copies all complete chunks, and with `unfinished_too` the committed packets of chunks that are being written. Returns
    /// false if the file has no room for the next chunk: continue with another file.
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
                match self.copy_chunk(core, &mut reader, file, info) {
                    Some(done) => released += done as usize,
                    None => return false,
                }
            }
            self.wake_waiting(core);
            // Chunks that waited for one that was completed meanwhile can follow now.
            if released == 0 || !unfinished_too {
                return true;
            }
        }
    }

    /// Copies a chunk if it is the next one of its sequence. Returns true if the chunk was freed, none if the file has no room.
    fn copy_chunk(
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
            self.freed += 1;
            if self.freed >= (core.buffer.pages() / 8).min(FREED_PER_WAKE) {
                self.wake_waiting(core);
            }
        }
        Some(is_complete)
    }

    /// Continues with a file that has nothing of any sequence yet.
    pub(super) fn begin_file(&mut self) {
        self.written.clear();
        self.mark_states_stale();
    }

    /// Continues with a file that may lack the states of sequences.
    pub(super) fn mark_states_stale(&mut self) {
        for sequence in self.sequences.values_mut() {
            sequence.stale = sequence.begun.is_some() || sequence.done.1 > 0;
        }
    }
}

impl Drain {
    /// Wakes writers that wait for a chunk, if any were freed.
    fn wake_waiting(&mut self, core: &Core) {
        if self.freed > 0 {
            core.announce_freed();
        }
        self.freed = 0;
    }
}

/// Receives the packets of a sequence.
pub(super) trait PacketSink {
    /// Takes a packet that was split.
    fn packet(&mut self, packet: &[u8]);

    /// Takes the first `count` packets of `sized`, each with its size before it; all, if what follows some is no packet.
    fn packets(&mut self, sized: &[u8], count: u16);
}

/// Copies to a file.
struct FileCopy<'a> {
    file: &'a mut TraceFile,
    sequence: u32,
}

impl PacketSink for FileCopy<'_> {
    fn packet(&mut self, packet: &[u8]) {
        self.file.copy(self.sequence, packet);
    }

    fn packets(&mut self, sized: &[u8], count: u16) {
        self.file.packets(self.sequence, sized, count);
    }
}

impl Sequence {
    /// Passes the new packets of a chunk to `to`. Returns false if there are none.
    pub(super) fn copy(
        &mut self,
        committed: &Committed<'_>,
        complete: bool,
        to: &mut impl PacketSink,
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
            let continues = continued && left == 0;
            // A piece without its beginning is skipped.
            if let Some(begun) = &mut self.begun {
                begun.extend_from_slice(piece);
            }
            if let Some(whole) = self.begun.take_if(|_| !continues) {
                to.packet(&whole);
            }
            if continues {
                return true;
            }
        }
        if left > 0 {
            let whole = if continued { span(rest, left as usize - 1) } else { rest.len() };
            let (whole, last) = rest.split_at(whole);
            to.packets(whole, left - continued as u16);
            // The rest of the chunk, or of its last packet, may go to another file.
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

    /// Returns the most bytes that the rest of a chunk takes in a file.
    fn size(&self, committed: &Committed<'_>) -> usize {
        let packets = committed.count.saturating_sub(self.done.1) as usize;
        let begun = self.begun.as_ref().map_or(0, Vec::len);
        let state = self.state.as_ref().filter(|_| self.stale).map_or(0, |state| state.size());
        let rest = committed.bytes.get(self.done.0..).unwrap_or_default();
        state + begun + span(rest, packets) + packets * GROWTH
    }

    /// Moves to the next chunk, or to one after missing chunks.
    pub(super) fn next(&mut self, gap: bool) {
        self.done = (0, 0);
        self.stale &= self.begun.is_some();
        // A chunk sets up its own state, but a packet that continues in it needs that of the one before.
        self.state.take_if(|_| self.begun.is_none());
        if gap {
            self.begun = None;
        }
    }
}
