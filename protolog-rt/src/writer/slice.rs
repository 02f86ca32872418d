//! Timeline slices: the begin or end of a slice on a thread's track, as a packet among messages.
//!
//! ```text
//! 5a n {…}    track_event
//! d8 3e d     slice_depth, below 128
//! 40 delta    timestamp; not first, since a packet that begins with it is a message
//! ```
//!
//! A thread that writes slices describes its track ([`super::track`]) in each of its chunks from then on, so that each can still be read
//! alone.
#![allow(unsafe_code)] // A promise about sizes.

use super::Head;
use super::cursor::Cursor;
use super::intern::{ChunkStrings, Interner};
use super::layout::TIMESTAMP;
use super::packet::Packet;
use super::plan::{Base, Plan};
use crate::level::AtHost;
use protolog_core::schema::packet;
use protozero::wire::{WireType, packed_varint, tag, varint_len};

/// The first byte of such a packet.
pub(crate) const EVENT: u8 = tag(packet::TRACK_EVENT, WireType::Bytes) as u8;

/// The tag of the depth as a varint of two bytes.
const DEPTH: [u8; 2] = {
    let tag = tag(packet::SLICE_DEPTH, WireType::Varint);
    assert!(tag < 1 << 14);
    [tag as u8 | 0x80, (tag >> 7) as u8]
};

/// The fields of a `TrackEvent`, for which the only chunk of the smallest page has room; and the number of slices around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slice<'a> {
    pub(crate) event: &'a [u8],
    pub(crate) depth: u8,
}

/// The most bytes of a slice's fields.
pub(crate) const MAX_SLICE: usize = 2048;

// SAFETY: *planned*: the tag's byte, the varint of the length, the fields, three bytes of the depth, and the time as it was measured with
// its tag.
unsafe impl Packet for Slice<'_> {
    type Measured = ();
    const IS_MESSAGE: bool = false;
    const HAS_STRINGS: bool = false;

    fn pass_on(&self, head: Head, host: &AtHost) {
        host.slice(head.level(), self.event, self.depth);
    }

    fn plan(&self, base: Base, _: Option<ChunkStrings<'_>>) -> (Plan, ()) {
        (Plan::new(base), ())
    }

    fn size(&self, plan: &Plan) -> usize {
        1 + varint_len(self.event.len() as u64) + self.event.len() + 3 + 1 + plan.delta.len
    }

    fn encode(&self, to: &mut Cursor, _: u64, (plan, ()): (&Plan, ()), _: Interner<'_>) {
        let (size, size_len) = packed_varint(self.event.len() as u64);
        to.put(u128::from(EVENT) | size << 8, 1 + size_len);
        to.bytes(self.event);
        to.bytes(&[DEPTH[0], DEPTH[1], self.depth.min(0x7f)]);
        to.varint(TIMESTAMP, plan.delta);
    }
}
