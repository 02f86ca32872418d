//! What is local to one input and looks the same in another: the pid of a container's first process, the trace's own clock,
//! clocks that a trace defines for all of its sequences, and all clocks but that on the wall where inputs are of several boots, or machines. In the
//! result each has one meaning.
//!
//! - Threads of processes with one pid get the fingerprint of their process, which the session's own sequence has anyway. For readers that
//!   do not know it, they get other pids and tracks ([`apart`](super::apart)).
//! - The result has one clock of its own: where the inputs differ, BOOTTIME if any of them has that. Timestamps of inputs with another one name it.
//! - A clock from 128 up that several inputs define gets a new number in all but the first of these.
//! - The clocks of the boot that began first keep their numbers, and those of each other one get new ones: snapshots relate them by the time on
//!   the wall, so that each message has its own, and no time is before that boot.
//!
//! Invariant: a packet of inputs without such a conflict stays as it is, to the byte.

use super::apart::Apart;
use super::packet::{encoded, fields};
use crate::clock::{ClockSnapshot, TRACE_CLOCK, default_clock, is_of_sequence, is_shared_custom};
use crate::packet::Packet;
use crate::thread;
use protolog_core::schema::{
    clock, clock_id, clock_snapshot, packet, packet_defaults, sequence_info,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The clocks of all inputs, by their index.
#[derive(Debug, Default)]
pub(crate) struct InputClocks(BTreeMap<usize, ClocksOfInput>);

#[derive(Debug, Default)]
struct ClocksOfInput {
    primary: Option<u32>,
    known: BTreeSet<u32>,
    boot: Boot,
    /// The time on the wall when the machine booted, in nanoseconds, by the first snapshot that says it.
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

/// The changes to the packets of one input.
#[derive(Clone, Debug, Default)]
pub(super) struct Changes {
    /// New numbers of clocks.
    clocks: HashMap<u32, u32>,
    /// The clock of timestamps that name none.
    unnamed: Option<u32>,
    /// The fingerprints of processes, by pid.
    processes: HashMap<u32, u64>,
    apart: Apart,
    /// Sequences whose timestamps have a default clock.
    defaults: BTreeSet<u32>,
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

    /// Returns two inputs of different boots of which one has no relation to the time on the wall, by which they could be ordered.
    pub(super) fn incomparable(&self) -> Option<[usize; 2]> {
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

    /// The boot that began first, whose clocks keep their numbers. One of several is none: its own clocks are those of the first of them.
    fn first_boot(&self) -> Option<&Boot> {
        let of_one = self.of_a_boot().filter(|(_, clocks)| matches!(clocks.boot, Boot::One(_)));
        let first = of_one.min_by_key(|(_, clocks)| clocks.booted)?;
        Some(&first.1.boot).filter(|_| self.has_several_boots())
    }

    /// Returns whether an input has another clock than the result, or one whose number means another clock elsewhere.
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

    /// The changes to each input that has any, but for its processes.
    pub(super) fn changes(&self) -> HashMap<usize, Changes> {
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
            let mut changes = Changes { unnamed, ..Changes::default() };
            let is_of_first = own.boot == Boot::Unknown || Some(&own.boot) == first_boot;
            if self.has_several_boots() && !is_of_first {
                for id in own.known.iter().filter(|id| !ON_THE_WALL.contains(id)) {
                    let new = *of_boots.entry((&own.boot, *id)).or_insert_with(|| {
                        free = free.saturating_add(1);
                        free - 1
                    });
                    changes.clocks.insert(*id, new);
                }
                changes.unnamed = own.trace_clock().and_then(|id| changes.clocks.get(&id).copied());
                of_all.insert(*index, changes);
                continue;
            }
            for id in own.known.iter().filter(|id| is_shared_custom(**id)) {
                if !taken.insert(*id) {
                    changes.clocks.insert(*id, free);
                    free = free.saturating_add(1);
                }
            }
            of_all.insert(*index, changes);
        }
        of_all
    }
}

impl ClocksOfInput {
    /// As [`Relations::trace_clock`](crate::clock::relations::Relations::trace_clock); none if nothing is known of it.
    fn trace_clock(&self) -> Option<u32> {
        let has = |id| self.known.contains(&id);
        let is_monotonic = has(clock_id::MONOTONIC) && !has(clock_id::BOOTTIME);
        let usual = if is_monotonic { clock_id::MONOTONIC } else { clock_id::BOOTTIME };
        self.primary.or((!self.known.is_empty()).then_some(usual))
    }
}

impl Changes {
    /// Sets the fingerprint of a process whose pid is another one's in another input.
    pub(super) fn set_process(&mut self, pid: u32, process: u64) {
        self.processes.insert(pid, process);
    }

    /// Tells a process apart from others with its pid, for readers that do not know fingerprints.
    pub(super) fn tell_apart(&mut self, pid: u32, process: u64) {
        self.apart.add(pid, process);
    }

    /// The changed packet, of this new sequence; none if it stays as it is.
    pub(super) fn apply(
        &mut self,
        sequence: u32,
        bytes: &[u8],
        found: &Packet<'_>,
    ) -> Option<Vec<u8>> {
        if self.clocks.is_empty() && self.unnamed.is_none() && self.processes.is_empty() {
            return None;
        }
        let told_apart = self.apart.apply(sequence, bytes, found);
        let changed = self.apply_local(sequence, told_apart.as_deref().unwrap_or(bytes), found);
        changed.or(told_apart)
    }

    fn apply_local(&mut self, sequence: u32, bytes: &[u8], found: &Packet<'_>) -> Option<Vec<u8>> {
        self.note_default(sequence, found);
        let info = found.sequence_info.and_then(|it| thread::parse_sequence_info(it).ok());
        let process = info.filter(|it| it.process.is_none()).and_then(|it| it.pid);
        let process = process.and_then(|pid| self.processes.get(&pid).copied());
        let is_unnamed = found.clock == TRACE_CLOCK && !self.defaults.contains(&sequence);
        let clock = self.unnamed.filter(|_| is_unnamed && found.timestamp.is_some());
        let has_clock = found.snapshot.is_some() || found.defaults.is_some();
        let is_renumbered = !self.clocks.is_empty() && (has_clock || found.clock != TRACE_CLOCK);
        let has_primary = self.unnamed.is_some() && found.snapshot.is_some();
        if process.is_none() && clock.is_none() && !is_renumbered && !has_primary {
            return None;
        }
        Some(self.rewrite(bytes, process, clock))
    }

    fn note_default(&mut self, sequence: u32, found: &Packet<'_>) {
        if found.cleared {
            self.defaults.remove(&sequence);
        }
        if let Some(Ok(clock)) = found.defaults.map(default_clock) {
            self.defaults.remove(&sequence);
            self.defaults.extend(clock.map(|_| sequence));
        }
    }

    fn rewrite(&self, bytes: &[u8], process: Option<u64>, clock: Option<u32>) -> Vec<u8> {
        let mut kept = Vec::with_capacity(bytes.len() + 16);
        for (field, whole) in fields(bytes) {
            let content = field.as_bytes().unwrap_or_default();
            match (field.number, process) {
                (packet::SEQUENCE_INFO, Some(process)) => {
                    let mut info = content.to_vec();
                    info.extend(encoded(|to| to.fixed64(sequence_info::PROCESS, process)));
                    kept.extend(encoded(|to| to.bytes(field.number, &info)));
                }
                (packet::CLOCK_SNAPSHOT, _) => {
                    let snapshot = self.snapshot(content);
                    kept.extend(encoded(|to| to.bytes(field.number, &snapshot)));
                }
                (packet::TRACE_PACKET_DEFAULTS, _) => {
                    let defaults = self.renumber(content, packet_defaults::TIMESTAMP_CLOCK_ID);
                    kept.extend(encoded(|to| to.bytes(field.number, &defaults)));
                }
                (packet::TIMESTAMP_CLOCK_ID, _) => {
                    kept.extend(self.renumber(whole, packet::TIMESTAMP_CLOCK_ID));
                }
                _ => kept.extend_from_slice(whole),
            }
        }
        if let Some(clock) = clock {
            kept.extend(encoded(|to| to.uint32(packet::TIMESTAMP_CLOCK_ID, clock)));
        }
        kept
    }

    /// A snapshot with the new numbers of its clocks, that names no other clock of the trace than the result's.
    fn snapshot(&self, bytes: &[u8]) -> Vec<u8> {
        let mut kept = Vec::with_capacity(bytes.len());
        for (field, whole) in fields(bytes) {
            match field.number {
                clock_snapshot::PRIMARY_TRACE_CLOCK if self.unnamed.is_some() => {}
                clock_snapshot::CLOCKS => {
                    let clock =
                        self.renumber(field.as_bytes().unwrap_or_default(), clock::CLOCK_ID);
                    kept.extend(encoded(|to| to.bytes(field.number, &clock)));
                }
                _ => kept.extend_from_slice(whole),
            }
        }
        kept
    }

    /// A message with the new number of the clock that its field of this number names.
    fn renumber(&self, bytes: &[u8], number: u32) -> Vec<u8> {
        let mut kept = Vec::with_capacity(bytes.len());
        for (field, whole) in fields(bytes) {
            let named = field.as_u32().ok().filter(|_| field.number == number);
            match named.and_then(|id| self.clocks.get(&id)) {
                Some(new) => kept.extend(encoded(|to| to.uint32(number, *new))),
                None => kept.extend_from_slice(whole),
            }
        }
        kept
    }
}
