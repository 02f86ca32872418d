//! The progress of a trace file, kept in the recording that the session's buffer is in: so that the
//! two together hold each committed message once, whenever the process dies.
//!
//! A *generation* is the path of the file with the losses that earlier files report, its valid
//! bytes, and the position of each writer. There are two copies of everything, for even and for odd
//! generations; a new generation fills the copy that does not count, and then counts by one store.
//! The positions that changed in one generation are therefore written in the next one, too.
//!
//! Invariant: packets before the positions are in the valid bytes; chunks are freed after the
//! generation that has them counts.

use crate::loss::{LossCause, LossCount};
use crate::session::recording::state::RecordingState;
use protolog_core::recorder::{
    GENERATION_AT, POSITIONS, Position, REPORTED_LOSS_SIZE, TRACE_BYTES_AT, TRACE_FILE_AT,
    TRACE_FILE_SIZE, other_losses_at,
};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Bytes of a position.
const WORD: usize = 8;

/// See the module.
#[derive(Debug)]
pub(in crate::session) struct Progress {
    state: Arc<RecordingState>,
    generation: u64,
    /// The newest position of each writer, by its id.
    positions: Vec<u64>,
    /// The ids whose positions have changed since the last generation, all between them included.
    changed: Range<usize>,
    /// The same, between the last two generations.
    changed_before: Range<usize>,
    /// Path and losses as the file has them.
    file: Vec<u8>,
    /// The copy for even, and that for odd generations lack them.
    lacks_file: [bool; 2],
}

impl Progress {
    /// The progress of a file in the buffer around which `state` is.
    pub(in crate::session) fn new(state: Arc<RecordingState>) -> Self {
        Self {
            state,
            generation: 0,
            positions: Vec::new(),
            changed: 0..0,
            changed_before: 0..0,
            file: Vec::new(),
            lacks_file: [false; 2],
        }
    }

    /// From the next generation on, the trace file is `path`, and earlier files report `reported`.
    pub(in crate::session) fn set_file(&mut self, path: &Path, reported: &[LossCount]) {
        self.file = encode_file(path.as_os_str().as_encoded_bytes(), reported);
        self.lacks_file = [true; 2];
    }

    /// Notes the number of messages that no file has, and that of those among them that another
    /// program removed.
    pub(in crate::session) fn set_lost(&self, messages: u64, removed: u64) {
        let write_failed = messages.saturating_sub(removed);
        for (cause, count) in
            [(LossCause::WriteFailed, write_failed), (LossCause::Removed, removed)]
        {
            if let Some(at) = other_losses_at(cause as u32) {
                self.state.store(at, count);
            }
        }
    }

    /// Moves a writer's position.
    pub(in crate::session) fn set_position(&mut self, writer: u16, position: Position) {
        let at = writer as usize;
        if self.positions.len() <= at {
            self.positions.resize(at + 1, 0);
        }
        self.positions[at] = position.to_word();
        self.changed = join(&self.changed, &(at..at + 1));
    }

    /// Returns whether a position has changed since the last generation.
    pub(in crate::session) fn has_changed(&self) -> bool {
        !self.changed.is_empty()
    }

    /// Makes a new generation count: the file has `bytes` valid bytes. All of it is memory, so this
    /// can't fail, even if the disk is full or the limits of the process are reached.
    pub(in crate::session) fn commit(&mut self, bytes: u64) {
        let next = self.generation + 1;
        let copy = (next % 2) as usize;
        if self.lacks_file[copy] {
            self.state.store_bytes(TRACE_FILE_AT + copy * TRACE_FILE_SIZE, &self.file);
            self.lacks_file[copy] = false;
        }
        let dirty = join(&self.changed, &self.changed_before);
        if let Some(words) = self.positions.get(dirty.clone()) {
            self.state.store_positions(copy * POSITIONS + dirty.start, words);
        }
        self.state.store(TRACE_BYTES_AT + copy * WORD, bytes);
        self.state.store(GENERATION_AT, next);
        self.generation = next;
        self.changed_before = std::mem::replace(&mut self.changed, 0..0);
    }
}

/// Path and losses with their lengths. A path that is too long is left out, and losses that have no
/// room.
fn encode_file(path: &[u8], reported: &[LossCount]) -> Vec<u8> {
    let path = Some(path).filter(|path| path.len() + 4 <= TRACE_FILE_SIZE).unwrap_or_default();
    let room = (TRACE_FILE_SIZE - 4 - path.len()) / REPORTED_LOSS_SIZE;
    let reported = reported.get(..room).unwrap_or(reported);
    let mut bytes = Vec::with_capacity(TRACE_FILE_SIZE);
    bytes.extend((path.len() as u16).to_ne_bytes());
    bytes.extend(path);
    bytes.extend((reported.len() as u16).to_ne_bytes());
    for LossCount { group, cause, count, .. } in reported {
        bytes.extend(group.to_ne_bytes());
        bytes.extend(cause.number().to_ne_bytes());
        bytes.extend(count.to_ne_bytes());
    }
    bytes
}

/// The smallest range that has both.
fn join(one: &Range<usize>, other: &Range<usize>) -> Range<usize> {
    match (one.is_empty(), other.is_empty()) {
        (true, _) => other.clone(),
        (_, true) => one.clone(),
        _ => one.start.min(other.start)..one.end.max(other.end),
    }
}
