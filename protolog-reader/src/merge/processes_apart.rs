//! Processes with one pid, told apart for readers that know a process by its pid and a track by its
//! number, as Perfetto does.
//!
//! The first processes of containers all have the pid 1, and from that their threads' tracks have
//! the same numbers. To Perfetto they would be one process, whose spans are within each other. So
//! in a merged trace the descriptors of each have a pid that no process of a machine has, and the
//! tracks other numbers, both made of the process's fingerprint: the same whatever it is merged
//! with. The packet has the true pid in a field of ours, and the name of the process says it, too.
//!
//! Invariant: readers that know the field see the trace as it was; a packet that has the field is
//! not changed again.

use super::packet_contents::{encoded, fields};
use crate::inputs::pid_apart::{name_suffix, pid_apart};
use crate::inputs::thread_ids::mix;
use crate::packets::trace_packet::Packet;
use crate::sequences::thread;
use protolog_core::schema::{
    packet, packet_defaults, process_descriptor, thread_descriptor, track_descriptor, track_event,
    track_event_defaults,
};
use protozero::{Field, Reader};
use std::collections::HashMap;

/// `TrackDescriptor.parent_uuid`
const PARENT_UUID: u32 = 5;

/// The changes to the packets of one input.
#[derive(Clone, Debug, Default)]
pub(super) struct ProcessesApart {
    /// By pid.
    processes: HashMap<u32, Process>,
    /// The pids of sequences.
    sequences: HashMap<u32, u32>,
}

#[derive(Clone, Copy, Debug)]
struct Process {
    /// Its true one.
    pid: u32,
    apart: u32,
    salt: u64,
}

impl Process {
    /// The number of a track of its.
    fn track(self, track: u64) -> u64 {
        if track == 0 { 0 } else { (track ^ self.salt).max(1) }
    }
}

impl ProcessesApart {
    /// Tells a process apart from others with its pid.
    pub(super) fn add(&mut self, pid: u32, process: u64) {
        let it = Process { pid, apart: pid_apart(pid, process), salt: mix(process) };
        self.processes.insert(pid, it);
    }

    /// The changed packet, of this new sequence; none if it stays as it is.
    pub(super) fn apply(
        &mut self,
        sequence: u32,
        bytes: &[u8],
        found: &Packet<'_>,
    ) -> Option<Vec<u8>> {
        if self.processes.is_empty() {
            return None;
        }
        let info = found.sequence_info.and_then(|it| thread::parse_sequence_info(it).ok());
        if let Some(pid) = info.and_then(|it| it.pid) {
            self.sequences.insert(sequence, pid);
        }
        let has_track = found.track_event.is_some() || found.defaults.is_some();
        let is_described =
            found.describes_track || found.process.is_some() || found.thread.is_some();
        if found.local_pid.is_some() || !has_track && !is_described {
            return None;
        }
        let of_sequence = self.sequences.get(&sequence).and_then(|pid| self.processes.get(pid));
        let mut named = None;
        let mut kept = Vec::with_capacity(bytes.len() + 32);
        for (field, whole) in fields(bytes) {
            let process = self.described(field).or(of_sequence.copied());
            match (field.number, process) {
                (packet::TRACK_DESCRIPTOR, Some(process)) => {
                    named = Some(process.pid);
                    nest(&mut kept, field, |part, kept| track_part(part, process, kept));
                }
                (packet::PROCESS_DESCRIPTOR, Some(process)) => {
                    named = Some(process.pid);
                    nest(&mut kept, field, |part, kept| process_part(part, process, kept));
                }
                (packet::THREAD_DESCRIPTOR, Some(process)) => {
                    named = Some(process.pid);
                    nest(&mut kept, field, |part, kept| thread_part(part, process, kept));
                }
                (packet::TRACK_EVENT, Some(process)) => {
                    nest(&mut kept, field, |part, kept| {
                        track_number(part, track_event::TRACK_UUID, process, kept)
                    });
                }
                (packet::TRACE_PACKET_DEFAULTS, Some(process)) => {
                    nest(&mut kept, field, |part, kept| {
                        part.number == packet_defaults::TRACK_EVENT_DEFAULTS && {
                            nest(kept, part, |part, kept| {
                                track_number(part, track_event_defaults::TRACK_UUID, process, kept)
                            });
                            true
                        }
                    });
                }
                _ => kept.extend_from_slice(whole),
            }
        }
        if let Some(pid) = named {
            kept.extend(encoded(|to| to.uint32(packet::LOCAL_PID, pid)));
        }
        Some(kept)
    }

    /// The process that a descriptor is of.
    fn described(&self, field: Field<'_>) -> Option<Process> {
        let (holders, number): (&[u32], u32) = match field.number {
            packet::TRACK_DESCRIPTOR => {
                (&[track_descriptor::PROCESS, track_descriptor::THREAD], process_descriptor::PID)
            }
            packet::PROCESS_DESCRIPTOR => (&[], process_descriptor::PID),
            packet::THREAD_DESCRIPTOR => (&[], thread_descriptor::PID),
            _ => return None,
        };
        let find = |message: Reader<'_>| {
            let mut fields = message.map_while(Result::ok);
            fields.find(|it| it.number == number)?.as_u32().ok()
        };
        let pid = if holders.is_empty() {
            find(field.as_message().ok()?)
        } else {
            let mut parts = field.as_message().ok()?.map_while(Result::ok);
            let part = parts.find(|it| holders.contains(&it.number))?;
            find(part.as_message().ok()?)
        };
        self.processes.get(&pid?).copied()
    }
}

/// Appends a message with its fields, each as `change` writes it, or as it is if that returns
/// false.
fn nest(kept: &mut Vec<u8>, field: Field<'_>, change: impl Fn(Field<'_>, &mut Vec<u8>) -> bool) {
    let mut content = Vec::new();
    for (part, whole) in fields(field.as_bytes().unwrap_or_default()) {
        if !change(part, &mut content) {
            content.extend_from_slice(whole);
        }
    }
    kept.extend(encoded(|to| to.bytes(field.number, &content)));
}

fn track_number(part: Field<'_>, number: u32, process: Process, kept: &mut Vec<u8>) -> bool {
    let track = part.as_u64().ok().filter(|_| part.number == number);
    kept.extend(
        track.map_or(Vec::new(), |track| encoded(|to| to.uint64(number, process.track(track)))),
    );
    track.is_some()
}

fn track_part(part: Field<'_>, process: Process, kept: &mut Vec<u8>) -> bool {
    match part.number {
        track_descriptor::UUID | PARENT_UUID => track_number(part, part.number, process, kept),
        track_descriptor::PROCESS => {
            nest(kept, part, |part, kept| process_part(part, process, kept));
            true
        }
        track_descriptor::THREAD => {
            nest(kept, part, |part, kept| thread_part(part, process, kept));
            true
        }
        _ => false,
    }
}

fn process_part(part: Field<'_>, process: Process, kept: &mut Vec<u8>) -> bool {
    match part.number {
        process_descriptor::PID => {
            kept.extend(encoded(|to| to.uint32(process_descriptor::PID, process.apart)));
        }
        process_descriptor::PROCESS_NAME => {
            let name = String::from_utf8_lossy(part.as_bytes().unwrap_or_default());
            let name = format!("{name}{}", name_suffix(process.pid));
            kept.extend(encoded(|to| to.string(process_descriptor::PROCESS_NAME, &name)));
        }
        _ => return false,
    }
    true
}

fn thread_part(part: Field<'_>, process: Process, kept: &mut Vec<u8>) -> bool {
    let is_pid = part.number == thread_descriptor::PID;
    if is_pid {
        kept.extend(encoded(|to| to.uint32(thread_descriptor::PID, process.apart)));
    }
    is_pid
}
