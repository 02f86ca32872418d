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

use super::sampler::Sampling;
use super::{RuledCall, SiteState};
use crate::level::page::call_bits;
use crate::sync::{AtomicU64, AtomicUsize, Ordering};
use crate::sys::once::ForkOnce;
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32};
use protolog_core::Level;
use protolog_core::control::rate::Rate;
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
    /// The word of the rate at which it is sampled, 0 for none, and the rule's number.
    rate: AtomicU64,
    sampled_by: AtomicU16,
    /// The number of the rules with conditions on arguments; 0 for none.
    conditions: AtomicU16,
}

/// A call with a rule, to be stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ruled {
    /// The address of its note, or its id.
    pub(super) key: u64,
    pub(super) id: u64,
    pub(super) level: Level,
    /// Rules switch it on, so that it is to be asked for though its group is off.
    pub(super) is_on: bool,
    pub(super) call: RuledCall,
}

/// Returns the word of the filter for a call with this id and level.
#[allow(clippy::inline_always)] // Its address is a constant in a log call.
#[inline(always)]
pub(in crate::level) fn filter(id: u64, level: Level) -> &'static AtomicU16 {
    &FILTER[level as usize % FILTER.len()][id as usize % WORDS]
}

/// Returns what rules make of the call with this key.
pub(super) fn get(key: u64) -> RuledCall {
    let table = TABLES.get(CURRENT.load(Ordering::Acquire)).and_then(ForkOnce::get);
    table.and_then(|table| find(table, key)).map_or(RuledCall::default(), TableEntry::load)
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
            entry.store(RuledCall::default());
        }
    }
}

impl TableEntry {
    fn store(&self, call: RuledCall) {
        self.state.store(call.state.0, Ordering::Relaxed);
        for (place, limit) in self.limits.iter().zip(call.limits) {
            place.store(limit, Ordering::Relaxed);
        }
        // After what its number stands for.
        self.conditions.store(call.conditions, Ordering::Release);
        // A rate that is read with another rule's number is a rate all the same.
        self.sampled_by.store(call.sampling.map_or(0, |it| it.rule), Ordering::Relaxed);
        self.rate.store(call.sampling.map_or(0, |it| it.rate.to_word()), Ordering::Relaxed);
    }

    fn load(&self) -> RuledCall {
        let rate = Rate::from_word(self.rate.load(Ordering::Relaxed));
        let rule = self.sampled_by.load(Ordering::Relaxed);
        let mut state = SiteState(self.state.load(Ordering::Relaxed));
        let mut conditions = 0;
        if state.is_conditional() {
            conditions = self.conditions.load(Ordering::Acquire);
            // What messages may be is nothing without their conditions: the rule ends just now.
            state = if conditions == 0 { SiteState::NONE } else { state };
        }
        let limits = self.limits.each_ref().map(|limit| limit.load(Ordering::Relaxed));
        // The state says what rate and conditions do, also where another thread stores them.
        RuledCall::new(state.unconditional(), limits, rate.map(|rate| Sampling { rate, rule }))
            .with_conditions(conditions)
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
        entry.store(call.call);
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
            let rate = Rate::new(1, u32::from(state) + 1);
            let sampling = rate.map(|rate| Sampling { rate, rule: 3 });
            let call = RuledCall { state: SiteState(state), limits, sampling, conditions: 0 };
            let call = |id| Ruled { key: id * 4, id, level, is_on: true, call };
            keys.map(call).collect::<Vec<_>>()
        };
        let get = |key| {
            let RuledCall { state: SiteState(state), limits, sampling, .. } = get(key);
            assert_eq!(limits, if state == 0 { [0; 2] } else { [0, u32::from(state) + 5] });
            let rate = Rate::new(1, u32::from(state) + 1).filter(|_| state != 0);
            assert_eq!(sampling.map(|sampling| sampling.rate), rate);
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
