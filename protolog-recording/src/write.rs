//! Writes a recording as a trace.
//!
//! | sequence | packets |
//! |---|---|
//! | 1 | clocks and boot id, the process and the dictionary (from the metadata), an instant at the start |
//! | 2… | the packets of each writer, with losses where messages are missing; the thread's name |
//! | 131072 | messages about fatal signals |
//! | 1 | losses of all threads, including messages of threads that have no chunk left; an instant at the end |

use super::chunks::{self, Chunk};
use super::event;
use super::rest::position;
use super::sequence::{Missing, Part, SequenceReader};
use super::{Flaw, Recording, Recovered, TraceSurvey};
use crate::packets::PacketWriter;
use crate::thread::Thread;
use protolog_core::recorder::{
    LOSSES, LOSSES_AT, METADATA_LOST_AT, OTHER_MESSAGE_COUNT_AT, Position, next_record,
    other_losses_at, parse_loss_key,
};
use protolog_core::schema::{
    clock as clock_field, clock_id, clock_snapshot, loss, loss_cause, message_data, packet,
    sequence_flags, sequence_info, thread_descriptor, track_event, viewer_config,
};
use protolog_core::{Level, LossCause, Unwritten, process_track};
use protozero::{Heap, Message, Reader};
use std::collections::HashSet;
use std::io;

/// The session's own sequence.
pub(super) const SESSION_SEQUENCE: u32 = 1;

/// Writes everything that can be recovered, or what is missing in the trace that was surveyed.
pub(super) fn write(
    recording: &Recording<'_>,
    trace: Option<&TraceSurvey>,
    to: &mut PacketWriter<'_>,
) -> io::Result<Recovered> {
    let (pid, started) = (recording.header.pid, recording.header.boottime);
    let mut recovery = Recovery::of(recording, trace);
    if trace.is_none() {
        to.write_with(SESSION_SEQUENCE, |to| set_clocks(to, recording))?;
    }
    let corrupt_metadata = recovery.write_metadata(recording, to)?;
    if trace.is_none() {
        to.write_with(SESSION_SEQUENCE, |to| {
            set_instant(to, pid, started, "protolog recording started");
        })?;
    }
    let page = recording.header.page as usize;
    let chunks = chunks::find(recording.rings(), page, recording.streams());
    let (mut completed, mut without_chunk, mut ended) = (0u64, 0u64, started);
    let (mut bad_packets, mut bad_chunks) = (0, chunks.corrupt);
    for (writer, chunks) in &chunks.by_writer {
        let position = trace.map(|trace| {
            let position = position(recording, *writer);
            Position { is_stale: position.is_stale || trace.is_cut, ..position }
        });
        let sequence = u32::from(*writer) + SESSION_SEQUENCE;
        let read = recovery.write_sequence(sequence, position, chunks, to)?;
        match recording.message_count_at(*writer) {
            // Its chunks were freed once they were in the trace, and are not counted.
            _ if recording.streams() => {}
            // If its counter has more than its chunks, newer chunks were overwritten.
            Some(at) => {
                without_chunk = without_chunk
                    .saturating_add(recording.counter(at).saturating_sub(read.messages));
            }
            None => completed = completed.saturating_add(read.completed_messages),
        }
        ended = ended.max(read.time);
        bad_packets += read.bad_packets;
        bad_chunks += read.bad_chunks;
    }
    let absent = recording.counted_writers().filter(|id| !chunks.by_writer.contains_key(id));
    for at in absent.filter_map(|id| recording.message_count_at(id)) {
        without_chunk = without_chunk.saturating_add(recording.counter(at));
    }
    let vanished = recording
        .counter(OTHER_MESSAGE_COUNT_AT)
        .saturating_sub(completed)
        .saturating_add(without_chunk);
    event::write_signals(recording, to)?;
    recovery.write_losses(recording, vanished, ended, to)?;
    let end = match trace {
        Some(_) => "protolog session recovered",
        None => "protolog recording ended",
    };
    to.write_with(SESSION_SEQUENCE, |to| set_instant(to, pid, ended, end))?;
    Ok(recovery.finish(
        recording,
        [
            (Flaw::Pages, chunks.corrupt_pages),
            (Flaw::Chunks, bad_chunks),
            (Flaw::Packets, bad_packets),
            (Flaw::Metadata, corrupt_metadata),
        ],
    ))
}

/// The state of a recovery.
struct Recovery {
    report: Recovered,
    /// Ids of messages that have a dictionary entry.
    known_messages: HashSet<u64>,
    unknown_messages: u64,
    /// Processes and threads with a message: a thread has a writer for each ring.
    threads: HashSet<(u32, u32)>,
    /// Upper bound for any number of messages.
    max_messages: u64,
    /// The drops that the trace reports.
    reported: TraceSurvey,
}

/// Upper bound for the messages ever logged: those in completed chunks, and as many as fit the
/// rings.
fn max_messages(recording: &Recording<'_>) -> u64 {
    let writers = recording.counted_writers().filter_map(|id| recording.message_count_at(id));
    let counts =
        writers.map(|at| recording.counter(at)).chain([recording.counter(OTHER_MESSAGE_COUNT_AT)]);
    let bytes = recording.rings().map(|ring| ring.len() as u64);
    counts.chain(bytes).fold(0, u64::saturating_add)
}

/// A kind of flaw, and its number.
type Counted = (fn(u64) -> Flaw, u64);

impl Recovery {
    fn of(recording: &Recording<'_>, trace: Option<&TraceSurvey>) -> Self {
        let mut reported = trace.cloned().unwrap_or_default();
        let earlier = recording.trace().filter(|_| trace.is_some());
        for ((group, cause), count) in earlier.map_or(Vec::new(), |file| file.reported) {
            reported.add(group, cause, count);
        }
        Self {
            report: Recovered { pid: recording.header.pid, ..Recovered::default() },
            known_messages: HashSet::new(),
            unknown_messages: 0,
            threads: HashSet::new(),
            max_messages: max_messages(recording),
            reported,
        }
    }

    /// The report, with these flaws and those that the recording itself has.
    fn finish(self, recording: &Recording<'_>, found: [Counted; 4]) -> Recovered {
        let mut report = self.report;
        report.threads = self.threads.len() as u64;
        report.signal = recording.fatal_signal().map(|signal| signal.name);
        report.flaws.extend(recording.newer_version().map(Flaw::Newer));
        let truncated: Counted = (Flaw::Truncated, recording.missing_bytes());
        let others: [Counted; 2] = [
            (Flaw::LostMetadata, recording.counter(METADATA_LOST_AT)),
            (Flaw::UnknownMessages, self.unknown_messages),
        ];
        let all = [truncated].into_iter().chain(found).chain(others);
        report.flaws.extend(all.filter(|(_, count)| *count > 0).map(|(flaw, count)| flaw(count)));
        report
    }

    /// Writes the packets of the metadata and returns its number of corrupt bytes.
    fn write_metadata(
        &mut self,
        recording: &Recording<'_>,
        to: &mut PacketWriter<'_>,
    ) -> io::Result<u64> {
        let mut rest = recording.metadata();
        while let Some((packet, after)) = next_record(rest) {
            rest = after;
            self.add_known_messages(packet);
            to.write(SESSION_SEQUENCE, packet)?;
        }
        // Bytes beyond the end of the file are reported as missing instead.
        Ok(rest.len() as u64)
    }

    /// Notes the messages that a packet has dictionary entries for.
    fn add_known_messages(&mut self, bytes: &[u8]) {
        let configs = fields(bytes, packet::PROTOLOG_VIEWER_CONFIG);
        for message in configs.flat_map(|config| fields(config, viewer_config::MESSAGES)) {
            let ids = Reader::new(message).flatten();
            let mut ids = ids.filter(|field| field.number == message_data::MESSAGE_ID);
            self.known_messages.extend(ids.next().and_then(|field| field.as_fixed64().ok()));
        }
    }

    /// Writes the packets of one writer.
    fn write_sequence(
        &mut self,
        id: u32,
        position: Option<Position>,
        chunks: &[Chunk<'_>],
        to: &mut PacketWriter<'_>,
    ) -> io::Result<SequenceReader> {
        let mut sequence = SequenceReader::from(position);
        let (mut next, mut result, before) = (None, Ok(()), self.report.messages);
        // A thread may have gone on with the sequence of one that had ended.
        let mut threads: Vec<Thread> = Vec::new();
        for chunk in chunks {
            if sequence.is_before(chunk.id) {
                continue;
            }
            let gap = next != Some(chunk.id);
            next = Some(chunk.id.wrapping_add(1));
            sequence.read(chunk, gap, self.max_messages, &mut |part| {
                if result.is_ok() {
                    result = self.write_part(id, &part, to);
                }
            });
            let thread = sequence.thread.as_ref().filter(|thread| threads.last() != Some(thread));
            threads.extend(thread.cloned());
        }
        result?;
        if self.report.messages > before {
            self.threads.extend(threads.iter().map(|thread| (thread.pid, thread.tid)));
        }
        for thread in &threads {
            to.write_with(id, |to| {
                to.uint32(packet::SEQUENCE_FLAGS, sequence_flags::INCREMENTAL_STATE_CLEARED);
                to.nested(packet::THREAD_DESCRIPTOR)
                    .uint32(thread_descriptor::PID, thread.pid)
                    .uint32(thread_descriptor::TID, thread.tid)
                    .string(thread_descriptor::THREAD_NAME, &thread.name);
                set_thread(to, thread);
            })?;
        }
        Ok(sequence)
    }

    fn write_part(
        &mut self,
        id: u32,
        part: &Part<'_>,
        to: &mut PacketWriter<'_>,
    ) -> io::Result<()> {
        match *part {
            Part::Packet(packet) => {
                let fields = Reader::new(packet).flatten();
                let is_count = |number| matches!(number, packet::LOSS | packet::PASSED_OVER);
                for record in fields.filter(|field| is_count(field.number)) {
                    self.reported.add_loss(record);
                }
                to.write(id, packet)
            }
            Part::State(packet) => to.write(id, packet),
            Part::Message(packet, message) => {
                self.report.messages += 1;
                self.unknown_messages += u64::from(!self.known_messages.contains(&message));
                to.write(id, packet)
            }
            Part::Missing(Missing { count, thread, time }) => {
                self.report.overwritten = self.report.overwritten.saturating_add(count);
                to.write_with(id, |to| {
                    to.uint64(packet::TIMESTAMP, time)
                        .uint32(packet::SEQUENCE_FLAGS, sequence_flags::INCREMENTAL_STATE_CLEARED)
                        .uint32(packet::PREVIOUS_PACKET_DROPPED, 1);
                    if let Some(thread) = thread {
                        set_thread(to, thread);
                    }
                    add_loss(to, 0, loss_cause::OVERWRITTEN, count);
                })
            }
        }
    }

    /// Writes the losses of all threads, and the number of messages that have `vanished`: they were
    /// overwritten, and no chunk of their writer shows it.
    fn write_losses(
        &mut self,
        recording: &Recording<'_>,
        vanished: u64,
        time: u64,
        to: &mut PacketWriter<'_>,
    ) -> io::Result<()> {
        self.report.overwritten = self.report.overwritten.saturating_add(vanished);
        let mut all: Vec<_> = losses(recording).filter(|(.., count)| *count > 0).collect();
        // Chunks of a ring report repeated messages alone.
        self.leave_out_reported(&mut all);
        for (_, cause, count) in &all {
            let is_lost = match Unwritten::from_number(*cause) {
                Some(Unwritten::PassedOver(_)) => false,
                Some(Unwritten::Lost(cause)) => !cause.is_in_log(),
                None => true,
            };
            if is_lost {
                self.report.lost = self.report.lost.saturating_add(*count);
            }
        }
        all.extend((vanished > 0).then_some((0, loss_cause::OVERWRITTEN, vanished)));
        if all.is_empty() {
            return Ok(());
        }
        to.write_with(SESSION_SEQUENCE, |to| {
            to.uint64(packet::TIMESTAMP, time);
            for (group, cause, count) in all {
                add_loss(to, group, cause, count);
            }
        })
    }
}

impl Recovery {
    /// Takes the drops that the trace reports, of the same group and cause, off `all`. A counter
    /// without a group has those of all groups that have none of their own.
    fn leave_out_reported(&mut self, all: &mut Vec<(u32, u32, u64)>) {
        let reported = &mut self.reported.losses;
        for (group, cause, count) in all.iter_mut().filter(|(group, ..)| *group != 0) {
            *count = count.saturating_sub(reported.remove(&(*group, *cause)).unwrap_or(0));
        }
        for (_, cause, count) in all.iter_mut().filter(|(group, ..)| *group == 0) {
            let of_any =
                |cause: u32| Unwritten::from_number(cause).map(Unwritten::of_unknown_group);
            let same = reported.iter_mut().filter(|((_, known), _)| {
                known == cause || of_any(*known).is_some() && of_any(*known) == of_any(*cause)
            });
            for (_, known) in same {
                let both = (*known).min(*count);
                *known -= both;
                *count -= both;
            }
        }
        all.retain(|(.., count)| *count > 0);
    }
}

/// The drop counters: group, or 0 for those that have none of their own, cause, and number.
pub(super) fn losses(recording: &Recording<'_>) -> impl Iterator<Item = (u32, u32, u64)> {
    let counters = (0..LOSSES).filter_map(|index| {
        let at = LOSSES_AT + 16 * index;
        let (group, cause) = parse_loss_key(recording.counter(at))?;
        Some((group, cause, recording.counter(at + 8)))
    });
    let others = LossCause::ALL.into_iter().map(Unwritten::Lost);
    let others = others.chain([Unwritten::PassedOver(None)]).map(Unwritten::number);
    let others =
        others.filter_map(|cause| Some((0, cause, recording.counter(other_losses_at(cause)?))));
    counters.chain(others)
}

/// The nested messages of `bytes` with this field number.
fn fields(bytes: &[u8], number: u32) -> impl Iterator<Item = &[u8]> {
    let fields = Reader::new(bytes).flatten().filter(move |field| field.number == number);
    fields.filter_map(|field| field.as_bytes().ok())
}

/// Sets the process and the thread of a sequence.
pub(super) fn set_thread(to: &mut Message<'_, Heap>, thread: &Thread) {
    to.nested(packet::SEQUENCE_INFO)
        .uint32(sequence_info::PID, thread.pid)
        .uint32(sequence_info::TID, thread.tid)
        .string(sequence_info::THREAD_NAME, &thread.name);
}

/// Adds a record of losses, or of messages that sampling passed over, for a reason with this
/// number.
pub(super) fn add_loss(to: &mut Message<'_, Heap>, group: u32, cause: u32, count: u64) {
    let reason = Unwritten::from_number(cause);
    let (field, kind) = match reason {
        Some(Unwritten::PassedOver(level)) => (packet::PASSED_OVER, level.map(Level::wire)),
        _ => (packet::LOSS, Some(cause)),
    };
    let mut record = to.nested(field);
    if group != 0 {
        record.uint32(loss::GROUP_ID, group);
    }
    // The level of those that were passed over.
    if let Some(kind) = kind {
        record.uint32(loss::CAUSE, kind);
    }
    record.uint64(loss::COUNT, count);
}

/// Sets the clocks at the start, and the boot id.
pub(super) fn set_clocks(to: &mut Message<'_, Heap>, recording: &Recording<'_>) {
    let header = &recording.header;
    let mut snapshot = to.nested(packet::CLOCK_SNAPSHOT);
    for (id, nanos) in [
        (clock_id::REALTIME, header.realtime),
        (clock_id::MONOTONIC, header.monotonic),
        (clock_id::BOOTTIME, header.boottime),
    ] {
        snapshot
            .nested(clock_snapshot::CLOCKS)
            .uint32(clock_field::CLOCK_ID, id)
            .uint64(clock_field::TIMESTAMP, nanos);
    }
    snapshot.uint32(clock_snapshot::PRIMARY_TRACE_CLOCK, clock_id::BOOTTIME);
    drop(snapshot);
    let mut info = to.nested(packet::SEQUENCE_INFO);
    info.uint32(sequence_info::PID, header.pid);
    if header.boot_id != [0; 16] {
        info.bytes(sequence_info::BOOT_ID, &header.boot_id);
    }
}

/// Sets an instant on the process's track, without which Perfetto considers a trace of messages
/// empty.
pub(super) fn set_instant(to: &mut Message<'_, Heap>, pid: u32, nanos: u64, name: &str) {
    to.uint64(packet::TIMESTAMP, nanos);
    to.nested(packet::TRACK_EVENT)
        .uint32(track_event::TYPE, track_event::TYPE_INSTANT)
        .uint64(track_event::TRACK_UUID, process_track(pid))
        .string(track_event::NAME, name);
}
