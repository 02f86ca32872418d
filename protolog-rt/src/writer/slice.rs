//! The begin or end of a slice of time on a thread's track, as a packet among messages.
//!
//! ```text
//! 5a n {…}    track_event
//! 40 delta    timestamp; not first, since a packet that begins with it is a message
//! ```
//!
//! A thread that writes slices describes its track in each of its chunks from then on, so that each can still be read alone.
#![allow(unsafe_code)] // Passes on what the functions of `encode` ask for.

use super::encode::{Cursor, Interner, Plan, Values, sealed::Sealed};
use super::fields::Fields;
use super::quick::Quick;
use super::texts::Texts;
use crate::sys::thread::Thread;
use protolog_core::schema::{packet, thread_descriptor, track_descriptor};
use protolog_core::{Arg, hash};
use protozero::wire::{WireType, packed_varint, tag, varint_len};

/// The most bytes of a track's description.
pub(super) const MAX_TRACK: usize = 80;

const EVENT: u8 = tag(packet::TRACK_EVENT, WireType::Bytes) as u8;
const TIMESTAMP: u8 = tag(packet::TIMESTAMP, WireType::Varint) as u8;

/// The fields of a `TrackEvent`; with room to spare in the smallest page's only chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slice<'a>(pub(crate) &'a [u8]);

/// The most bytes of a slice's fields.
pub(crate) const MAX_SLICE: usize = 2048;

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

impl Sealed for Slice<'_> {}

impl Quick for Slice<'_> {
    type Found = ();
}

impl Values for Slice<'_> {
    type Seen = ();
    const HAS_TEXTS: bool = false;
    const IS_MESSAGE: bool = false;

    unsafe fn measure(&self, _: &mut Plan, _: Option<&Texts>) {}

    unsafe fn params(&self, _: &mut Cursor, (): (), _: &mut u32) {}

    unsafe fn texts(&self, _: &mut Cursor, (): (), _: &mut Interner<'_>, _: usize) {}

    fn for_each<'a>(&'a self, _: &mut dyn FnMut(Arg<'a>)) {}

    fn size(&self, plan: &Plan) -> usize {
        1 + varint_len(self.0.len() as u64) + self.0.len() + 1 + plan.delta.len
    }

    unsafe fn packet(&self, to: &mut Cursor, _: u64, (plan, ()): (&Plan, ()), _: Interner<'_>) {
        let (size, size_len) = packed_varint(self.0.len() as u64);
        // SAFETY: *room*, as the caller's, here and below.
        unsafe { to.put(u128::from(EVENT) | size << 8, 1 + size_len) };
        // SAFETY: as above.
        unsafe { to.bytes(self.0) };
        // SAFETY: as above.
        unsafe { to.varint(TIMESTAMP, plan.delta) };
    }
}
