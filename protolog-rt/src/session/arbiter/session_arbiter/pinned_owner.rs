//! A session as the owner of its pinned ring.
//!
//! Invariant: what comes to a session as a whole comes to the owner of its usual buffer: events,
//! groups of new libraries.

use crate::loss::{LossCounters, Mirror};
use crate::session::arbiter::session_arbiter::SessionOwner;
use crate::sync::AtomicU64;
use crate::writer::owner::Owner;
use protolog_shmem::{Buffer, WriteChunk};
use std::sync::Arc;

/// See the module.
#[derive(Debug)]
pub(super) struct PinnedOwner(pub(super) Arc<SessionOwner>);

impl Owner for PinnedOwner {
    fn enabled_levels(&self, group: &str) -> u8 {
        self.0.filter.levels(group) & self.0.pinned_levels(group)
    }

    #[cfg(feature = "log")]
    fn levels_of_any_group(&self) -> u8 {
        self.0.levels_of_any_group()
    }

    fn is_scoped(&self) -> bool {
        self.0.is_scoped()
    }

    fn collects_stacks(&self) -> bool {
        self.0.collects_stacks()
    }

    fn collects_stack(&self, group: &str) -> bool {
        self.0.collects_stack(group)
    }

    fn add_group(&self) {}

    fn pinned_levels(&self, group: &str) -> u8 {
        self.0.pinned_levels(group)
    }

    fn wake(&self) {
        self.0.wake();
    }

    fn wait_for_chunk(
        &self,
        _: &Buffer,
        _: &mut dyn FnMut() -> Option<WriteChunk>,
    ) -> Option<WriteChunk> {
        // A ring has one.
        None
    }

    fn count_messages(&self, sequence: u16, new: u64, all: u64) {
        self.0.count_messages(sequence, new, all);
    }

    fn count_forgotten(&self, sequence: u16, messages: u64) {
        self.0.count_forgotten(sequence, messages);
    }

    fn note_counters(&self, sequence: u16, counters: Option<(&LossCounters, &AtomicU64)>) {
        self.0.note_counters(sequence, counters);
    }

    fn mirror(&self) -> Option<Arc<dyn Mirror>> {
        self.0.mirror()
    }

    fn mirror_of_writers(&self) -> Option<Arc<dyn Mirror>> {
        self.0.mirror_of_writers()
    }
}
