//! The readers of a session's ring and of its pinned one, as one reader: writers of the two have
//! different ids.
//!
//! Invariant: they are locked in this order, by all who lock both.

use crate::session::arbiter::session_arbiter::Core;
use protolog_core::chunk::FIRST_PINNED_WRITER_ID;
use protolog_shmem::{BufferReader, ChunkInfo, PinnedChunk};

/// See the module.
pub(super) struct RingReaders<'a> {
    usual: BufferReader<'a>,
    pinned: Option<BufferReader<'a>>,
}

impl<'a> RingReaders<'a> {
    /// Returns the readers of a session's rings, as soon as nobody else has them.
    pub(super) fn new(core: &'a Core) -> Self {
        let usual = core.buffer.reader();
        Self { usual, pinned: core.pinned().map(|pinned| pinned.buffer.reader()) }
    }

    /// Finds every chunk that has something to read.
    pub(super) fn find(&mut self) -> Vec<ChunkInfo> {
        let mut all = self.usual.find(true);
        all.extend(self.pinned.iter_mut().flat_map(|pinned| pinned.find(true)));
        all
    }

    /// Prefetches a chunk that is read soon.
    pub(super) fn prefetch(&self, info: &ChunkInfo) {
        match &self.pinned {
            Some(pinned) if info.writer_id >= FIRST_PINNED_WRITER_ID => pinned.prefetch(info),
            _ => self.usual.prefetch(info),
        }
    }

    /// Keeps a chunk from being taken by a writer meanwhile; none where it has been taken since it
    /// was found.
    pub(super) fn pin(&mut self, info: &ChunkInfo) -> Option<PinnedChunk<'_>> {
        match &mut self.pinned {
            Some(pinned) if info.writer_id >= FIRST_PINNED_WRITER_ID => pinned.pin(info),
            _ => self.usual.pin(info),
        }
    }
}
