//! A ring of its own for messages that a session pins, so that no other message overwrites them.
//!
//! ```text
//! session ──> Arbiter (Ring::WithPinned)  ──> the thread's usual writer
//!               └──> Arbiter (Ring::Pinned) ──> its writer of pinned messages
//! ```
//!
//! The pinned ring has an arbiter like any session's, which is among those that run: so each thread
//! has a second writer, with a sequence of its own, and what starts, stops and forks of a session
//! happens to both. Calls of levels that are pinned never take the fast path, so a thread writes
//! directly to its usual writer as if there were no other one.
//!
//! Invariants
//! - Of a message one of the two arbiters has a record, of a span the usual one.
//! - Writers of the two have ids of different ranges, so that a reader takes their chunks as those
//!   of one session.

use super::super::level_cache::LevelCache;
use super::super::owner::Owner;
use super::Arbiter;
use crate::level::GroupInfo;
use crate::sync::{AtomicU16, Ordering};
use protolog_core::chunk::{FIRST_PINNED_WRITER_ID, MAX_WRITER_ID};
use protolog_core::{FillPolicy, Level};
use protolog_shmem::Buffer;
use std::sync::Arc;

/// The part that an arbiter has in its session.
#[derive(Debug)]
pub(super) enum Ring {
    /// All messages.
    Whole,
    /// Those that are not pinned.
    WithPinned(Arc<Arbiter>),
    /// Those that are pinned, of the groups that were asked for.
    Pinned(Box<LevelCache>),
}

impl Arbiter {
    /// Shares the buffer of pinned messages on behalf of `owner`.
    pub(crate) fn of_pinned(
        buffer: Buffer,
        max_string_bytes: usize,
        owner: Arc<dyn Owner>,
    ) -> Self {
        let mut arbiter = Self::new(buffer, max_string_bytes, owner);
        arbiter.last_id = AtomicU16::new(FIRST_PINNED_WRITER_ID - 1);
        arbiter.ring = Ring::Pinned(Box::new(LevelCache::new()));
        arbiter
    }

    /// The same, with an arbiter for the messages that are pinned.
    pub(crate) fn with_pinned(mut self, pinned: Option<Arc<Self>>) -> Self {
        self.ring = pinned.map_or(Ring::Whole, Ring::WithPinned);
        self
    }

    /// Returns the arbiter of the session's pinned messages, if it has one.
    pub(crate) fn pinned(&self) -> Option<&Arc<Self>> {
        match &self.ring {
            Ring::WithPinned(pinned) => Some(pinned),
            Ring::Whole | Ring::Pinned(_) => None,
        }
    }

    /// Returns whether it is that of pinned messages.
    pub(crate) fn is_pinned(&self) -> bool {
        matches!(self.ring, Ring::Pinned(_))
    }

    /// Iterates over the arbiters of a session, of which this is the first.
    pub(crate) fn rings(self: &Arc<Self>) -> impl Iterator<Item = &Arc<Self>> {
        [self].into_iter().chain(self.pinned())
    }

    /// Returns whether this is the arbiter of `session`, or that of its pinned messages.
    pub(in crate::writer) fn is_of(self: &Arc<Self>, session: &Arc<Self>) -> bool {
        session.rings().any(|ring| Arc::ptr_eq(ring, self))
    }

    /// Returns whether the session records messages of a group at a level, pinned or not.
    pub(in crate::writer) fn is_enabled_in_session(
        &self,
        group: &'static GroupInfo,
        level: Level,
    ) -> bool {
        let is_pinned = |pinned: &Arc<Self>| pinned.is_enabled(group, level);
        self.is_enabled(group, level) || self.pinned().is_some_and(is_pinned)
    }

    /// Returns whether a message of a group at a level is for this ring. One for all sessions is
    /// for one ring of each.
    pub(in crate::writer) fn takes(
        &self,
        group: &'static GroupInfo,
        level: Level,
        for_all: bool,
    ) -> bool {
        match &self.ring {
            _ if !for_all => self.is_enabled(group, level),
            Ring::Whole => true,
            Ring::WithPinned(pinned) => !pinned.pins(group, level),
            Ring::Pinned(_) => self.pins(group, level),
        }
    }

    /// Returns whether a span of a group at a level is for this ring.
    pub(in crate::writer) fn takes_span(&self, group: &'static GroupInfo, level: Level) -> bool {
        !self.is_pinned() && self.is_enabled_in_session(group, level)
    }

    /// Returns whether messages of a group at a level are pinned, recorded or not.
    fn pins(&self, group: &'static GroupInfo, level: Level) -> bool {
        let Ring::Pinned(known) = &self.ring else { return false };
        let levels = known.get(group).unwrap_or_else(|| {
            let levels = self.owner.pinned_levels(group.name);
            known.insert(group, levels);
            levels
        });
        levels & 1 << level.severity() != 0
    }

    /// Returns the levels (bit = severity) that are recorded of a group in this ring, if it is that
    /// of pinned messages.
    pub(in crate::writer) fn pinned_levels(&self, group: &'static GroupInfo) -> u8 {
        if self.is_pinned() { self.enabled_levels(group) } else { 0 }
    }

    /// Returns the id of the last writer that there may be.
    pub(in crate::writer) fn max_writer_id(&self) -> u16 {
        match self.ring {
            Ring::WithPinned(_) => FIRST_PINNED_WRITER_ID - 1,
            Ring::Whole | Ring::Pinned(_) => MAX_WRITER_ID,
        }
    }

    /// Forgets the writers of which nothing is left, where there are many: a thread that is new may
    /// wait and allocate, and its first message need not be for this ring.
    pub(in crate::writer) fn forget_if_many(&self) {
        let mut writers = self.writers();
        let is_many = writers.live.len() >= writers.forget_at.max(64);
        if is_many && self.buffer.fill_policy() != FillPolicy::Stream {
            self.forget_overwritten(&mut writers);
        }
    }

    /// Returns the number of sequences that were given out.
    pub(in crate::writer) fn sequences(&self) -> u16 {
        let before = if self.is_pinned() { FIRST_PINNED_WRITER_ID - 1 } else { 0 };
        self.last_id.load(Ordering::Relaxed) - before
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::super::thread_state::{READY, ThreadState};
    use super::super::super::{Head, write_packet, write_to_rings};
    use crate::level;
    use crate::session::Session;
    use crate::session::pinned::Pinned;
    use crate::site::GroupLevel;
    use protolog_core::Level;
    use std::time::{Duration, Instant};

    /// A thread of a session that pins messages goes on to write others directly.
    #[test]
    fn other_messages_take_the_fast_path() {
        let dir = protolog_testkit::temp_dir();
        let group = level::create_group("t::Log::Pinned", "Pinned");
        let head = |level| Head { id: 1, group_level: GroupLevel::new(group, level) };
        let builder = Session::builder().file(dir.path().join("app.pftrace")).enable_all();
        let builder = builder.pin(Pinned::new().level(Level::Error));
        let session = builder.start().expect("start");
        let phases = move || {
            write_packet(head(Level::Debug), &());
            let phase = ThreadState::with(ThreadState::phase);
            write_to_rings(head(Level::Error), &());
            (phase, ThreadState::with(ThreadState::phase))
        };
        // Other tests have sessions beside this one.
        let end = Instant::now() + Duration::from_secs(60);
        let is_direct =
            || std::thread::spawn(phases).join().expect("the thread ends") == (READY, READY);
        while !is_direct() {
            assert!(Instant::now() < end, "it is the only session, some time");
        }
        session.stop().expect("stop");
    }
}
