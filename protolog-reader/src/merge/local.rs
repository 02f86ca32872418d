//! What is local to one input and looks the same in another: the pid of a container's first process, the trace's own clock, and
//! clocks that a trace defines for all of its sequences. In the result each has one meaning.
//!
//! - Threads of processes with one pid get the fingerprint of their process, which the session's own sequence has anyway.
//! - The result has one clock of its own: where the inputs differ, BOOTTIME if any of them has that. Timestamps of inputs with another one name it.
//! - A clock from 128 up that several inputs define gets a new number in all but the first of these.
//!
//! Invariant: a packet of inputs without such a conflict stays as it is, to the byte.

use super::packet::fields;
use crate::clock::{ClockSnapshot, TRACE_CLOCK, default_clock, is_of_sequence, is_shared_custom};
use crate::packet::Packet;
use crate::thread;
use protolog_core::schema::{
    clock, clock_id, clock_snapshot, packet, packet_defaults, sequence_info,
};
use protozero::{Heap, Message, Writer};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The clocks of all inputs, by their index.
#[derive(Debug, Default)]
pub(crate) struct InputClocks(BTreeMap<usize, ClocksOfInput>);

#[derive(Debug, Default)]
struct ClocksOfInput {
    primary: Option<u32>,
    known: BTreeSet<u32>,
}

/// The changes to the packets of one input.
#[derive(Clone, Debug, Default)]
pub(super) struct Changes {
    /// New numbers of clocks.
    clocks: HashMap<u32, u32>,
    /// The clock of timestamps that name none.
    unnamed: Option<u32>,
    /// The fingerprints of processes, by pid.
    processes: HashMap<u32, u64>,
    /// Sequences whose timestamps have a default clock.
    defaults: BTreeSet<u32>,
}

impl InputClocks {
    /// Notes the clocks of a snapshot.
    pub(crate) fn add(&mut self, input: usize, snapshot: &ClockSnapshot) {
        let clocks = self.0.entry(input).or_default();
        clocks.primary = clocks.primary.or(snapshot.primary);
        clocks.known.extend(snapshot.ids().filter(|id| !is_of_sequence(*id)));
    }

    /// Returns whether an input has another clock than the result, or one whose number means another clock elsewhere.
    pub(crate) fn differ(&self) -> bool {
        let mut trace_clocks = self.0.values().filter_map(ClocksOfInput::trace_clock);
        let first = trace_clocks.next();
        let mut taken = BTreeSet::new();
        let custom = self.0.values().flat_map(|clocks| &clocks.known);
        trace_clocks.any(|clock| Some(clock) != first)
            || custom.filter(|id| is_shared_custom(**id)).any(|id| !taken.insert(id))
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
        let mut free = all().copied().max().unwrap_or(0).max(clock_id::BOOTTIME) + 1;
        // In the order of the inputs, each has numbers that none before it has.
        let (mut taken, mut of_all) = (BTreeSet::new(), HashMap::new());
        for (index, own) in &self.0 {
            let unnamed = own.trace_clock().filter(|clock| Some(*clock) != primary);
            let mut changes = Changes { unnamed, ..Changes::default() };
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

/// The bytes of a field.
fn encoded(
    write: impl for<'a, 'b> FnOnce(&'b mut Message<'a, Heap>) -> &'b mut Message<'a, Heap>,
) -> Vec<u8> {
    let mut writer = Writer::new(Heap::new());
    write(&mut writer.message());
    writer.into_vec().unwrap_or_default()
}
