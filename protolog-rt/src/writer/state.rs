//! The packet that a chunk begins with: all that later ones rest on (see `docs/design/wire-format.md`), so that the chunk can
//! be read alone.
//!
//! Invariant: it takes at most [`MAX_STATE`] bytes, and losses [`MAX_LOSSES`].

use super::Writer;
use super::fields::Fields;
use super::own::Own;
use super::slice;
use super::thread::Thread;
use crate::loss::{Cause, Counted};
use crate::session::core::{Core, Keeps};
use protolog_core::chunk::FRAGMENT_SIZE_LEN;
use protolog_core::schema::{
    clock as clock_field, clock_id, clock_snapshot, loss, packet, packet_defaults, sequence_flags,
    sequence_info,
};
use protozero::wire::{WireType, tag, varint_len};
use protozero::{Fixed, Message};
use std::sync::Arc;

/// The most bytes of a chunk's first packet, but for losses.
pub(super) const MAX_STATE: usize = 124;

/// The most bytes of losses in one chunk.
pub(super) const MAX_LOSSES: usize = 128;

/// The most bytes of one record of losses.
const MAX_LOSS: usize = 24;

/// Room for all fields, and for the last of them to be stored in wide steps.
const MAX_FIELDS: usize = MAX_STATE + MAX_LOSSES + 20;

impl Own {
    /// Writes the packet that a chunk begins with. False where there is no room for it.
    pub(super) fn write_state(&mut self, writer: &Writer) -> bool {
        // Asked first: losses that are taken have to find room.
        if self.room() < MAX_STATE + MAX_LOSSES + FRAGMENT_SIZE_LEN {
            return false;
        }
        self.last = self.clock.now().max(self.last);
        let mut losses = Fields::<MAX_LOSSES>::new();
        let mut dropped = false;
        // What a buffer keeps is told at the end, since chunks may be gone by then.
        let told_here = |core: &&Arc<Core>| core.keeps == Keeps::Nothing;
        if let Some(core) = self.core.as_ref().filter(told_here) {
            writer.losses.take(|lost| {
                dropped |= matches!(lost.cause, Cause::Full | Cause::Overwritten);
                let room = losses.bytes().len() + MAX_LOSS <= MAX_LOSSES;
                if room {
                    core.totals.add(lost.group, lost.cause, lost.count);
                    losses.nested(packet::LOSS, &loss_record(lost));
                }
                room
            });
        }
        let state = self.state(&writer.thread, dropped, losses.bytes());
        let written = self.append(state.bytes());
        self.others += written as u16;
        written && (!self.has_track || self.write_track(writer))
    }

    fn write_track(&mut self, writer: &Writer) -> bool {
        let pid = self.core.as_ref().map_or(0, |core| core.pid);
        let written = self.append(slice::description(pid, &writer.thread).bytes());
        self.others += written as u16;
        written
    }

    /// The packet, in one go: it is written some hundred thousand times a second.
    fn state(&self, thread: &Thread, dropped: bool, losses: &[u8]) -> Fields<MAX_FIELDS> {
        let mut state = Fields::new();
        state.add(|to| {
            add_snapshot(to, self.last);
            to.uint32(packet::SEQUENCE_FLAGS, sequence_flags::INCREMENTAL_STATE_CLEARED);
            if dropped {
                to.uint32(packet::PREVIOUS_PACKET_DROPPED, 1);
            }
            let clock = (packet_defaults::TIMESTAMP_CLOCK_ID, clock_id::SEQUENCE);
            to.nested_exact(packet::TRACE_PACKET_DEFAULTS, number_len(clock.0, clock.1.into()))
                .uint32(clock.0, clock.1);
            self.add_info(to, thread);
            to.raw(losses);
        });
        state
    }

    /// Adds whose sequence this is.
    fn add_info(&self, to: &mut Message<'_, Fixed<'_>>, thread: &Thread) {
        let (pid, keeps) =
            self.core.as_ref().map_or((0, Keeps::Nothing), |core| (core.pid, core.keeps));
        let messages = (keeps != Keeps::Nothing).then(|| self.messages());
        let size = number_len(sequence_info::PID, pid.into())
            + number_len(sequence_info::TID, thread.id.into())
            + message_len(sequence_info::THREAD_NAME, thread.name_bytes().len())
            + messages.map_or(0, |messages| number_len(sequence_info::MESSAGES, messages));
        let mut info = to.nested_exact(packet::SEQUENCE_INFO, size);
        info.uint32(sequence_info::PID, pid)
            .uint32(sequence_info::TID, thread.id)
            .bytes(sequence_info::THREAD_NAME, thread.name_bytes());
        if let Some(messages) = messages {
            info.uint64(sequence_info::MESSAGES, messages);
        }
    }
}

/// One record of [`packet::LOSS`].
pub(crate) fn loss_record(lost: Counted) -> Fields<MAX_LOSS> {
    let mut record = Fields::new();
    record.add(|to| {
        if lost.group != 0 {
            to.uint32(loss::GROUP_ID, lost.group);
        }
        to.uint32(loss::CAUSE, lost.cause as u32).uint64(loss::COUNT, lost.count);
    });
    record
}

/// Adds the sequence's clock and BOOTTIME, at the same moment.
fn add_snapshot(to: &mut Message<'_, Fixed<'_>>, nanos: u64) {
    let id_len = number_len(clock_field::CLOCK_ID, clock_id::SEQUENCE.into());
    let boottime = id_len + number_len(clock_field::TIMESTAMP, nanos);
    let sequence = boottime + number_len(clock_field::IS_INCREMENTAL, 1);
    let size = message_len(clock_snapshot::CLOCKS, sequence)
        + message_len(clock_snapshot::CLOCKS, boottime);
    let mut snapshot = to.nested_exact(packet::CLOCK_SNAPSHOT, size);
    snapshot
        .nested_exact(clock_snapshot::CLOCKS, sequence)
        .uint32(clock_field::CLOCK_ID, clock_id::SEQUENCE)
        .uint64(clock_field::TIMESTAMP, nanos)
        .bool(clock_field::IS_INCREMENTAL, true);
    snapshot
        .nested_exact(clock_snapshot::CLOCKS, boottime)
        .uint32(clock_field::CLOCK_ID, clock_id::BOOTTIME)
        .uint64(clock_field::TIMESTAMP, nanos);
}

/// Bytes of a field that is a number.
const fn number_len(field: u32, value: u64) -> usize {
    varint_len(tag(field, WireType::Varint) as u64) + varint_len(value)
}

/// Bytes of a field that is a message, or a text, of `size` bytes.
const fn message_len(field: u32, size: usize) -> usize {
    varint_len(tag(field, WireType::Bytes) as u64) + varint_len(size as u64) + size
}
