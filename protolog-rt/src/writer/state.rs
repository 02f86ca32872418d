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
use std::sync::Arc;

/// The most bytes of a chunk's first packet, but for losses.
pub(super) const MAX_STATE: usize = 124;

/// The most bytes of losses in one chunk.
pub(super) const MAX_LOSSES: usize = 128;

/// The most bytes of one record of losses.
const MAX_LOSS: usize = 24;

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
        let mut state = Fields::<{ MAX_STATE + MAX_LOSSES }>::new();
        state.nested(packet::CLOCK_SNAPSHOT, &snapshot(self.last));
        state.add(|to| {
            to.uint32(packet::SEQUENCE_FLAGS, sequence_flags::INCREMENTAL_STATE_CLEARED);
            if dropped {
                to.uint32(packet::PREVIOUS_PACKET_DROPPED, 1);
            }
        });
        let mut defaults = Fields::<8>::new();
        defaults.add(|to| {
            to.uint32(packet_defaults::TIMESTAMP_CLOCK_ID, clock_id::SEQUENCE);
        });
        state.nested(packet::TRACE_PACKET_DEFAULTS, &defaults);
        state.nested(packet::SEQUENCE_INFO, &self.info(&writer.thread));
        state.add(|to| {
            to.raw(losses.bytes());
        });
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

    /// Whose sequence this is.
    fn info(&self, thread: &Thread) -> Fields<64> {
        let mut info = Fields::new();
        let pid = self.core.as_ref().map_or(0, |core| core.pid);
        info.add(|to| {
            to.uint32(sequence_info::PID, pid)
                .uint32(sequence_info::TID, thread.id)
                .string(sequence_info::THREAD_NAME, thread.name());
            if self.core.as_ref().is_some_and(|core| core.keeps != Keeps::Nothing) {
                to.uint64(sequence_info::MESSAGES, self.messages());
            }
        });
        info
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

/// The sequence's clock and BOOTTIME, at the same moment.
fn snapshot(nanos: u64) -> Fields<48> {
    let clock = |id, incremental| {
        let mut clock = Fields::<24>::new();
        clock.add(|to| {
            to.uint32(clock_field::CLOCK_ID, id).uint64(clock_field::TIMESTAMP, nanos);
            if incremental {
                to.bool(clock_field::IS_INCREMENTAL, true);
            }
        });
        clock
    };
    let mut snapshot = Fields::new();
    snapshot.nested(clock_snapshot::CLOCKS, &clock(clock_id::SEQUENCE, true));
    snapshot.nested(clock_snapshot::CLOCKS, &clock(clock_id::BOOTTIME, false));
    snapshot
}
