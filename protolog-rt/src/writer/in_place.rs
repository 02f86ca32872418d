//! The fast path of a span's slices: straight into the chunk, in one function with the steps of
//! [`super::path`].
//!
//! Names are interned ([`super::span_names`]), and the track is a default of the chunk's events
//! ([`super::track`]). The sizes of texts bound the size of a slice, so one comparison reserves the
//! room. Other slices, for several sessions or a new chunk, take the slow path as a
//! [`Slice`](super::slice::Slice), with their names and their track.
//!
//! ```text
//! n n             the packet's size; of an end, one byte
//! 68 02           the names and the track are the chunk's
//! 5a n n {…}      track_event: type, category, name, flow, arguments; of an end, one byte of size
//! …               the fields beside it: depth, number, times, id of the template
//! 40 delta        timestamp; not first, since a packet that begins with it is a message
//! ```
#![allow(unsafe_code)] // Reads what belongs to the thread; makes cursors over its chunk.
#![allow(clippy::inline_always)] // Parts of one function per signature.

use super::Writer;
use super::annotations::tag_of;
use super::cursor::Cursor;
use super::fast::{FastArgs, MAX_DELTA};
use super::layout::{NEEDS_STATE, TIMESTAMP};
use super::own::{Moment, Own};
use super::slice::{EVENT, SpanProgress};
use super::span_names::{Interned, MAX_HEAD, SliceNames, SpanNamesInChunk};
use super::thread_state::{READY, ThreadState};
use crate::sync::Ordering;
use protolog_core::schema::{packet, track_event};
use protozero::wire::{WireType, packed_varint, short_varint};

/// The most bytes of a begin but for its arguments: the packet's size, flags, event, first fields,
/// flow, and what is beside it.
const AROUND: usize = 2 + 2 + 3 + MAX_HEAD + 10 + BESIDE;

/// The most bytes beside an event: depth, number, id or times, and the time.
const BESIDE: usize = 6 + 12 + 24 + 5;

const FLOW: u64 = tag_of(track_event::FLOW_IDS, WireType::Fixed64);
const DEPTH: u64 = tag_of(packet::SLICE_DEPTH, WireType::Varint);
const NUMBER: u64 = tag_of(packet::SPAN_NUMBER, WireType::Varint);
const MESSAGE: u64 = tag_of(packet::SPAN_MESSAGE, WireType::Fixed64);
const BUSY: u64 = tag_of(packet::SPAN_BUSY, WireType::Varint);
const AGE: u64 = tag_of(packet::SPAN_AGE, WireType::Varint);

/// Flags and the tag of the event.
const FLAGS_AND_EVENT: u64 = u16::from_le_bytes(NEEDS_STATE) as u64 | (EVENT as u64) << 16;

/// Flags and event of an end.
const END: u64 = FLAGS_AND_EVENT
    | 2 << 24
    | tag_of(track_event::TYPE, WireType::Varint) << 32
    | (track_event::TYPE_SLICE_END as u64) << 40;

/// Writes the begin of a slice that is in `depth` others, with the names that `names` returns.
/// False, and nothing done, where it is for the slow path.
#[inline(always)]
pub(crate) fn write_begin<'n, A: FastArgs>(
    (message, number, depth): (u64, u64, u32),
    names: impl FnOnce() -> SliceNames<'n>,
    args: &A,
) -> bool {
    let Some((thread, writer, own)) = enter() else { return false };
    let is_written = writer.begin_slice(own, (message, number, depth), names, args);
    writer.gate.exit();
    thread.end();
    is_written
}

/// As [`write_begin`], for an end.
#[inline(always)]
pub(crate) fn write_end(place: (u64, u32), times: Option<(u64, u64)>) -> bool {
    let Some((thread, writer, own)) = enter() else { return false };
    let is_written = writer.end_slice(own, place, times);
    writer.gate.exit();
    thread.end();
    is_written
}

/// Begins a message to the one writer of the thread. None where there is none.
#[inline(always)]
fn enter<'a>() -> Option<(&'a ThreadState, &'a Writer, &'a mut Own)> {
    // SAFETY: the callers use the state on this thread only.
    let thread = unsafe { ThreadState::current() };
    if thread.phase() != READY {
        return None;
    }
    thread.begin();
    let Some(writer) = thread.writer() else {
        thread.end();
        return None;
    };
    writer.gate.enter();
    // SAFETY: *busy*: this is the writer's thread, and what interrupts it sees the phase, until the
    // callers end the message; they use it no longer.
    let own = unsafe { &mut *writer.own.get() };
    Some((thread, writer, own))
}

impl Writer {
    #[inline(always)]
    fn begin_slice<'n, A: FastArgs>(
        &self,
        own: &mut Own,
        (message, number, depth): (u64, u64, u32),
        names: impl FnOnce() -> SliceNames<'n>,
        args: &A,
    ) -> bool {
        let most = AROUND + args.annotations_room();
        if !self.has_room(own, most) {
            return false;
        }
        let names = match own.span_names.find(message) {
            Some(known) => known,
            None => match self.intern_names(own, message, names(), (A::COUNT, most)) {
                Some(interned) => interned,
                None => return false,
            },
        };
        let SpanNamesInChunk { head, head_len, arguments } = names;
        let Some(delta) = delta(own) else { return false };
        // SAFETY: *chunk*: `most` bytes from the position are not above the limit, also where names
        // were written before, and no more are appended.
        let mut to = unsafe { Cursor::new(own.position, most) };
        let size = [to.skip_size(), to.skip_size()];
        to.put8(FLAGS_AND_EVENT, 3);
        let event_size = [to.skip_size(), to.skip_size()];
        to.put8(head, head_len.into());
        if number != 0 {
            to.put8(FLOW, 2);
            to.put8(SpanProgress { number, ..SpanProgress::default() }.flow(), 8);
        }
        if arguments > 0 {
            args.put_annotations(&mut to, arguments);
        } else if A::COUNT > 0 {
            to = put_numbered(*args, to);
        }
        to.fill_two(event_size);
        append_place(&mut to, depth, number);
        if message != 0 {
            to.put8(MESSAGE, 2);
            to.put8(message, 8);
        }
        append_time(&mut to, delta);
        to.fill_two(size);
        // SAFETY: *chunk*: the cursor began at the position and ends at or below the limit.
        unsafe { self.end_packet(own, &to) };
        true
    }

    #[inline(always)]
    fn end_slice(
        &self,
        own: &mut Own,
        (number, depth): (u64, u32),
        times: Option<(u64, u64)>,
    ) -> bool {
        const MOST: usize = 1 + 6 + BESIDE;
        // The size takes one byte.
        const _: () = assert!(MOST <= 0x80);
        if !self.has_room(own, MOST) {
            return false;
        }
        let Some(delta) = delta(own) else { return false };
        // SAFETY: *chunk*: `MOST` bytes from the position are not above the limit, and no more are
        // appended.
        let mut to = unsafe { Cursor::new(own.position, MOST) };
        let size = to.skip_size();
        to.put8(END, 6);
        append_place(&mut to, depth, number);
        if let Some((busy, age)) = times {
            append(&mut to, BUSY, busy);
            append(&mut to, AGE, age);
        }
        append_time(&mut to, delta);
        let bytes = to.since(&size);
        to.fill(size, bytes);
        // SAFETY: *chunk*: the cursor began at the position and ends at or below the limit.
        unsafe { self.end_packet(own, &to) };
        true
    }

    /// Returns whether the chunk has room for `most` bytes, and describes the thread's track.
    #[inline(always)]
    fn has_room(&self, own: &Own, most: usize) -> bool {
        own.has_track && own.position as usize + most <= self.gate.limit()
    }

    /// Writes the names of the span with this id, and of its `count` arguments, to the chunk, if
    /// that has not got them. None where there are too many, or no room for them and `most` bytes.
    #[cold]
    #[inline(never)]
    fn intern_names(
        &self,
        own: &mut Own,
        id: u64,
        names: SliceNames<'_>,
        (count, most): (usize, usize),
    ) -> Option<SpanNamesInChunk> {
        let (packet, names) = match own.span_names.look_up(id, names, count)? {
            Interned::Known(known) => return Some(known),
            Interned::New { packet, names } => (packet, names),
        };
        let packet = packet.bytes();
        if own.room() < 2 + packet.len() + most || !own.append(packet) {
            return None;
        }
        own.others += 1;
        self.others.store(own.others, Ordering::Relaxed);
        own.span_names.keep(names)
    }

    /// Commits a slice that ends at `to`.
    ///
    /// # Safety
    /// *chunk*: that is not above the limit.
    #[inline(always)]
    unsafe fn end_packet(&self, own: &mut Own, to: &Cursor) {
        // SAFETY: *chunk*: the caller's promise is the same.
        unsafe { own.start_next(to.at()) };
        own.others += 1;
        self.others.store(own.others, Ordering::Relaxed);
    }
}

/// Nanoseconds since the message before, if they are few and the clock need not be asked out of
/// line.
#[inline(always)]
fn delta(own: &mut Own) -> Option<u32> {
    let now: Moment = own.look_at_clock()?;
    own.advance(now)
}

/// Appends arguments that have no names.
#[cold]
#[inline(never)]
fn put_numbered<A: FastArgs>(args: A, mut to: Cursor) -> Cursor {
    args.put_numbered(&mut to, 0);
    to
}

/// Appends the depth and the number of the span beside an event.
#[inline(always)]
fn append_place(to: &mut Cursor, depth: u32, number: u64) {
    let (bits, len) = small_varint(depth);
    to.put8(DEPTH | u64::from(bits) << 16, 2 + len);
    if number != 0 {
        append(to, NUMBER, number);
    }
}

/// Appends a number with a tag of two bytes.
#[inline(always)]
fn append(to: &mut Cursor, tag: u64, value: u64) {
    let (bits, len) = packed_varint(value);
    to.put(u128::from(tag) | bits << 16, 2 + len);
}

/// Appends the time.
#[inline(always)]
fn append_time(to: &mut Cursor, delta: u32) {
    let (delta, len) = small_varint(delta);
    to.put8(u64::from(TIMESTAMP) | u64::from(delta) << 8, 1 + len);
}

/// The varint of a number below [`MAX_DELTA`], or of the largest one below, and its length.
#[inline(always)]
fn small_varint(value: u32) -> (u32, usize) {
    if value < 0x80 { (value, 1) } else { short_varint(value.min(MAX_DELTA as u32 - 1)) }
}
