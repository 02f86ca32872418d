//! Messages that rules held back, among the counters of losses: suppressed by a limit, passed over
//! by sampling, or the same as the one before, which are counted for each message.
//!
//! They are taken apart from losses, since a session reports them while it goes on.
//!
//! Invariant: repeats of a message that finds no slot of its own are counted for its group.

use super::slot::{LossSlot, key_of_message};
use super::{LossCount, LossCounters, SLOTS};
use crate::sync::Ordering;
use protolog_core::{Level, LossCause, Unwritten};

/// So many slots may be for one message each, whose repeats they count.
const MESSAGE_SLOTS: usize = SLOTS / 2;

impl LossCounters {
    /// Counts a message of group `group` that was suppressed at this time, in nanoseconds of
    /// BOOTTIME. Returns whether it is the first since those were taken.
    #[cold]
    pub(crate) fn add_limited(&self, group: u32, now: u64) -> bool {
        let lost = LossCount::new(group, LossCause::Limited, 1);
        self.add_held_back(LossCount { times: Some((now, now)), ..lost })
    }

    /// Counts a message of this group and level that sampling passed over. Returns whether it is
    /// the first since those were taken.
    #[cold]
    pub(crate) fn add_passed_over(&self, group: u32, level: Level) -> bool {
        self.add_held_back(LossCount::new(group, Unwritten::PassedOver(Some(level)), 1))
    }

    /// Counts a message of group `group` that says the same as the one before it of its id, at this
    /// time. Returns whether it is the first since those were taken.
    #[cold]
    pub(crate) fn add_repeated(&self, group: u32, message: u64, now: u64) -> bool {
        let one = LossCount::new(group, LossCause::Repeated, 1);
        self.add_held_back(LossCount { times: Some((now, now)), message, ..one })
    }

    /// Returns whether repeats of the message with this id, of group `group`, were counted.
    #[cold]
    pub(crate) fn has_repeated(&self, group: u32, message: u64) -> bool {
        let slot = self.slot_of_message(group, message);
        slot.is_some_and(|slot| slot.count.load(Ordering::Relaxed) > 0)
    }

    /// Returns how many of them no packet of a chunk reports.
    #[cold]
    pub(crate) fn unrecorded(&self, group: u32, message: u64) -> u64 {
        let slot = self.slot_of_message(group, message);
        slot.map_or(0, LossSlot::unrecorded)
    }

    /// Notes that a packet of a chunk which may be overwritten reports so many of them.
    #[cold]
    pub(crate) fn note_recorded(&self, group: u32, message: u64, count: u64) {
        if let Some(slot) = self.slot_of_message(group, message) {
            slot.note_recorded(count);
        }
    }

    /// Takes the repeats of the message with this id, of group `group`, if there are any.
    #[cold]
    pub(crate) fn take_repeated(&self, group: u32, message: u64) -> Option<LossCount> {
        let slot = self.slot_of_message(group, message)?;
        let mut taken = None;
        slot.offer(slot.kind()?, &mut |lost| {
            taken = Some(lost);
            true
        });
        taken
    }

    /// Returns whether there are messages that rules held back, and that were not taken yet.
    pub(crate) fn has_held_back(&self) -> bool {
        self.has_pending()
            && self.slots.iter().any(|slot| {
                slot.kind().is_some_and(|kind| is_held_back(kind.cause))
                    && slot.count.load(Ordering::Relaxed) > 0
            })
    }

    /// Takes the messages that rules held back, and leaves other losses. Those that repeat others
    /// are left as well, unless it is known that the trace has messages of the writer.
    pub(crate) fn take_held_back(&self, has_messages: bool) -> Vec<LossCount> {
        let mut taken = Vec::new();
        if !self.has_pending() {
            return taken;
        }
        let is_taken =
            |cause| is_held_back(cause) && (has_messages || cause != LossCause::Repeated);
        for slot in &self.slots {
            if let Some(kind) = slot.kind().filter(|kind| is_taken(kind.cause)) {
                slot.offer(kind, &mut |lost| {
                    taken.push(lost);
                    true
                });
            }
        }
        taken
    }

    /// Returns the slot for repeats of a message; none where there is none left.
    pub(super) fn slot_of_message(&self, group: u32, message: u64) -> Option<&LossSlot> {
        let key = key_of_message(group, message);
        self.slots.iter().take(MESSAGE_SLOTS).find(|slot| slot.claim_of_message(key, message))
    }

    fn add_held_back(&self, one: LossCount) -> bool {
        let is_first = self.restore(one);
        if let Some(mirror) = &self.mirror {
            mirror.add(one.group, one.cause, one.count);
        }
        is_first
    }
}

/// Returns whether a message was held back: suppressed by a limit, passed over by sampling, or the
/// same as the one before.
fn is_held_back(cause: Unwritten) -> bool {
    cause.lost().is_none_or(|it| matches!(it, LossCause::Limited | LossCause::Repeated))
}
