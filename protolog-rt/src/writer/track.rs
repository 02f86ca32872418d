//! The timeline track of a thread, on which its slices lie.
#![allow(clippy::inline_always)] // Its field is a part of each slice.

use super::fields::Fields;
use super::running;
use crate::sys::process::asked_id;
use crate::sys::thread::Thread;
use protolog_core::hash;
use protolog_core::schema::{packet, thread_descriptor, track_descriptor, track_event};
use protozero::wire::{WireType, packed_varint, tag};
use std::cell::Cell;

/// The most bytes of a track's description.
pub(super) const MAX_TRACK: usize = 80;

/// The track of a thread: any number that is not 0 and that no other thread's track has.
pub(crate) fn track(pid: u32, tid: u32) -> u64 {
    hash(&(u64::from(pid) << 32 | u64::from(tid)).to_le_bytes()) | 1
}

thread_local! {
    /// The thread's track, and the epoch of sessions in which it was computed: after a fork it is
    /// another.
    static TRACK: Cell<ThreadTrack> =
        const { Cell::new(ThreadTrack { epoch: 0, length: 0, track: 0, field: 0 }) };
}

#[derive(Clone, Copy)]
struct ThreadTrack {
    epoch: u32,
    /// The bytes of the field.
    length: u32,
    track: u64,
    /// The field of an event that names the track.
    field: u128,
}

impl ThreadTrack {
    #[inline(always)]
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
        let (bits, length) = packed_varint(track);
        let field = u128::from(TRACK_UUID) | bits << 8;
        let new = Self { epoch, length: 1 + length as u32, track, field };
        TRACK.set(new);
        new
    }
}

const TRACK_UUID: u8 = tag(track_event::TRACK_UUID, WireType::Varint) as u8;

/// The track of the calling thread.
#[cfg_attr(not(feature = "tracing"), allow(dead_code))] // That bridge encodes it anew.
pub(crate) fn current_track() -> u64 {
    ThreadTrack::current().track
}

/// The field of a `TrackEvent` that names the track of the calling thread, and its length.
#[inline(always)]
pub(super) fn track_field() -> (u128, usize) {
    let ThreadTrack { field, length, .. } = ThreadTrack::current();
    (field, length as usize)
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
