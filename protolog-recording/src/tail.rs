//! Follows a recording that a process is writing: what was added becomes the continuation of a
//! trace.
//!
//! Each look at the file reads on where the one before ended, chunk by chunk. Messages that were
//! overwritten between two looks are counted where they are missing, as they are in a recording
//! that is recovered.
//!
//! Invariant: each message is passed on once, or counted.

use super::chunks::{self, Chunk};
use super::sequence::{Missing, Part, SequenceReader};
use super::settle::settle;
use super::write::{SESSION_SEQUENCE, add_loss, losses, set_clocks, set_instant, set_thread};
use super::{Recording, RecordingError};
use crate::packets::PacketWriter;
use protolog_core::recorder::next_record;
use protolog_core::schema::{loss_cause, packet, sequence_flags};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

/// A recording that is followed.
#[derive(Debug, Default)]
pub struct Tail {
    has_begun: bool,
    /// Bytes of metadata that were passed on.
    metadata: usize,
    writers: HashMap<u16, SequenceReader>,
    /// Losses that were passed on, by group and cause.
    losses: BTreeMap<(u32, u32), u64>,
}

impl Tail {
    /// Writes what was added since the last look, as packets of a trace. `copies` are three copies
    /// of the file, made one after the other, so that what was half written while one was made is
    /// known.
    ///
    /// # Errors
    ///
    /// The inner error: it is no recording, or its head is not written yet. The outer one: `out`
    /// failed.
    pub fn read(
        &mut self,
        copies: [&[u8]; 3],
        out: &mut dyn Write,
    ) -> io::Result<Result<(), RecordingError>> {
        let recordings = match copies.map(Recording::parse) {
            [Ok(first), Ok(second), Ok(third)] => [first, second, third],
            [Err(error), ..] | [_, Err(error), _] | [.., Err(error)] => return Ok(Err(error)),
        };
        let recording = &recordings[0];
        let to = &mut PacketWriter::new(out);
        let (pid, started) = (recording.header().pid, recording.header().boottime);
        if !self.has_begun {
            to.write_with(SESSION_SEQUENCE, |to| set_clocks(to, recording))?;
        }
        self.add_metadata(recordings[1].metadata(), to)?;
        if !std::mem::replace(&mut self.has_begun, true) {
            to.write_with(SESSION_SEQUENCE, |to| {
                set_instant(to, pid, started, "protolog recording started");
            })?;
        }
        let page = recording.header().page as usize;
        let copies = recordings.each_ref().map(Recording::rings);
        let rings = [0, 1].map(|number| settle(copies.map(|rings| rings[number]), page));
        let chunks = chunks::find(rings.iter().map(Vec::as_slice), page, false);
        let mut latest = started;
        for (writer, chunks) in &chunks.by_writer {
            let known = self.writers.entry(*writer).or_default();
            read_on(known, u32::from(*writer) + SESSION_SEQUENCE, chunks, to)?;
            latest = latest.max(known.time);
        }
        self.add_vanished(recording, to)?;
        self.add_losses(recording, latest, to)?;
        Ok(Ok(()))
    }

    fn add_metadata(&mut self, metadata: &[u8], to: &mut PacketWriter<'_>) -> io::Result<()> {
        let mut rest = metadata.get(self.metadata..).unwrap_or_default();
        while let Some((packet, after)) = next_record(rest) {
            rest = after;
            to.write(SESSION_SEQUENCE, packet)?;
        }
        self.metadata = metadata.len() - rest.len();
        Ok(())
    }

    /// Counts messages of writers all of whose newer chunks were overwritten.
    fn add_vanished(
        &mut self,
        recording: &Recording<'_>,
        to: &mut PacketWriter<'_>,
    ) -> io::Result<()> {
        for (writer, reader) in &mut self.writers {
            let at = recording.message_count_at(*writer);
            let count = at.map_or(0, |at| recording.counter(at));
            let missing = count.saturating_sub(reader.messages);
            if missing > 0 {
                let (thread, time) = (reader.thread.as_ref(), reader.time);
                let missing = Missing { count: missing, thread, time };
                add_missing(u32::from(*writer) + SESSION_SEQUENCE, missing, to)?;
                reader.messages = count;
            }
        }
        Ok(())
    }

    fn add_losses(
        &mut self,
        recording: &Recording<'_>,
        time: u64,
        to: &mut PacketWriter<'_>,
    ) -> io::Result<()> {
        let mut added = Vec::new();
        for (group, cause, count) in losses(recording) {
            let known = self.losses.entry((group, cause)).or_default();
            if count > *known {
                added.push((group, cause, count - *known));
                *known = count;
            }
        }
        if added.is_empty() {
            return Ok(());
        }
        to.write_with(SESSION_SEQUENCE, |to| {
            to.uint64(packet::TIMESTAMP, time);
            for (group, cause, count) in added {
                add_loss(to, group, cause, count);
            }
        })
    }
}

/// Passes on what the chunks of a writer have beyond the last look.
fn read_on(
    reader: &mut SequenceReader,
    sequence: u32,
    chunks: &[Chunk<'_>],
    to: &mut PacketWriter<'_>,
) -> io::Result<()> {
    let (mut result, mut next) = (Ok(()), None);
    for chunk in chunks {
        if reader.is_before(chunk.id) {
            continue;
        }
        let gap = next != Some(chunk.id);
        next = Some(chunk.id.wrapping_add(1));
        reader.read(chunk, gap, u64::MAX, &mut |part| {
            if result.is_ok() {
                result = write_part(sequence, &part, to);
            }
        });
        reader.move_behind(chunk);
    }
    result
}

fn write_part(sequence: u32, part: &Part<'_>, to: &mut PacketWriter<'_>) -> io::Result<()> {
    match *part {
        Part::Packet(packet) | Part::State(packet) | Part::Message(packet, _) => {
            to.write(sequence, packet)
        }
        Part::Missing(missing) => add_missing(sequence, missing, to),
    }
}

/// Writes that messages of a sequence are missing, and clears its state.
fn add_missing(sequence: u32, missing: Missing<'_>, to: &mut PacketWriter<'_>) -> io::Result<()> {
    to.write_with(sequence, |to| {
        to.uint64(packet::TIMESTAMP, missing.time)
            .uint32(packet::SEQUENCE_FLAGS, sequence_flags::INCREMENTAL_STATE_CLEARED)
            .uint32(packet::PREVIOUS_PACKET_DROPPED, 1);
        if let Some(thread) = missing.thread {
            set_thread(to, thread);
        }
        add_loss(to, 0, loss_cause::OVERWRITTEN, missing.count);
    })
}
