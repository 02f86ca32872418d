//! The timeline track of a thread, on which its slices lie.

use super::fields::Fields;
use crate::sys::thread::Thread;
use protolog_core::hash;
use protolog_core::schema::{packet, thread_descriptor, track_descriptor};

/// The most bytes of a track's description.
pub(super) const MAX_TRACK: usize = 80;

/// The track of a thread: any number that is not 0 and that no other thread's track has.
pub(crate) fn track(pid: u32, tid: u32) -> u64 {
    hash(&(u64::from(pid) << 32 | u64::from(tid)).to_le_bytes()) | 1
}

/// The track of the calling thread.
pub(crate) fn current_track() -> u64 {
    track(std::process::id(), Thread::current().id)
}

/// The packet that describes a thread's track.
pub(super) fn description(pid: u32, thread: &Thread) -> Fields<MAX_TRACK> {
    let mut description = Fields::new();
    description.add(|to| {
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
