//! The levels of a group that sessions pin: their messages go into a ring of their own, which the
//! thread's usual writer does not write to.
//!
//! Invariant: a call whose level is pinned takes the slow path, as one that a trigger waits for, so
//! that a call which is not pinned need not ask.

use super::GroupInfo;
use core::sync::atomic::AtomicU8;
use core::sync::atomic::Ordering::Relaxed;
use protolog_core::Level;

/// The levels (bit = severity) that any session pins.
#[derive(Debug)]
pub(super) struct PinnedLevels(AtomicU8);

impl PinnedLevels {
    /// No levels.
    pub(super) const fn none() -> Self {
        Self(AtomicU8::new(0))
    }
}

impl GroupInfo {
    /// Returns true if a session may pin messages of this level.
    #[inline]
    pub(crate) fn is_pinned(&self, level: Level) -> bool {
        self.pinned.0.load(Relaxed) & 1 << level.severity() != 0
    }

    /// Sets the levels (bit = severity) that sessions pin. The registry is locked.
    pub(in crate::level) fn set_pinned(&self, levels: u8) {
        self.pinned.0.store(levels, Relaxed);
    }
}
