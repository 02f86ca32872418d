//! The enabled levels of the groups that were asked for first, so that most answers need no comparing of names.
//!
//! Invariant: an entry is written once, by compare-and-swap, and its answer never changes: a session's filter is fixed.

use crate::level::GroupInfo;
use crate::sync::{AtomicU64, Ordering};
use std::ptr;

/// Slots of the table.
const SLOTS: usize = 128;

/// Slots in which a group may be.
const PROBES: usize = 4;

/// Addresses leave the upper byte of a word free, which is where the levels are.
const ADDRESS: u64 = u64::MAX >> 8;
const LEVELS_SHIFT: u32 = 56;

/// See the module.
#[derive(Debug)]
pub(super) struct LevelCache([AtomicU64; SLOTS]);

impl LevelCache {
    /// An empty table.
    pub(super) fn new() -> Self {
        Self([const { AtomicU64::new(0) }; SLOTS])
    }

    /// Returns the levels (bit = severity) kept for this group, or those of `answer`, which are kept where there is room.
    pub(super) fn get_or_insert(
        &self,
        group: &'static GroupInfo,
        answer: impl FnOnce() -> u8,
    ) -> u8 {
        let address = ptr::from_ref(group).addr() as u64 & ADDRESS;
        let start = (address / size_of::<GroupInfo>() as u64) as usize;
        let slots = || (start..start + PROBES).map(|slot| &self.0[slot % SLOTS]);
        for slot in slots() {
            let word = slot.load(Ordering::Relaxed);
            if word & ADDRESS == address {
                return (word >> LEVELS_SHIFT) as u8;
            }
        }
        let levels = answer();
        let word = address | (levels as u64) << LEVELS_SHIFT;
        let free = |slot: &AtomicU64| {
            slot.compare_exchange(0, word, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        };
        let _ = slots().any(free);
        levels
    }
}
