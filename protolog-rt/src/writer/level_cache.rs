//! The enabled levels of the groups that were asked for first, so that most answers need no
//! comparing of names.
//!
//! Invariant: an entry is written once, by compare-and-swap, and its answer never changes: a
//! session's filter is fixed.

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

    /// Returns the levels (bit = severity) kept for this group, if there are any.
    #[inline]
    pub(super) fn get(&self, group: &'static GroupInfo) -> Option<u8> {
        let address = address_of(group);
        let entry = |slot: &AtomicU64| slot.load(Ordering::Relaxed);
        let mut entries = self.slots(address).map(entry);
        let word = entries.find(|word| word & ADDRESS == address)?;
        Some((word >> LEVELS_SHIFT) as u8)
    }

    /// Keeps the levels of a group, where there is room.
    pub(super) fn insert(&self, group: &'static GroupInfo, levels: u8) {
        let address = address_of(group);
        let word = address | (levels as u64) << LEVELS_SHIFT;
        let free = |slot: &AtomicU64| {
            slot.compare_exchange(0, word, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        };
        let _ = self.slots(address).any(free);
    }

    /// Returns the slots in which a group may be.
    #[inline]
    fn slots(&self, address: u64) -> impl Iterator<Item = &AtomicU64> {
        let start = (address / size_of::<GroupInfo>() as u64) as usize;
        (start..start + PROBES).map(|slot| &self.0[slot % SLOTS])
    }
}

#[inline]
fn address_of(group: &'static GroupInfo) -> u64 {
    ptr::from_ref(group).addr() as u64 & ADDRESS
}
