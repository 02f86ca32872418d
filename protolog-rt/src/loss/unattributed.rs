//! Losses of threads that have no sequence, since they end, or are within another message.
//!
//! Invariant: they are never taken: each session compares them with its own snapshot.

use super::slot::key_at_level;
use super::{LossCount, LossCounters, REST, SLOTS, rest_index};
use crate::sync::{AtomicU64, Ordering};
use protolog_core::{Level, LossCause, Unwritten};

/// Losses of threads that had no sequence to count them on, by group, level and cause, since the
/// program started.
#[derive(Debug)]
pub(crate) struct UnattributedLosses(LossCounters);

/// The values of [`UnattributedLosses`] at some time.
#[derive(Clone, Debug)]
pub(crate) struct UnattributedSnapshot {
    slots: [u64; SLOTS],
    rest: [u64; REST.len()],
}

impl UnattributedLosses {
    /// Creates counters at zero.
    pub(crate) const fn new() -> Self {
        Self(LossCounters::new())
    }

    /// Counts a message.
    #[cold]
    pub(crate) fn add(&self, group: u32, level: Level, cause: Unwritten) {
        self.0.add_key(key_at_level(group, level, cause), LossCount::new(group, cause, 1));
    }

    /// Counts a message of a group that is not known.
    pub(crate) fn add_of_unknown_group(&self, cause: LossCause) {
        self.0.rest[rest_index(cause.into())].fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the present values.
    pub(crate) fn snapshot(&self) -> UnattributedSnapshot {
        UnattributedSnapshot {
            slots: self.0.slots.each_ref().map(|slot| slot.count.load(Ordering::Relaxed)),
            rest: self.0.rest.each_ref().map(|count| count.load(Ordering::Relaxed)),
        }
    }

    /// Returns the losses since `snapshot`, and moves it to the present: those of groups (by id)
    /// and levels (by severity) for which `is_enabled` returns true, and those of groups that are
    /// not known.
    pub(crate) fn take_since(
        &self,
        snapshot: &mut UnattributedSnapshot,
        is_enabled: impl Fn(u32, u8) -> bool,
    ) -> Vec<LossCount> {
        let mut all = Vec::new();
        let new = |counter: &AtomicU64, before: &mut u64| {
            let now = counter.load(Ordering::Relaxed);
            now.wrapping_sub(std::mem::replace(before, now))
        };
        for (slot, before) in self.0.slots.iter().zip(&mut snapshot.slots) {
            let count = new(&slot.count, before);
            let is_wanted = |kind: &LossCount| is_enabled(kind.group, slot.severity());
            all.extend(slot.kind().filter(is_wanted).map(|kind| LossCount { count, ..kind }));
        }
        for ((counter, before), cause) in self.0.rest.iter().zip(&mut snapshot.rest).zip(REST) {
            all.push(LossCount::new(0, cause, new(counter, before)));
        }
        all.retain(|counted| counted.count > 0);
        all
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn unattributed_losses_go_to_each_session_that_enables_them() {
        let losses = UnattributedLosses::new();
        losses.add(7, Level::Debug, LossCause::ThreadExit.into());
        let (before, later) = (losses.snapshot(), losses.snapshot());
        losses.add(7, Level::Debug, LossCause::ThreadExit.into());
        losses.add(7, Level::Wtf, LossCause::ThreadExit.into());
        losses.add(8, Level::Wtf, LossCause::Reentrant.into());
        let parts = |loss: &LossCount| (loss.group, loss.cause, loss.count);
        let since = |snapshot, is_enabled: fn(u32, u8) -> bool| {
            let mut moving = UnattributedSnapshot::clone(snapshot);
            let taken =
                losses.take_since(&mut moving, is_enabled).iter().map(parts).collect::<Vec<_>>();
            assert_eq!(losses.take_since(&mut moving, is_enabled), [], "once");
            taken
        };
        let (exit, reentrant) =
            (Unwritten::from(LossCause::ThreadExit), Unwritten::from(LossCause::Reentrant));
        assert_eq!(since(&before, |_, _| true), [(7, exit, 1), (7, exit, 1), (8, reentrant, 1)]);
        assert_eq!(
            since(&later, |_, level| level == Level::Wtf.severity()),
            [(7, exit, 1), (8, reentrant, 1)]
        );
        assert_eq!(since(&later, |group, _| group == 9), []);
        assert_eq!(since(&losses.snapshot(), |_, _| true), []);
    }
}
