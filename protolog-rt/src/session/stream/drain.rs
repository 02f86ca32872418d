//! Copies packets from chunks to a file: each sequence in order, each packet once.
//!
//! Chunks are found in any order. The ids of a sequence's chunks have no gap, so a chunk that is
//! not the next one of its sequence waits for that. A buffer in a recording keeps chunks until the
//! file has their packets, and the recording says how far the file has come
//! ([`crate::session::recording::progress`]).
//!
//! Invariants: a packet is copied once, and whole. Packets copied from a chunk that was still being
//! written are skipped when the chunk is found again. With a recording, a chunk is freed only when
//! the system has all that was copied from it.

use crate::loss::LossCount;
use crate::session::arbiter::session_arbiter::Core;
use crate::session::file::trace_file::TraceFile;
use crate::session::packets::copied::{sequence_id, span, split};
use crate::session::packets::sequence_state::SequenceState;
use crate::session::recording::progress::Progress;
use protolog_core::chunk::Packets;
use protolog_core::recorder::Position;
use protolog_shmem::{BufferReader, ChunkInfo, Committed, HeldChunk, PAGE};
use std::collections::{HashMap, HashSet};

/// The number of chunks that are freed before waiting writers are woken, so that they do not wake
/// for each.
const FREED_PER_WAKE: usize = 16;

/// The part of a buffer whose chunks are held until the file has them: one in so many bytes.
const HELD_PART: usize = 8;

/// The part of a buffer that messages of several chunks may hold while they are not complete.
const PIECES_PART: usize = 4;

/// The same of the part that is there, for a buffer that can't grow.
const PIECES_PART_THERE: usize = 2;

/// The most bytes that a packet grows on its way to a file: its tag, its sequence, and a byte of
/// its size.
const GROWTH: usize = 6;

/// See the module.
#[derive(Debug, Default)]
pub(in crate::session) struct Drain {
    sequences: HashMap<u16, Sequence>,
    /// Chunks freed since waiting writers were woken.
    freed: usize,
    /// The writers that wrote to the file.
    pub(in crate::session) written: HashSet<u16>,
    /// The progress of the file, in the recording that the buffer is in.
    progress: Option<Progress>,
    /// Chunks that were copied, and that the file may lack.
    held: Vec<HeldChunk>,
    held_bytes: usize,
    /// Bytes of all [`Sequence::pieces`].
    pieces_bytes: usize,
    /// Messages that earlier files do not have.
    pub(in crate::session) lost_before: u64,
    /// Those of them that somebody else has removed from one.
    pub(in crate::session) removed_before: u64,
    /// Something was copied since [`Self::take_copied`].
    has_copied: bool,
    /// The packets that the file lacks stay in the recording: the session ends.
    keeps_unwritten: bool,
}

/// The part of a chunk that was copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Copied {
    /// None: it waits for the one before.
    Nothing,
    /// The committed part; it is still being written.
    Part,
    All,
}

/// The progress of copying a sequence.
#[derive(Debug, Default)]
pub(in crate::session) struct Sequence {
    next_chunk: u32,
    /// Bytes and packets of that chunk that were copied while it was still being written.
    done: (usize, u16),
    /// The beginning of a packet that continues in that chunk.
    begun: Option<Vec<u8>>,
    /// The incremental state of the chunk. In a box, since sequences of ended threads have none,
    /// and there may be many.
    state: Option<Box<SequenceState>>,
    /// The file lacks the state.
    stale: bool,
    /// Chunks that were copied but for the beginning of that packet, with the packets before it.
    pieces: Vec<HeldChunk>,
    /// Where that packet begins: the chunk, and the number of packets before it there.
    begun_at: (u32, u16),
}

impl Drain {
    /// A drain of a buffer, which keeps `progress` if it is in a recording.
    pub(in crate::session) fn new(progress: Option<Progress>) -> Self {
        Self { progress, ..Self::default() }
    }

    /// Copies all complete chunks, and with `unfinished_too` the committed packets of chunks that
    /// are being written. Returns false if the file has no room for the next chunk: continue with
    /// another file.
    pub(in crate::session) fn copy(
        &mut self,
        core: &Core,
        file: &mut TraceFile,
        unfinished_too: bool,
    ) -> bool {
        let mut reader = core.buffer.reader();
        loop {
            let mut found = reader.find(unfinished_too);
            // Keys are looked up once, and most chunks are in order already.
            found.sort_by_cached_key(|chunk| {
                let next = self.sequences.get(&chunk.writer_id).map_or(0, |known| known.next_chunk);
                (chunk.writer_id, chunk.chunk_id.wrapping_sub(next))
            });
            let (mut released, mut waits) = (0, false);
            let mut all = found.into_iter().peekable();
            while let Some(info) = all.next() {
                all.peek().iter().for_each(|next| reader.prefetch(next));
                match self.copy_chunk(core, &mut reader, file, info) {
                    Some(Copied::Nothing) => waits = true,
                    Some(Copied::Part) => {}
                    Some(Copied::All) => released += 1,
                    None => {
                        self.commit(core, &mut reader, file);
                        return false;
                    }
                }
                if self.held_bytes > core.buffer.pages() * PAGE / HELD_PART
                    || self.held_bytes > 0 && file.is_flushed()
                {
                    self.commit(core, &mut reader, file);
                }
            }
            self.commit(core, &mut reader, file);
            self.wake_waiting(core);
            // Chunks that waited for one that was taken meanwhile can follow now. What comes later
            // is not waited for.
            if released == 0 || !waits || !unfinished_too {
                return true;
            }
        }
    }

    /// Makes sure that the system has the copied bytes, and then frees the chunks that it came
    /// from. Does nothing for a buffer that ends with the process.
    fn commit(&mut self, core: &Core, reader: &mut BufferReader<'_>, file: &mut TraceFile) {
        let Some(progress) = self.progress.as_mut().filter(|progress| progress.has_changed())
        else {
            return;
        };
        file.flush();
        if self.keeps_unwritten && file.can_be_completed() {
            return;
        }
        if file.has_failed() {
            // It lacks some of the copied bytes, the states of open chunks perhaps.
            for (&writer, sequence) in self.sequences.iter().filter(|(_, known)| known.is_open()) {
                progress.set_position(writer, sequence.position(false, true));
            }
        }
        progress.set_lost(
            self.lost_before + file.lost.messages(),
            self.removed_before + file.removed_messages(),
        );
        progress.commit(file.position());
        self.freed += self.held.len();
        self.held_bytes = 0;
        for chunk in self.held.drain(..) {
            reader.release(chunk);
        }
        core.buffer.rewind();
        if self.freed > 0 {
            self.wake_waiting(core);
        }
    }

    /// From now on, leaves what the file lacks in the recording, as if the process had died before
    /// it was copied.
    pub(in crate::session) fn keep_unwritten(&mut self) {
        self.keeps_unwritten = self.progress.is_some();
    }

    /// Returns whether the recording has the packets that the file lacks.
    pub(in crate::session) fn is_left(&self, file: &TraceFile) -> bool {
        self.keeps_unwritten && file.can_be_completed()
    }

    /// Returns whether something was copied since the last call.
    pub(in crate::session) fn take_copied(&mut self) -> bool {
        std::mem::take(&mut self.has_copied)
    }

    /// Frees the chunks that hold the beginning of a packet, since its rest will not come.
    pub(in crate::session) fn release_pieces(&mut self, core: &Core) {
        self.pieces_bytes = 0;
        let mut reader = core.buffer.reader();
        for chunk in self.sequences.values_mut().flat_map(|sequence| sequence.pieces.drain(..)) {
            reader.release(chunk);
        }
    }

    /// Copies a chunk if it is the next one of its sequence. None if the file has no room.
    fn copy_chunk(
        &mut self,
        core: &Core,
        reader: &mut BufferReader<'_>,
        file: &mut TraceFile,
        info: ChunkInfo,
    ) -> Option<Copied> {
        let ChunkInfo { writer_id, is_complete, .. } = info;
        let sequence = self.sequences.entry(writer_id).or_default();
        if info.chunk_id != sequence.next_chunk {
            return Some(Copied::Nothing);
        }
        let Some(chunk) = reader.read(&info) else { return Some(Copied::Nothing) };
        let committed = chunk.committed();
        if !file.has_room(|| sequence.size(&committed), self.written.len()) {
            chunk.put_back();
            return None;
        }
        let mut to = FileCopy { file, sequence: sequence_id(writer_id) };
        if sequence.copy(&committed, is_complete, &mut to) {
            self.written.insert(writer_id);
            self.has_copied = true;
        }
        let has_failed = to.file.has_failed();
        if let Some(progress) = &mut self.progress {
            progress.set_position(writer_id, sequence.position(is_complete, has_failed));
        }
        if is_complete {
            if self.progress.is_none() {
                if has_failed {
                    chunk.discard();
                } else {
                    drop(chunk);
                }
                self.freed += 1;
            } else if let Some(chunk) = chunk.hold() {
                self.pieces_bytes += chunk.size();
                sequence.pieces.push(chunk);
            }
            sequence.next_chunk = sequence.next_chunk.wrapping_add(1);
            sequence.next(false);
        }
        // The beginning of a packet waits for its end, as long as there is room for others.
        let of_those_there = core.buffer.pages_there() / PIECES_PART_THERE;
        let most = (core.buffer.pages() / PIECES_PART).min(of_those_there) * PAGE;
        if sequence.begun.is_none() || self.pieces_bytes > most {
            let bytes = sequence.pieces.iter().map(HeldChunk::size).sum::<usize>();
            self.pieces_bytes -= bytes;
            self.held_bytes += bytes;
            self.held.append(&mut sequence.pieces);
        }
        if self.freed >= (core.buffer.pages() / 8).min(FREED_PER_WAKE) {
            self.wake_waiting(core);
        }
        Some(if is_complete { Copied::All } else { Copied::Part })
    }

    /// Continues with a file that has the beginning of a trace and nothing of any sequence yet.
    /// Earlier files report `reported`.
    pub(in crate::session) fn begin_file(&mut self, file: &mut TraceFile, reported: &[LossCount]) {
        self.written.clear();
        self.mark_states_stale();
        if let Some(progress) = &mut self.progress {
            progress.set_file(file.path(), reported);
            for (&writer, sequence) in self.sequences.iter().filter(|(_, known)| known.stale) {
                progress.set_position(writer, sequence.position(false, true));
            }
            file.flush();
            progress.commit(file.position());
        }
    }

    /// Continues with a file that may lack the states of sequences.
    pub(in crate::session) fn mark_states_stale(&mut self) {
        for sequence in self.sequences.values_mut() {
            sequence.stale = sequence.is_open();
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
pub(in crate::session) trait PacketSink {
    /// Takes a packet that was split.
    fn packet(&mut self, packet: &[u8]);

    /// Takes the first `count` packets of `sized`, each with its size before it; all, if no packet
    /// follows some.
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
    pub(in crate::session) fn copy(
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
            self.begun_at = (self.next_chunk, committed.count.saturating_sub(1));
        } else if complete {
            self.begun = None;
        }
        self.done = (committed.bytes.len(), committed.count);
        some
    }

    /// Passes to `to` what [`Self::copy`] would, and leaves all as it is.
    pub(in crate::session) fn preview(
        &self,
        committed: &Committed<'_>,
        complete: bool,
        to: &mut impl PacketSink,
    ) {
        let Self { next_chunk, done, begun_at, .. } = *self;
        let begun = self.begun.clone();
        let mut same = Self { next_chunk, done, begun, begun_at, ..Self::default() };
        same.copy(committed, complete, to);
    }

    /// Returns whether it goes on in a chunk of which something was copied.
    fn is_open(&self) -> bool {
        self.begun.is_some() || self.done.1 > 0
    }

    /// Returns the first packet that is not copied, in a chunk that was copied as far as `done`
    /// says. `lacks`: the file lacks the copied packets.
    fn position(&self, is_complete: bool, lacks: bool) -> Position {
        let is_stale = lacks || self.stale;
        match (&self.begun, is_complete) {
            (Some(_), _) => {
                let (chunk, packets) = self.begun_at;
                Position { chunk, packets, is_stale: is_stale && packets > 0 }
            }
            (None, true) => {
                Position { chunk: self.next_chunk.wrapping_add(1), ..Position::default() }
            }
            (None, false) => {
                let packets = self.done.1;
                Position { chunk: self.next_chunk, packets, is_stale: is_stale && packets > 0 }
            }
        }
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
    pub(in crate::session) fn next(&mut self, gap: bool) {
        self.done = (0, 0);
        self.stale &= self.begun.is_some();
        // A chunk sets up its own state, but a packet that continues in it needs that of the one
        // before.
        self.state.take_if(|_| self.begun.is_none());
        if gap {
            self.begun = None;
        }
    }
}
