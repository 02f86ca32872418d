//! The clocks of several inputs, which may have one number and mean different clocks.
//!
//! - The result has one clock of its own: where the inputs differ, BOOTTIME if any of them has
//!   that. Timestamps of inputs with another one name it.
//! - A clock from 128 up that several inputs define gets a new number in all but the first of
//!   these.
//! - The clocks of the boot that began first keep their numbers, and those of each other one get
//!   new ones. Snapshots relate them by the time on the wall, so that each message has its own, and
//!   no time is before that boot.
//!
//! Invariant: in the result, each number means one clock.

use crate::clocks::{ClockSnapshot, is_of_sequence, is_shared_custom};
use protolog_core::schema::clock_id;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The clocks of all inputs, by their index.
#[derive(Debug, Default)]
pub(crate) struct InputClocks(BTreeMap<usize, ClocksOfInput>);

#[derive(Debug, Default)]
struct ClocksOfInput {
    primary: Option<u32>,
    known: BTreeSet<u32>,
    boot: Boot,
    /// The time on the wall when the machine booted, in nanoseconds, by the first snapshot that
    /// says it.
    booted: Option<i64>,
}

/// The boot that an input is of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
enum Boot {
    #[default]
    Unknown,
    One(Vec<u8>),
    /// A merge of several.
    Several(usize),
}

/// The largest number of a clock that a sequence has for itself.
const MAX_OF_SEQUENCE: u32 = 127;

/// The clocks that mean the same whenever a machine was booted: REALTIME and REALTIME_COARSE.
const ON_THE_WALL: [u32; 2] = [clock_id::REALTIME, 2];

/// The numbers that an input's clocks have in the result of a merge.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClockNumbers {
    /// New numbers of clocks, by those in the input.
    pub(crate) renumbered: HashMap<u32, u32>,
    /// The clock of timestamps that name none.
    pub(crate) unnamed: Option<u32>,
}

impl InputClocks {
    /// Notes the clocks of a snapshot.
    pub(crate) fn add(&mut self, input: usize, snapshot: &ClockSnapshot) {
        let clocks = self.0.entry(input).or_default();
        clocks.primary = clocks.primary.or(snapshot.primary);
        clocks.known.extend(snapshot.ids().filter(|id| !is_of_sequence(*id)));
        let value = |id| snapshot.shared().find(|clock| clock.0 == id).map(|clock| clock.1);
        if let (None, Some(wall), Some(boot)) =
            (clocks.booted, value(clock_id::REALTIME), value(clock_id::BOOTTIME))
        {
            clocks.booted = Some(wall.saturating_sub(boot));
        }
    }

    /// Notes the boot of an input.
    pub(crate) fn add_boot(&mut self, input: usize, id: &[u8]) {
        let known = &mut self.0.entry(input).or_default().boot;
        match known {
            Boot::Unknown => *known = Boot::One(id.to_vec()),
            Boot::One(first) if first != id => *known = Boot::Several(input),
            Boot::One(_) | Boot::Several(_) => {}
        }
    }

    /// Returns two inputs of different boots of which one has no relation to the time on the wall,
    /// by which they could be ordered.
    pub(crate) fn incomparable(&self) -> Option<[usize; 2]> {
        if !self.has_several_boots() {
            return None;
        }
        let is_lost = |clocks: &ClocksOfInput| clocks.booted.is_none();
        let (lost, clocks) = self.of_a_boot().find(|(_, clocks)| is_lost(clocks))?;
        let (other, _) = self.of_a_boot().find(|(_, other)| other.boot != clocks.boot)?;
        Some([lost.min(other), lost.max(other)])
    }

    /// Returns whether inputs are of different boots.
    pub(crate) fn has_several_boots(&self) -> bool {
        let mut boots = self.of_a_boot().map(|(_, clocks)| &clocks.boot);
        let first = boots.next();
        boots.any(|boot| Some(boot) != first)
    }

    fn of_a_boot(&self) -> impl Iterator<Item = (usize, &ClocksOfInput)> {
        let all = self.0.iter().map(|(index, clocks)| (*index, clocks));
        all.filter(|(_, clocks)| clocks.boot != Boot::Unknown)
    }

    /// The boot that began first, whose clocks keep their numbers. One of several is none: its own
    /// clocks are those of the first of them.
    fn first_boot(&self) -> Option<&Boot> {
        let of_one = self.of_a_boot().filter(|(_, clocks)| matches!(clocks.boot, Boot::One(_)));
        let first = of_one.min_by_key(|(_, clocks)| clocks.booted)?;
        Some(&first.1.boot).filter(|_| self.has_several_boots())
    }

    /// Returns whether an input has another clock than the result, or one whose number means
    /// another clock elsewhere.
    pub(crate) fn differ(&self) -> bool {
        let mut trace_clocks = self.0.values().filter_map(ClocksOfInput::trace_clock);
        let first = trace_clocks.next();
        let mut taken = BTreeSet::new();
        let custom = self.0.values().flat_map(|clocks| &clocks.known);
        trace_clocks.any(|clock| Some(clock) != first)
            || custom.filter(|id| is_shared_custom(**id)).any(|id| !taken.insert(id))
            || self.has_several_boots()
    }

    /// The clock of the result.
    fn primary(&self) -> Option<u32> {
        let all: BTreeSet<u32> = self.0.values().filter_map(ClocksOfInput::trace_clock).collect();
        let has_boot = self.0.values().any(|clocks| clocks.known.contains(&clock_id::BOOTTIME));
        if all.len() > 1 && has_boot { Some(clock_id::BOOTTIME) } else { all.first().copied() }
    }

    /// The numbers of the clocks of each input in the result.
    pub(crate) fn numbers(&self) -> HashMap<usize, ClockNumbers> {
        let primary = self.primary();
        let all = || self.0.values().flat_map(|clocks| &clocks.known);
        // Not among those of sequences.
        let mut free = all().copied().max().unwrap_or(0).max(MAX_OF_SEQUENCE) + 1;
        let first_boot = self.first_boot();
        let mut of_boots: HashMap<(&Boot, u32), u32> = HashMap::new();
        // In the order of the inputs, each has numbers that none before it has.
        let (mut taken, mut of_all) = (BTreeSet::new(), HashMap::new());
        for (index, own) in &self.0 {
            let unnamed = own.trace_clock().filter(|clock| Some(*clock) != primary);
            let mut numbers = ClockNumbers { unnamed, ..ClockNumbers::default() };
            let is_of_first = own.boot == Boot::Unknown || Some(&own.boot) == first_boot;
            if self.has_several_boots() && !is_of_first {
                for id in own.known.iter().filter(|id| !ON_THE_WALL.contains(id)) {
                    let new = *of_boots.entry((&own.boot, *id)).or_insert_with(|| {
                        free = free.saturating_add(1);
                        free - 1
                    });
                    numbers.renumbered.insert(*id, new);
                }
                numbers.unnamed =
                    own.trace_clock().and_then(|id| numbers.renumbered.get(&id).copied());
                of_all.insert(*index, numbers);
                continue;
            }
            for id in own.known.iter().filter(|id| is_shared_custom(**id)) {
                if !taken.insert(*id) {
                    numbers.renumbered.insert(*id, free);
                    free = free.saturating_add(1);
                }
            }
            of_all.insert(*index, numbers);
        }
        of_all
    }
}

impl ClocksOfInput {
    /// As [`Relations::trace_clock`](crate::clocks::relations::Relations::trace_clock); none if
    /// nothing is known of it.
    fn trace_clock(&self) -> Option<u32> {
        let has = |id| self.known.contains(&id);
        let is_monotonic = has(clock_id::MONOTONIC) && !has(clock_id::BOOTTIME);
        let usual = if is_monotonic { clock_id::MONOTONIC } else { clock_id::BOOTTIME };
        self.primary.or((!self.known.is_empty()).then_some(usual))
    }
}
