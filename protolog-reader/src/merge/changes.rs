//! Changes the packets of one input where a value looks the same in another input and means
//! something else. These are the pid of a container's first process, the trace's own clock, and
//! clocks that a trace defines for all of its sequences. Where inputs are of several boots, or
//! machines, so are all clocks but that on the wall. In the result each has one meaning.
//!
//! - Threads of processes with one pid get the fingerprint of their process, which the session's
//!   own sequence has anyway. For readers that do not know it, they get other pids and tracks
//!   ([`processes_apart`](super::processes_apart)).
//! - Clocks get the numbers that [`input_clocks`](crate::inputs::input_clocks) gives them.
//!
//! Invariant: a packet of inputs without such a conflict stays as it is, to the byte.

use super::packet_contents::{encoded, fields};
use super::processes_apart::ProcessesApart;
use crate::clocks::{TRACE_CLOCK, default_clock};
use crate::inputs::input_clocks::ClockNumbers;
use crate::packets::trace_packet::Packet;
use crate::sequences::thread;
use protolog_core::schema::{
    clock, clock_id, clock_snapshot, loss, packet, packet_defaults, sequence_info,
};
use std::collections::{BTreeSet, HashMap};

/// The changes to the packets of one input.
#[derive(Clone, Debug, Default)]
pub(super) struct Changes {
    clocks: ClockNumbers,
    /// The fingerprints of processes, by pid.
    processes: HashMap<u32, u64>,
    apart: ProcessesApart,
    /// Sequences whose timestamps have a default clock.
    defaults: BTreeSet<u32>,
}

impl Changes {
    /// The changes to the clocks of an input.
    pub(super) fn of_clocks(clocks: ClockNumbers) -> Self {
        Self { clocks, ..Self::default() }
    }

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
        if self.clocks.renumbered.is_empty()
            && self.clocks.unnamed.is_none()
            && self.processes.is_empty()
        {
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
        let clock = self.clocks.unnamed.filter(|_| is_unnamed && found.timestamp.is_some());
        let has_clock = found.snapshot.is_some() || found.defaults.is_some() || found.has_losses;
        let is_renumbered =
            !self.clocks.renumbered.is_empty() && (has_clock || found.clock != TRACE_CLOCK);
        let has_primary = self.clocks.unnamed.is_some() && found.snapshot.is_some();
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
                (packet::LOSS, _) => {
                    let record = self.loss(content);
                    kept.extend(encoded(|to| to.bytes(field.number, &record)));
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

    /// A record of losses whose times, if it has any, name the new number of their clock.
    fn loss(&self, bytes: &[u8]) -> Vec<u8> {
        let has = |number| fields(bytes).any(|(field, _)| field.number == number);
        let mut record = bytes.to_vec();
        if has(loss::LAST) && !has(loss::CLOCK_ID) {
            record.extend(encoded(|to| to.uint32(loss::CLOCK_ID, clock_id::BOOTTIME)));
        }
        self.renumber(&record, loss::CLOCK_ID)
    }

    /// A snapshot with the new numbers of its clocks, that names no other clock of the trace than
    /// the result's.
    fn snapshot(&self, bytes: &[u8]) -> Vec<u8> {
        let mut kept = Vec::with_capacity(bytes.len());
        for (field, whole) in fields(bytes) {
            match field.number {
                clock_snapshot::PRIMARY_TRACE_CLOCK if self.clocks.unnamed.is_some() => {}
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
            match named.and_then(|id| self.clocks.renumbered.get(&id)) {
                Some(new) => kept.extend(encoded(|to| to.uint32(number, *new))),
                None => kept.extend_from_slice(whole),
            }
        }
        kept
    }
}
