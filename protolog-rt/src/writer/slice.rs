//! Timeline slices: the begin or end of a slice on a thread's track, as a packet among messages.
//!
//! ```text
//! 5a n {…}    track_event
//! …           the fields beside it
//! 40 delta    timestamp; not first, since a packet that begins with it is a message
//! ```
//!
//! A thread that writes slices describes its track ([`super::track`]) in each of its chunks from
//! then on, so that each can still be read alone.
#![allow(unsafe_code)] // A promise about sizes.

use super::Head;
use super::cursor::Cursor;
use super::intern::{ChunkStrings, Interner};
use super::layout::TIMESTAMP;
use super::packet::Packet;
use super::plan::{Base, Plan};
use crate::level::AtHost;
use crate::sync::{AtomicU64, Ordering};
use crate::sys::copies;
use crate::sys::process::asked_id;
use protolog_core::hash;
use protolog_core::schema::packet;
use protozero::wire::{WireType, packed_varint, tag, varint_len};
use protozero::{Fixed, Writer};
use std::cell::Cell;

/// The first byte of such a packet.
pub(crate) const EVENT: u8 = tag(packet::TRACK_EVENT, WireType::Bytes) as u8;

/// A begin or an end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slice<'a> {
    /// The fields of a `TrackEvent`, for which the only chunk of the smallest page has room.
    pub(crate) event: &'a [u8],
    /// Other fields of the packet, at most [`MAX_BESIDE`] bytes.
    pub(crate) beside: &'a [u8],
}

/// The span of a slice.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SpanProgress {
    /// Its number in the process, from 1; 0 of a span that has this slice only.
    pub(crate) number: u64,
    /// At the begin, the id of its template; 0 without one.
    pub(crate) message: u64,
    /// At the end of a slice, if there were others: the nanoseconds of all of them, and those since
    /// the span was made.
    pub(crate) times: Option<(u64, u64)>,
}

impl SpanProgress {
    /// Encodes the fields beside the event of a slice that is in so many others, and returns their
    /// length.
    pub(crate) fn encode(self, depth: u32, to: &mut [u8; MAX_BESIDE]) -> Option<usize> {
        let mut writer = Writer::new(Fixed::new(to));
        let mut fields = writer.message();
        fields.uint32(packet::SLICE_DEPTH, depth);
        if self.number != 0 {
            fields.uint64(packet::SPAN_NUMBER, self.number);
        }
        if self.message != 0 {
            fields.fixed64(packet::SPAN_MESSAGE, self.message);
        }
        if let Some((busy, age)) = self.times {
            fields.uint64(packet::SPAN_BUSY, busy).uint64(packet::SPAN_AGE, age);
        }
        Some(writer.finish().ok()?.length as usize)
    }

    /// Returns the id that ties the slices of the span together in Perfetto: the same in no other
    /// process.
    pub(crate) fn flow(self) -> u64 {
        let process = u128::from(asked_id());
        hash(&(process << 64 | u128::from(self.number)).to_le_bytes()) | 1
    }
}

/// The number of spans that had a slice, and may have several.
static SPANS: AtomicU64 = AtomicU64::new(0);

/// Returns a number, from 1, that no other span of the process has, also of other copies of the
/// runtime.
pub(crate) fn next_span() -> u64 {
    match copies::host() {
        Some(host) => host.next_span(),
        None => SPANS.fetch_add(1, Ordering::Relaxed) + 1,
    }
}

thread_local! {
    /// The number of spans that the thread is in, also of copies of the runtime that have joined
    /// this one. Without a destructor.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Notes that the calling thread enters a span, and returns the number of those that it is in, also
/// of other copies of the runtime: all of them are slices of one track.
#[inline]
pub(crate) fn enter_span() -> u32 {
    match copies::host() {
        Some(host) => host.enter_span(),
        None => DEPTH.replace(DEPTH.get().saturating_add(1)),
    }
}

/// Notes that the calling thread has left a span.
#[inline]
pub(crate) fn leave_span() {
    match copies::host() {
        Some(host) => host.leave_span(),
        None => DEPTH.set(DEPTH.get().saturating_sub(1)),
    }
}

/// What ends a span that was exited while its thread was in one of another kind, and its depth.
#[cfg(feature = "tracing")]
type OuterEnd = (u32, fn());

#[cfg(feature = "tracing")]
thread_local! {
    static OUTER: Cell<Option<OuterEnd>> = const { Cell::new(None) };
    /// The depth of the innermost span of `tracing` that this copy of the runtime writes.
    static TRACED: Cell<Option<u32>> = const { Cell::new(None) };
}

/// Notes the depth of the innermost span of `tracing` of the calling thread.
#[cfg(feature = "tracing")]
pub(crate) fn note_traced(innermost: Option<u32>) {
    TRACED.set(innermost);
}

/// Returns whether a span of `tracing` is within the span of this depth. Those of other copies of
/// the runtime do not count: nobody would hear of their end.
#[cfg(feature = "tracing")]
#[inline]
pub(crate) fn is_traced_within(depth: u32) -> bool {
    TRACED.get().is_some_and(|innermost| innermost > depth)
}

/// Has `end` called when the calling thread has left the spans of another kind within the one of
/// this depth.
#[cfg(feature = "tracing")]
pub(crate) fn wait_for_inner(depth: u32, end: fn()) {
    OUTER.set(Some((depth, end)));
}

/// Ends the span that has waited for the one that the calling thread has left, if `innermost` of
/// its kind is none within it any more. A signal handler, whose spans are within all others, never
/// calls it.
#[cfg(feature = "tracing")]
#[inline]
pub(crate) fn end_outer(innermost: Option<u32>) {
    let is_over = |depth: u32| innermost.is_none_or(|inner| inner < depth);
    if let Some((_, end)) = OUTER.get().filter(|(depth, _)| is_over(*depth)) {
        OUTER.set(None);
        end();
    }
}

/// The most bytes of a slice's fields.
pub(crate) const MAX_SLICE: usize = 2048;
/// The most bytes beside them.
pub(crate) const MAX_BESIDE: usize = 48;

/// A slice of a call that a rule switches on: for all sessions, whatever they record of its group.
#[derive(Clone, Copy, Debug)]
pub(super) struct SliceForAll<'a, P>(pub(super) &'a P);

// SAFETY: *planned*: the tag's byte, the varint of the length, the fields, those beside them, and
// the time as it was measured with its tag.
unsafe impl Packet for Slice<'_> {
    type Measured = ();
    const IS_MESSAGE: bool = false;
    const HAS_STRINGS: bool = false;

    fn pass_on(&self, head: Head, host: &AtHost) {
        host.slice(head.level(), self.event, self.beside);
    }

    fn plan(&self, base: Base, _: Option<ChunkStrings<'_>>) -> (Plan, ()) {
        (Plan::new(base), ())
    }

    fn size(&self, plan: &Plan) -> usize {
        let fields = varint_len(self.event.len() as u64) + self.event.len() + self.beside.len();
        1 + fields + 1 + plan.delta.len
    }

    fn encode(&self, to: &mut Cursor, _: u64, (plan, ()): (&Plan, ()), _: Interner<'_>) {
        let (size, size_len) = packed_varint(self.event.len() as u64);
        to.put(u128::from(EVENT) | size << 8, 1 + size_len);
        to.bytes(self.event);
        to.bytes(self.beside);
        to.varint(TIMESTAMP, plan.delta);
    }
}

// SAFETY: *planned*: what the slice promises, since all is passed on to it.
unsafe impl<P: Packet> Packet for SliceForAll<'_, P> {
    type Measured = P::Measured;
    const IS_MESSAGE: bool = P::IS_MESSAGE;
    const IS_FOR_ALL: bool = true;
    const HAS_STRINGS: bool = P::HAS_STRINGS;

    fn pass_on(&self, head: Head, host: &AtHost) {
        self.0.pass_on(head, host);
    }

    fn plan(&self, base: Base, known: Option<ChunkStrings<'_>>) -> (Plan, P::Measured) {
        self.0.plan(base, known)
    }

    fn size(&self, plan: &Plan) -> usize {
        self.0.size(plan)
    }

    fn encode(&self, to: &mut Cursor, id: u64, plan: (&Plan, P::Measured), interner: Interner<'_>) {
        self.0.encode(to, id, plan, interner);
    }
}
