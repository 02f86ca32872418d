//! Timeline slices: the begin or end of a slice on a thread's track, as a packet among messages.
//!
//! ```text
//! 5a n {…}    track_event
//! 40 delta    timestamp; not first, since a packet that begins with it is a message
//! ```
//!
//! A thread that writes slices describes its track ([`super::track`]) in each of its chunks from then on, so that each can still be read
//! alone.
#![allow(unsafe_code)] // A promise about sizes.

use super::cursor::Cursor;
use super::intern::{ChunkStrings, Interner};
use super::layout::TIMESTAMP;
use super::packet::Packet;
use super::plan::{Base, Plan};
use protolog_core::schema::packet;
use protozero::wire::{WireType, packed_varint, tag, varint_len};

const EVENT: u8 = tag(packet::TRACK_EVENT, WireType::Bytes) as u8;

/// The fields of a `TrackEvent`; the only chunk of the smallest page has room for them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slice<'a>(pub(crate) &'a [u8]);

/// The most bytes of a slice's fields.
pub(crate) const MAX_SLICE: usize = 2048;

// SAFETY: *planned*: the tag's byte, the varint of the length, the fields, and the time as it was measured with its tag.
unsafe impl Packet for Slice<'_> {
    type Measured = ();
    const IS_MESSAGE: bool = false;
    const HAS_STRINGS: bool = false;

    fn plan(&self, base: Base, _: Option<ChunkStrings<'_>>) -> (Plan, ()) {
        (Plan::new(base), ())
    }

    fn size(&self, plan: &Plan) -> usize {
        1 + varint_len(self.0.len() as u64) + self.0.len() + 1 + plan.delta.len
    }

    fn encode(&self, to: &mut Cursor, _: u64, (plan, ()): (&Plan, ()), _: Interner<'_>) {
        let (size, size_len) = packed_varint(self.0.len() as u64);
        to.put(u128::from(EVENT) | size << 8, 1 + size_len);
        to.bytes(self.0);
        to.varint(TIMESTAMP, plan.delta);
    }
}
