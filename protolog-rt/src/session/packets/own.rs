//! Packets that a session itself adds to those of its writers, whatever they go to.

use crate::loss::LossCount;
use crate::sys::thread::Thread;
use crate::writer::state::{loss_record, record_field};
use protolog_core::process_track;
use protolog_core::schema::{
    packet, sequence_flags, sequence_info, thread_descriptor, track_event,
};
use protozero::{Heap, Message};

/// Appends the end of a thread's sequence: its name, in Perfetto's terms and in ours, and drops.
pub(in crate::session) fn append_sequence_end(
    to: &mut Message<'_, Heap>,
    pid: u32,
    thread: &Thread,
    losses: &[LossCount],
) {
    to.uint32(packet::SEQUENCE_FLAGS, sequence_flags::INCREMENTAL_STATE_CLEARED);
    to.nested(packet::THREAD_DESCRIPTOR)
        .uint32(thread_descriptor::PID, pid)
        .uint32(thread_descriptor::TID, thread.id)
        .string(thread_descriptor::THREAD_NAME, thread.name());
    append_losses_of(to, pid, thread, losses);
}

/// Appends drops of a thread, and which one it is: the sequence may have been another's before.
pub(in crate::session) fn append_losses_of(
    to: &mut Message<'_, Heap>,
    pid: u32,
    thread: &Thread,
    losses: &[LossCount],
) {
    to.nested(packet::SEQUENCE_INFO)
        .uint32(sequence_info::PID, pid)
        .uint32(sequence_info::TID, thread.id)
        .string(sequence_info::THREAD_NAME, thread.name());
    append_losses(to, losses);
}

/// Appends records of drops, and of messages that sampling passed over.
pub(in crate::session) fn append_losses(to: &mut Message<'_, Heap>, losses: &[LossCount]) {
    for lost in losses {
        to.bytes(record_field(lost.cause), loss_record(*lost).bytes());
    }
}

/// Appends an instant on the process's track: Perfetto takes a trace with nothing but messages for
/// empty.
pub(in crate::session) fn append_instant(
    to: &mut Message<'_, Heap>,
    pid: u32,
    nanos: u64,
    name: &str,
) {
    to.uint64(packet::TIMESTAMP, nanos);
    to.nested(packet::TRACK_EVENT)
        .uint32(track_event::TYPE, track_event::TYPE_INSTANT)
        .uint64(track_event::TRACK_UUID, process_track(pid))
        .string(track_event::NAME, name);
}
