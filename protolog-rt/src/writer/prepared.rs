//! Slices of the program's own spans, prepared on the stack and copied to the chunk.
//!
//! The sizes of names and texts bound the size of such a slice, so one comparison reserves the room
//! in the buffer, and another one that in the chunk. The bytes are those of [`super::slice`], but
//! that the event's size takes two bytes, whatever it is:
//!
//! ```text
//! 5a n n {…}      track_event: type, track, category, name, flow, arguments
//! …               the fields beside it: depth, number, id of the template, times
//! 40 delta        timestamp; not first, since a packet that begins with it is a message
//! ```
//!
//! Invariant *prepared*: no more bytes are appended to a [`SliceBuffer`] than its [`ROOM`].
#![allow(unsafe_code)] // Cursors over the buffer and the chunk.
#![allow(clippy::inline_always)] // Its parts must not be calls.

use super::annotations::{SHORT, tag_of};
use super::cursor::{Cursor, SLACK};
use super::fast::{FastArgs, MAX_DELTA};
use super::intern::{ChunkStrings, Interner};
use super::layout::TIMESTAMP;
use super::own::Own;
use super::packet::Packet;
use super::plan::{Base, Plan, size_field};
use super::slice::{EVENT, SpanProgress};
use super::track::track_field;
use super::{Head, Writer};
use crate::level::AtHost;
use crate::sync::Ordering;
use protolog_core::schema::{packet, track_event};
use protozero::wire::{WireType, packed_varint, short_varint};
use std::mem::MaybeUninit;
use std::slice;

/// The most bytes of a slice: longer ones are not prepared here.
const ROOM: usize = 512;

/// The most bytes of a slice but for its names and arguments: event, type, track, two texts, flow,
/// depth, number, id or times.
const AROUND: usize = 3 + 2 + 11 + 6 + 10 + 7 + 13 + 26;

/// A prepared slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PreparedSlice<'a> {
    /// The event with its tag and size, and the fields beside it.
    bytes: &'a [u8],
    /// The bytes of the event.
    event: usize,
}

/// Memory for a slice.
pub(crate) struct SliceBuffer([MaybeUninit<u8>; ROOM + SLACK]);

/// The names of a slice, as UTF-8.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SliceNames<'a> {
    /// The group's.
    pub(crate) category: &'a [u8],
    /// May be empty.
    pub(crate) name: &'a [u8],
    /// The list of the arguments' names.
    pub(crate) arguments: &'a [u8],
}

const TYPE: u64 = tag_of(track_event::TYPE, WireType::Varint);
const CATEGORY: u64 = tag_of(track_event::CATEGORIES, WireType::Bytes);
const NAME: u64 = tag_of(track_event::NAME, WireType::Bytes);
const FLOW: u64 = tag_of(track_event::FLOW_IDS, WireType::Fixed64);
const DEPTH: u64 = tag_of(packet::SLICE_DEPTH, WireType::Varint);
const NUMBER: u64 = tag_of(packet::SPAN_NUMBER, WireType::Varint);
const MESSAGE: u64 = tag_of(packet::SPAN_MESSAGE, WireType::Fixed64);
const BUSY: u64 = tag_of(packet::SPAN_BUSY, WireType::Varint);
const AGE: u64 = tag_of(packet::SPAN_AGE, WireType::Varint);

impl SliceBuffer {
    /// An empty buffer.
    #[inline(always)]
    pub(crate) const fn new() -> Self {
        Self([const { MaybeUninit::uninit() }; ROOM + SLACK])
    }

    /// Prepares a begin. None where it is long.
    #[inline]
    pub(crate) fn begin<A: FastArgs>(
        &mut self,
        names: SliceNames<'_>,
        args: &A,
        depth: u32,
        span: SpanProgress,
    ) -> Option<PreparedSlice<'_>> {
        let SliceNames { category, name, arguments } = names;
        let most = category.len() + name.len() + arguments.len() + args.annotations_room();
        let most = AROUND + most;
        if most > ROOM || category.len() > SHORT || name.len() > SHORT || arguments.len() > SHORT {
            return None;
        }
        Some(self.prepare(track_event::TYPE_SLICE_BEGIN, depth, span, |to| {
            to.put8(CATEGORY | (category.len() as u64) << 16, 3);
            to.short_bytes(category);
            if !name.is_empty() {
                to.put8(NAME | (name.len() as u64) << 16, 3);
                to.short_bytes(name);
            }
            if span.number != 0 {
                to.put8(FLOW, 2);
                to.put8(span.flow(), 8);
            }
            args.put_annotations(to, &mut { arguments }, 0);
        }))
    }

    /// Prepares an end.
    #[inline]
    pub(crate) fn end(&mut self, depth: u32, span: SpanProgress) -> PreparedSlice<'_> {
        self.prepare(track_event::TYPE_SLICE_END, depth, span, |_| ())
    }

    /// Prepares an event with the fields that `fill` appends, which fit with those around them.
    #[inline(always)]
    fn prepare(
        &mut self,
        kind: u32,
        depth: u32,
        span: SpanProgress,
        fill: impl FnOnce(&mut Cursor),
    ) -> PreparedSlice<'_> {
        let start = self.0.as_mut_ptr().cast::<u8>();
        // SAFETY: *prepared*: the buffer has ROOM bytes, and SLACK after them.
        let mut to = unsafe { Cursor::new(start, ROOM) };
        to.put1(EVENT);
        let (low, high) = (to.skip_size(), to.skip_size());
        to.put8(TYPE | u64::from(kind) << 8, 2);
        let (track, len) = track_field();
        to.put(track, len);
        fill(&mut to);
        let event = to.since(&high);
        to.fill(low, event & 0x7f | 0x80);
        to.fill(high, event >> 7);
        append_beside(&mut to, depth, span);
        let len = to.at() as usize - start as usize;
        // SAFETY: *prepared*: the cursor has initialised the bytes from the start to its place.
        PreparedSlice { bytes: unsafe { slice::from_raw_parts(start, len) }, event }
    }
}

/// Appends the fields beside an event.
#[inline(always)]
fn append_beside(to: &mut Cursor, depth: u32, span: SpanProgress) {
    let (bits, len) = small_varint(depth.min(MAX_DELTA as u32 - 1));
    to.put8(DEPTH | u64::from(bits) << 16, 2 + len);
    let mut append = |tag: u64, value: u64| {
        let (bits, len) = packed_varint(value);
        to.put(u128::from(tag) | bits << 16, 2 + len);
    };
    if span.number != 0 {
        append(NUMBER, span.number);
    }
    if let Some((busy, age)) = span.times {
        append(BUSY, busy);
        append(AGE, age);
    }
    if span.message != 0 {
        to.put8(MESSAGE, 2);
        to.put8(span.message, 8);
    }
}

/// The varint of a number below [`MAX_DELTA`], and its length.
#[inline(always)]
fn small_varint(value: u32) -> (u32, usize) {
    if value < 0x80 { (value, 1) } else { short_varint(value) }
}

// SAFETY: *planned*: the prepared bytes, and the time as it was measured with its tag.
unsafe impl Packet for PreparedSlice<'_> {
    type Measured = ();
    const IS_MESSAGE: bool = false;
    const HAS_STRINGS: bool = false;

    fn pass_on(&self, head: Head, host: &AtHost) {
        let rest = self.bytes.get(3..).unwrap_or_default();
        let (event, beside) = rest.split_at_checked(self.event).unwrap_or_default();
        host.slice(head.level(), event, beside);
    }

    fn plan(&self, base: Base, _: Option<ChunkStrings<'_>>) -> (Plan, ()) {
        (Plan::new(base), ())
    }

    fn size(&self, plan: &Plan) -> usize {
        self.bytes.len() + 1 + plan.delta.len
    }

    fn encode(&self, to: &mut Cursor, _: u64, (plan, ()): (&Plan, ()), _: Interner<'_>) {
        to.bytes(self.bytes);
        to.varint(TIMESTAMP, plan.delta);
    }
}

impl Writer {
    /// The steps of the fast path for a slice. False, and nothing done, where the chunk has no room
    /// for it, does not describe the thread's track, or the clock is to be asked out of line.
    #[inline(always)]
    pub(super) fn fast_slice(&self, own: &mut Own, slice: &PreparedSlice<'_>) -> bool {
        let bytes = slice.bytes;
        let most = 2 + bytes.len() + 1 + 4;
        if !own.has_track || own.position as usize + most > self.gate.limit() {
            return false;
        }
        let Some(now) = own.look_at_clock() else { return false };
        let Some(delta) = own.advance(now) else { return false };
        let (delta, delta_len) = small_varint(delta);
        let (size, size_len) = size_field(bytes.len() + 1 + delta_len);
        // SAFETY: *chunk*: `most` bytes from the position are not above the limit, and no more are
        // appended: two of the size, the slice, and a time of at most four with its tag.
        let mut to = unsafe { Cursor::new(own.position, most) };
        to.put8(size as u64, size_len);
        to.moderate_bytes(bytes);
        to.put8(u64::from(TIMESTAMP) | u64::from(delta) << 8, 1 + delta_len);
        // SAFETY: *chunk*: the cursor began at the position and ends at or below the limit.
        unsafe { own.start_next(to.at()) };
        own.others += 1;
        self.others.store(own.others, Ordering::Relaxed);
        true
    }
}
