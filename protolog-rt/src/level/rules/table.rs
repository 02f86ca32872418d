//! The calls that have a rule, by key, and the filter that most other calls are decided by.
//!
//! A call of a group with rules tests one word of the filter: 1,024 words for each level, by the
//! lowest bits of the id. A word has the bits that such a call tests anyway, so that a call without
//! a rule is off where its group is; and one more bit where a call with a rule has it. Then the
//! table decides.
//!
//! Invariants
//! - One thread changes both at a time.
//! - A key never leaves its table, and stands in it after its state. So a lookup takes no lock.
//! - *found*: a call has its state in the table before its bit in the filter, and its group is
//!   marked after both.

use crate::level::page::call_bits;
use crate::sync::{AtomicU64, AtomicUsize, Ordering};
use crate::sys::once::ForkOnce;
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32};
use protolog_core::Level;
use protolog_core::control::switch::SITE_RULES;

/// Words of the filter for each level.
const WORDS: usize = 1024;

type Row = [AtomicU16; WORDS];

static FILTER: [Row; 6] = [
    row(Level::Verbose),
    row(Level::Debug),
    row(Level::Info),
    row(Level::Warn),
    row(Level::Error),
    row(Level::Wtf),
];

/// Tables of 2, 4, 8, … entries, each made when it is needed first.
static TABLES: [ForkOnce<Box<[TableEntry]>>; 32] = [const { ForkOnce::new() }; 32];

/// The number of the table in use.
static CURRENT: AtomicUsize = AtomicUsize::new(0);

/// A call with a rule, or one that had one.
#[derive(Debug, Default)]
struct TableEntry {
    /// 0 while unused; set last.
    key: AtomicU64,
    state: AtomicU8,
    /// The buckets of its limits; 0 for none.
    limits: [AtomicU32; 2],
}

/// A call with a rule, to be stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ruled {
    /// The address of its note, or its id.
    pub(super) key: u64,
    pub(super) id: u64,
    pub(super) level: Level,
    pub(super) state: u8,
    /// Rules switch it on, so that it is to be asked for though its group is off.
    pub(super) is_on: bool,
    pub(super) limits: [u32; 2],
}

/// Returns the word of the filter for a call with this id and level.
#[allow(clippy::inline_always)] // Its address is a constant in a log call.
#[inline(always)]
pub(in crate::level) fn filter(id: u64, level: Level) -> &'static AtomicU16 {
    &FILTER[level as usize % FILTER.len()][id as usize % WORDS]
}

/// Returns the state of the call with this key, and the buckets of its limits; 0 without a rule.
pub(super) fn get(key: u64) -> (u8, [u32; 2]) {
    let table = TABLES.get(CURRENT.load(Ordering::Acquire)).and_then(ForkOnce::get);
    let state = |entry: &TableEntry| {
        let limits = entry.limits.each_ref().map(|limit| limit.load(Ordering::Relaxed));
        (entry.state.load(Ordering::Relaxed), limits)
    };
    table.and_then(|table| find(table, key)).map_or((0, [0; 2]), state)
}

/// Stores what becomes of these calls. All others have no rule.
pub(super) fn set_all(ruled: &[Ruled]) {
    let now = CURRENT.load(Ordering::Relaxed);
    let old = TABLES.get(now).and_then(ForkOnce::get);
    let is_new = |key: u64| old.and_then(|table| find(table, key)).is_none();
    let used = old
        .map_or(0, |table| table.iter().filter(|it| it.key.load(Ordering::Relaxed) != 0).count());
    let needed = used + ruled.iter().filter(|call| is_new(call.key)).count();
    // At most half of a table is in use.
    let number = now.max((needed * 2).next_power_of_two().trailing_zeros() as usize).max(1);
    let Some(place) = TABLES.get(number) else { return };
    let make = || (0..1_usize << number).map(|_| TableEntry::default()).collect();
    let table = place.get_or_make(make);
    for call in ruled {
        put(table, call);
    }
    let is_ruled: std::collections::HashSet<u64> = ruled.iter().map(|call| call.key).collect();
    CURRENT.store(number, Ordering::Release);
    let mut is_special = [[false; WORDS]; 6];
    // A call that rules do not switch on is asked for where its group is on.
    for call in ruled.iter().filter(|call| call.is_on) {
        is_special[call.level as usize][call.id as usize % WORDS] = true;
    }
    for (row, level) in FILTER.iter().zip(Level::ALL) {
        for (word, special) in row.iter().zip(&is_special[level as usize]) {
            let bits = call_bits(level) | if *special { SITE_RULES } else { 0 };
            if word.load(Ordering::Relaxed) != bits as u16 {
                word.store(bits as u16, Ordering::Release);
            }
        }
    }
    // Those that have no rule any more. Their groups may be marked still.
    for entry in table {
        let key = entry.key.load(Ordering::Relaxed);
        if key != 0 && !is_ruled.contains(&key) {
            entry.store(0, [0; 2]);
        }
    }
}

impl TableEntry {
    fn store(&self, state: u8, limits: [u32; 2]) {
        self.state.store(state, Ordering::Relaxed);
        for (place, limit) in self.limits.iter().zip(limits) {
            place.store(limit, Ordering::Relaxed);
        }
    }
}

/// The words for calls of a level, none of which has a rule.
const fn row(level: Level) -> Row {
    let mut row = [const { AtomicU16::new(0) }; WORDS];
    let mut index = 0;
    while index < WORDS {
        row[index] = AtomicU16::new(call_bits(level) as u16);
        index += 1;
    }
    row
}

fn put(table: &[TableEntry], call: &Ruled) {
    let key = call.key;
    if let Some(entry) = probe(table, key)
        .find(|entry| matches!(entry.key.load(Ordering::Relaxed), it if it == 0 || it == key))
    {
        entry.store(call.state, call.limits);
        entry.key.store(key, Ordering::Release);
    }
}

fn find(table: &[TableEntry], key: u64) -> Option<&TableEntry> {
    for entry in probe(table, key) {
        match entry.key.load(Ordering::Acquire) {
            0 => return None,
            it if it == key => return Some(entry),
            _ => {}
        }
    }
    None
}

/// Iterates over the entries that a key may be in; the first unused one ends the search.
fn probe(table: &[TableEntry], key: u64) -> impl Iterator<Item = &TableEntry> {
    // Addresses of notes are multiples of four.
    let start = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize;
    (0..table.len()).filter_map(move |step| table.get(start.wrapping_add(step) % table.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_have_the_state_that_was_stored_last() {
        let ruled = |keys: std::ops::Range<u64>, state| {
            let (level, limits) = (Level::Debug, [0, u32::from(state) + 5]);
            let is_on = true;
            let call = |id| Ruled { key: id * 4, id, level, state, is_on, limits };
            keys.map(call).collect::<Vec<_>>()
        };
        let get = |key| {
            let (state, limits) = get(key);
            assert_eq!(limits, if state == 0 { [0; 2] } else { [0, u32::from(state) + 5] });
            state
        };
        let is_special =
            |id| u32::from(filter(id, Level::Debug).load(Ordering::Relaxed)) & SITE_RULES != 0;
        set_all(&ruled(1..4, 1));
        assert_eq!([4, 8, 12, 16].map(get), [1, 1, 1, 0]);
        assert_eq!([0, 1, 3, 4].map(is_special), [false, true, true, false]);
        assert!(!u32::from(filter(1, Level::Info).load(Ordering::Relaxed)) & SITE_RULES != 0);
        set_all(&ruled(2..1000, 2));
        assert_eq!([4, 8, 3996, 4000].map(get), [0, 2, 2, 0]);
        assert_eq!([1, 999, 1000].map(is_special), [false, true, false]);
        let off: Vec<_> = ruled(2..9, 2).iter().map(|it| Ruled { is_on: false, ..*it }).collect();
        set_all(&off);
        assert_eq!([4, 8, 3996].map(get), [0, 2, 0]);
        assert!((0..1024).all(|id| !is_special(id)), "none is on where its group is off");
        set_all(&[]);
        assert_eq!([4, 8, 3996].map(get), [0; 3]);
        assert!((0..1024).all(|id| !is_special(id)));
    }
}
