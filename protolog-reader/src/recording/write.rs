//! A recording as a trace.
//!
//! | sequence | packets |
//! |---|---|
//! | 1 | clocks and boot, the process and the dictionary (from the annex), an instant at the start |
//! | 2… | each writer's packets; where messages are missing, their number; the thread's name |
//! | 1 | losses of all threads, messages of threads of which nothing is left, an instant at the end |

use super::chunks::{self, Chunk};
use super::sequence::{Missing, Part, SequenceReader};
use super::{Flaw, Recording, Recovered};
use crate::packets::PacketWriter;
use crate::thread::Thread;
use protolog_core::process_track;
use protolog_core::recorder::{
    LOSSES, LOSSES_AT, MESSAGE_COUNTS, METADATA_LOST_AT, OTHER_LOSSES, OTHER_LOSSES_AT,
    OTHER_MESSAGE_COUNT_AT, message_count_at, next_record, parse_loss_key,
};
use protolog_core::schema::{
    clock as clock_field, clock_id, clock_snapshot, loss, loss_cause, message_data, packet,
    sequence_flags, sequence_info, thread_descriptor, track_event, viewer_config,
};
use protozero::{Heap, Message, Reader};
use std::collections::HashSet;
use std::io;

/// The sequence of what belongs to no thread.
const OWN: u32 = 1;

/// Writes all that can be recovered.
pub(super) fn write(recording: &Recording<'_>, to: &mut PacketWriter<'_>) -> io::Result<Recovered> {
    let (pid, started) = (recording.header.pid, recording.header.boottime);
    let mut recovery = Recovery {
        report: Recovered { pid, ..Recovered::default() },
        texts: HashSet::new(),
        textless: 0,
        most: most(recording),
    };
    to.make(OWN, |to| clocks(to, recording))?;
    let damaged = recovery.annex(recording, to)?;
    to.make(OWN, |to| mark(to, pid, started, "protolog recording started"))?;
    let chunks = chunks::find(recording.ring(), recording.header.page as usize);
    let (mut told, mut gone, mut ended) = (0u64, 0u64, started);
    let (mut bad_packets, mut bad) = (0, chunks.bad);
    for (writer, chunks) in &chunks.by_writer {
        let read = recovery.sequence(u32::from(*writer) + OWN, chunks, to)?;
        match message_count_at(*writer) {
            // More than its chunks say: those that came later are gone.
            Some(at) => {
                gone = gone.saturating_add(recording.counter(at).saturating_sub(read.numbered));
            }
            None => told = told.saturating_add(read.told),
        }
        ended = ended.max(read.time);
        bad_packets += read.bad_packets;
        bad += read.bad_chunks;
    }
    let absent = (1..=MESSAGE_COUNTS as u16).filter(|id| !chunks.by_writer.contains_key(id));
    for at in absent.filter_map(message_count_at) {
        gone = gone.saturating_add(recording.counter(at));
    }
    let vanished =
        recording.counter(OTHER_MESSAGE_COUNT_AT).saturating_sub(told).saturating_add(gone);
    recovery.losses(recording, vanished, ended, to)?;
    to.make(OWN, |to| mark(to, pid, ended, "protolog recording ended"))?;
    let mut report = recovery.report;
    report.flaws.extend(recording.newer().map(Flaw::Newer));
    for (flaw, count) in [
        (Flaw::Truncated as fn(u64) -> Flaw, recording.missing()),
        (Flaw::Pages, chunks.bad_pages),
        (Flaw::Chunks, bad),
        (Flaw::Packets, bad_packets),
        (Flaw::Texts, damaged),
        (Flaw::UnenteredTexts, recording.counter(METADATA_LOST_AT)),
        (Flaw::Textless, recovery.textless),
    ] {
        report.flaws.extend((count > 0).then(|| flaw(count)));
    }
    Ok(report)
}

/// What has been written, and what is needed to write more.
struct Recovery {
    report: Recovered,
    /// Ids of messages that have a text.
    texts: HashSet<u64>,
    textless: u64,
    /// What no number of messages can exceed.
    most: u64,
}

/// Messages that were ever logged, at most: those of complete chunks, and all that can stand in the ring.
fn most(recording: &Recording<'_>) -> u64 {
    let writers = (1..=MESSAGE_COUNTS as u16).filter_map(message_count_at);
    let told =
        writers.map(|at| recording.counter(at)).chain([recording.counter(OTHER_MESSAGE_COUNT_AT)]);
    told.fold(recording.ring().len() as u64, u64::saturating_add)
}

impl Recovery {
    /// Writes the packets of the annex. The number of bytes of it that make no sense.
    fn annex(&mut self, recording: &Recording<'_>, to: &mut PacketWriter<'_>) -> io::Result<u64> {
        let mut rest = recording.annex();
        while let Some((packet, after)) = next_record(rest) {
            rest = after;
            self.learn(packet);
            to.packet(OWN, packet)?;
        }
        // What is not there at all is told as such.
        Ok(rest.len() as u64)
    }

    /// Notes which messages a packet has texts of.
    fn learn(&mut self, bytes: &[u8]) {
        let configs = fields(bytes, packet::PROTOLOG_VIEWER_CONFIG);
        for message in configs.flat_map(|config| fields(config, viewer_config::MESSAGES)) {
            let ids = Reader::new(message).flatten();
            let mut ids = ids.filter(|field| field.number == message_data::MESSAGE_ID);
            self.texts.extend(ids.next().and_then(|field| field.as_fixed64().ok()));
        }
    }

    /// Writes a writer's packets.
    fn sequence(
        &mut self,
        id: u32,
        chunks: &[Chunk<'_>],
        to: &mut PacketWriter<'_>,
    ) -> io::Result<SequenceReader> {
        let mut sequence = SequenceReader::default();
        let (mut next, mut result, before) = (None, Ok(()), self.report.messages);
        for chunk in chunks {
            let gap = next != Some(chunk.id);
            next = Some(chunk.id.wrapping_add(1));
            sequence.read(chunk, gap, self.most, &mut |part| {
                if result.is_ok() {
                    result = self.part(id, &part, to);
                }
            });
        }
        result?;
        self.report.threads += u64::from(self.report.messages > before);
        if let Some(thread) = &sequence.thread {
            to.make(id, |to| {
                to.uint32(packet::SEQUENCE_FLAGS, sequence_flags::INCREMENTAL_STATE_CLEARED);
                to.nested(packet::THREAD_DESCRIPTOR)
                    .uint32(thread_descriptor::PID, thread.pid.unwrap_or(0))
                    .uint32(thread_descriptor::TID, thread.tid.unwrap_or(0))
                    .string(thread_descriptor::THREAD_NAME, name(thread));
                owner(to, thread);
            })?;
        }
        Ok(sequence)
    }

    fn part(&mut self, id: u32, part: &Part<'_>, to: &mut PacketWriter<'_>) -> io::Result<()> {
        match *part {
            Part::Packet(packet) => to.packet(id, packet),
            Part::Message(packet, message) => {
                self.report.messages += 1;
                self.textless += u64::from(!self.texts.contains(&message));
                to.packet(id, packet)
            }
            Part::Missing(Missing { count, thread, time }) => {
                self.report.overwritten = self.report.overwritten.saturating_add(count);
                to.make(id, |to| {
                    to.uint64(packet::TIMESTAMP, time)
                        .uint32(packet::SEQUENCE_FLAGS, sequence_flags::INCREMENTAL_STATE_CLEARED)
                        .uint32(packet::PREVIOUS_PACKET_DROPPED, 1);
                    if let Some(thread) = thread {
                        owner(to, thread);
                    }
                    lost(to, 0, loss_cause::OVERWRITTEN, count);
                })
            }
        }
    }

    /// Writes what was lost by all threads, and how many messages have `vanished`: were overwritten, without a chunk of their
    /// writer that tells of them.
    fn losses(
        &mut self,
        recording: &Recording<'_>,
        vanished: u64,
        time: u64,
        to: &mut PacketWriter<'_>,
    ) -> io::Result<()> {
        let counters = (0..LOSSES).filter_map(|index| {
            let at = LOSSES_AT + 16 * index;
            let (group, cause) = parse_loss_key(recording.counter(at))?;
            Some((group, cause, recording.counter(at + 8)))
        });
        let others = (0..OTHER_LOSSES)
            .map(|index| (0, index as u32 + 1, recording.counter(OTHER_LOSSES_AT + 8 * index)));
        self.report.overwritten = self.report.overwritten.saturating_add(vanished);
        let mut all: Vec<_> = counters.chain(others).filter(|(.., count)| *count > 0).collect();
        for (_, cause, count) in &all {
            if *cause != loss_cause::TRUNCATED {
                self.report.lost = self.report.lost.saturating_add(*count);
            }
        }
        all.extend((vanished > 0).then_some((0, loss_cause::OVERWRITTEN, vanished)));
        if all.is_empty() {
            return Ok(());
        }
        to.make(OWN, |to| {
            to.uint64(packet::TIMESTAMP, time);
            for (group, cause, count) in all {
                lost(to, group, cause, count);
            }
        })
    }
}

/// The nested messages of `bytes` with this field number.
fn fields(bytes: &[u8], number: u32) -> impl Iterator<Item = &[u8]> {
    let fields = Reader::new(bytes).flatten().filter(move |field| field.number == number);
    fields.filter_map(|field| field.as_bytes().ok())
}

/// Whose a sequence is.
fn owner(to: &mut Message<'_, Heap>, thread: &Thread) {
    to.nested(packet::SEQUENCE_INFO)
        .uint32(sequence_info::PID, thread.pid.unwrap_or(0))
        .uint32(sequence_info::TID, thread.tid.unwrap_or(0))
        .string(sequence_info::THREAD_NAME, name(thread));
}

fn name(thread: &Thread) -> &str {
    thread.name.as_deref().unwrap_or_default()
}

/// A record of losses.
fn lost(to: &mut Message<'_, Heap>, group: u32, cause: u32, count: u64) {
    let mut record = to.nested(packet::LOSS);
    if group != 0 {
        record.uint32(loss::GROUP_ID, group);
    }
    record.uint32(loss::CAUSE, cause).uint64(loss::COUNT, count);
}

/// The clocks at the start, and which boot it was.
fn clocks(to: &mut Message<'_, Heap>, recording: &Recording<'_>) {
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

/// An instant on the process's track: with nothing but messages, Perfetto takes a trace for empty.
fn mark(to: &mut Message<'_, Heap>, pid: u32, nanos: u64, name: &str) {
    to.uint64(packet::TIMESTAMP, nanos);
    to.nested(packet::TRACK_EVENT)
        .uint32(track_event::TYPE, track_event::TYPE_INSTANT)
        .uint64(track_event::TRACK_UUID, process_track(pid))
        .string(track_event::NAME, name);
}
