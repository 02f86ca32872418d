//! The timeline track of a thread, on which its slices lie.

use super::fields::Fields;
use super::running;
use crate::sys::process::asked_id;
use crate::sys::thread::Thread;
use protolog_core::hash;
use protolog_core::schema::{
    clock_id, packet, packet_defaults, thread_descriptor, track_descriptor, track_event_defaults,
};
use std::cell::Cell;

/// The most bytes of a track's description.
pub(super) const MAX_TRACK: usize = 100;

/// The track of a thread: any number that is not 0 and that no other thread's track has.
pub(crate) fn track(pid: u32, tid: u32) -> u64 {
    hash(&(u64::from(pid) << 32 | u64::from(tid)).to_le_bytes()) | 1
}

thread_local! {
    /// The thread's track, and the epoch of sessions in which it was computed: after a fork it is
    /// another.
    static TRACK: Cell<ThreadTrack> =
        const { Cell::new(ThreadTrack { epoch: 0, track: 0 }) };
}

#[derive(Clone, Copy)]
struct ThreadTrack {
    epoch: u32,
    track: u64,
}

impl ThreadTrack {
    #[inline]
    fn current() -> Self {
        let known = TRACK.get();
        if known.epoch == running::epoch() { known } else { Self::renew() }
    }

    #[cold]
    #[inline(never)]
    fn renew() -> Self {
        // Before the process and the thread are asked for.
        let epoch = running::epoch();
        let track = track(asked_id(), Thread::current().id);
        let new = Self { epoch, track };
        TRACK.set(new);
        new
    }
}

/// The track of the calling thread.
pub(crate) fn current_track() -> u64 {
    ThreadTrack::current().track
}

/// The packet that describes a thread's track, and makes it that of the chunk's events which name
/// none.
pub(super) fn description(pid: u32, thread: &Thread) -> Fields<MAX_TRACK> {
    let mut description = Fields::new();
    description.add(|to| {
        // They replace those of the chunk's first packet.
        to.nested(packet::TRACE_PACKET_DEFAULTS)
            .uint32(packet_defaults::TIMESTAMP_CLOCK_ID, clock_id::SEQUENCE)
            .nested(packet_defaults::TRACK_EVENT_DEFAULTS)
            .uint64(track_event_defaults::TRACK_UUID, track(pid, thread.id));
        let mut descriptor = to.nested(packet::TRACK_DESCRIPTOR);
        descriptor.uint64(track_descriptor::UUID, track(pid, thread.id));
        descriptor
            .nested(track_descriptor::THREAD)
            .uint32(thread_descriptor::PID, pid)
            .uint32(thread_descriptor::TID, thread.id)
            .string(thread_descriptor::THREAD_NAME, thread.name());
    });
    description
}
