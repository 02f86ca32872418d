//! The packet that a chunk begins with: all that later ones rest on (see
//! `docs/design/wire-format.md`), so that the chunk can be read alone.
//!
//! Invariant: it takes at most [`MAX_STATE`] bytes, and losses [`MAX_LOSSES`].
#![allow(unsafe_code)] // Stores into the chunk.

use super::Writer;
use super::arbiter::Arbiter;
use super::cursor::Cursor;
use super::fields::Fields;
use super::own::{MAX_LOSSES, MAX_STATE, Own, SharedMoment};
use super::request::{RequestMark, current_number, current_request};
use super::track;
use crate::loss::{LossCause, LossCount, LossCounters, Unwritten};
use crate::sys::thread::Thread;
use protolog_core::FillPolicy;
use protolog_core::chunk::FRAGMENT_SIZE_LEN;
use protolog_core::schema::{
    clock as clock_field, clock_id, clock_snapshot, loss, packet, packet_defaults, passed_over,
    sequence_flags, sequence_info,
};
use protozero::wire::{WireType, packed_varint, tag};
use std::sync::Arc;

/// The most bytes of one record of losses: with times and an id, which few have, and its own size.
pub(super) const MAX_LOSS: usize = 55;

/// The same without times.
const MAX_UNTIMED: usize = 24;

impl Own {
    /// Writes the packet that a chunk begins with, at the moment of the message that it is for.
    /// False where there is no room for it.
    pub(super) fn write_state(&mut self, writer: &Writer, shared: SharedMoment) -> bool {
        // Asked first: losses that are taken have to find room.
        if self.room() < MAX_STATE + MAX_LOSSES + FRAGMENT_SIZE_LEN {
            return false;
        }
        self.last = self.now(shared).max(self.last);
        // A buffer that keeps chunks has its losses reported at the end, since chunks may be
        // overwritten by then.
        let is_reported_here =
            |core: &&Arc<Arbiter>| core.buffer.fill_policy() == FillPolicy::Stream;
        let core =
            self.core.as_ref().filter(is_reported_here).filter(|_| writer.losses.has_pending());
        let losses = core.map(|core| take_losses(&writer.losses, &core.reported));
        let (losses, dropped) =
            losses.as_ref().map_or((&[][..], false), |(all, dropped)| (all.bytes(), *dropped));
        let core = self.core.as_ref();
        let keeps_messages =
            core.is_some_and(|core| core.buffer.fill_policy() != FillPolicy::Stream);
        let state = ChunkState {
            nanos: self.last,
            pid: core.map_or(0, |core| core.pid),
            thread: &writer.thread,
            messages: keeps_messages.then(|| self.messages()),
            losses,
            dropped,
        };
        // SAFETY: *chunk*: there is room, as just asked, for the largest state with the most losses
        // and its size, and for SLACK.
        let mut to =
            unsafe { Cursor::new(self.position, MAX_STATE + MAX_LOSSES + FRAGMENT_SIZE_LEN) };
        state.encode(&mut to);
        // SAFETY: *chunk*: the cursor began at the position, and ends within that room.
        unsafe { self.start_next(to.at()) };
        self.others += 1;
        (!self.has_track || self.write_track(writer)) && self.mark_request()
    }

    /// Marks the request that the thread is in, unless it is the chunk's last one. False where the
    /// chunk has no room for the mark.
    pub(super) fn mark_request(&mut self) -> bool {
        if self.request == current_number() {
            return true;
        }
        let mark = current_request().unwrap_or(RequestMark::NONE);
        let is_written = self.append(mark.packet().bytes());
        if is_written {
            self.others += 1;
            self.request = mark.number;
        }
        is_written
    }

    fn write_track(&mut self, writer: &Writer) -> bool {
        let pid = self.core.as_ref().map_or(0, |core| core.pid);
        let written = self.append(track::description(pid, &writer.thread).bytes());
        self.others += written as u16;
        written
    }
}

/// The contents of the packet that a chunk begins with.
#[derive(Clone, Copy, Debug)]
struct ChunkState<'a> {
    /// The time, of BOOTTIME.
    nanos: u64,
    pid: u32,
    thread: &'a Thread,
    /// The messages of the sequence so far; none of a stream.
    messages: Option<u64>,
    /// Losses before the chunk, as fields.
    losses: &'a [u8],
    /// True if the reader misses packets because of them.
    dropped: bool,
}

impl ChunkState<'_> {
    /// Appends the packet with its size, field by field, since there is one in each chunk.
    fn encode(&self, to: &mut Cursor) {
        let nanos = Packed::NONE.varint(self.nanos);
        let (pid, tid) = (PID.varint(self.pid.into()), TID.varint(self.thread.id.into()));
        let (name, losses) = (self.thread.name_bytes(), self.losses);
        let messages = self.messages.map_or(Packed::NONE, |messages| MESSAGES.varint(messages));
        let flags = if self.dropped { FLAGS_AFTER_LOSS } else { FLAGS };
        let sequence = SEQUENCE_CLOCK.len + nanos.len + INCREMENTAL.len;
        let boottime = BOOTTIME.len + nanos.len;
        let snapshot = 2 * (CLOCK.len + 1) + sequence + boottime;
        let info = pid.len + tid.len + NAME.len + 1 + name.len() + messages.len;
        let size = SNAPSHOT.len + 1 + snapshot + flags.len + INFO.len + 1 + info + losses.len();
        let parts = [
            Packed::NONE.varint(size as u64),
            SNAPSHOT.byte(snapshot).and(CLOCK).byte(sequence).and(SEQUENCE_CLOCK),
            nanos,
            INCREMENTAL.and(CLOCK).byte(boottime).and(BOOTTIME),
            nanos,
            flags,
            INFO.byte(info),
            pid,
            tid,
            NAME.byte(name.len()),
        ];
        for part in parts {
            to.put(part.bits, part.len);
        }
        to.short_bytes(name);
        to.put(messages.bits, messages.len);
        if !losses.is_empty() {
            to.bytes(losses);
        }
    }
}

/// Takes the losses that one chunk has room for, as fields, and says whether they are such that the
/// reader misses packets. They count as `reported` then.
#[cold]
#[inline(never)]
fn take_losses(of: &LossCounters, reported: &LossCounters) -> (Fields<MAX_LOSSES>, bool) {
    let (mut losses, mut dropped) = (Fields::new(), false);
    of.take(|lost| {
        dropped |=
            matches!(lost.cause.lost(), Some(LossCause::BufferFull | LossCause::Overwritten));
        let most = if lost.times.is_some() { MAX_LOSS } else { MAX_UNTIMED };
        let room = losses.bytes().len() + most <= MAX_LOSSES;
        if room {
            reported.add(lost.group, lost.cause, lost.count);
            losses.nested(record_field(lost.cause), &loss_record(lost));
        }
        room
    });
    (losses, dropped)
}

/// At most 16 bytes, of which most are known beforehand.
#[derive(Clone, Copy, Debug)]
struct Packed {
    bits: u128,
    len: usize,
}

impl Packed {
    const NONE: Self = Self { bits: 0, len: 0 };

    /// The tag of a field that is a number.
    const fn number(field: u32) -> Self {
        Self::NONE.varint(tag(field, WireType::Varint) as u64)
    }

    /// The tag of a field that is a message, or a text.
    const fn nested(field: u32) -> Self {
        Self::NONE.varint(tag(field, WireType::Bytes) as u64)
    }

    /// These and then those.
    const fn and(self, next: Self) -> Self {
        Self { bits: self.bits | next.bits << (8 * self.len), len: self.len + next.len }
    }

    /// These and then a number.
    const fn varint(self, value: u64) -> Self {
        let (bits, len) = packed_varint(value);
        self.and(Self { bits, len })
    }

    /// These and then a number below 128.
    const fn byte(self, value: usize) -> Self {
        debug_assert!(value < 0x80);
        self.and(Self { bits: value as u128, len: 1 })
    }
}

const SNAPSHOT: Packed = Packed::nested(packet::CLOCK_SNAPSHOT);
const CLOCK: Packed = Packed::nested(clock_snapshot::CLOCKS);
/// The sequence's clock and BOOTTIME, at the same moment, but for that moment.
const SEQUENCE_CLOCK: Packed = clock(clock_id::SEQUENCE);
const BOOTTIME: Packed = clock(clock_id::BOOTTIME);
const INCREMENTAL: Packed = Packed::number(clock_field::IS_INCREMENTAL).byte(1);
const CLEARED: Packed =
    Packed::number(packet::SEQUENCE_FLAGS).byte(sequence_flags::INCREMENTAL_STATE_CLEARED as usize);
const DROPPED: Packed = Packed::number(packet::PREVIOUS_PACKET_DROPPED).byte(1);
const CLOCK_OF_TIMES: Packed =
    Packed::number(packet_defaults::TIMESTAMP_CLOCK_ID).byte(clock_id::SEQUENCE as usize);
const DEFAULTS: Packed =
    Packed::nested(packet::TRACE_PACKET_DEFAULTS).byte(CLOCK_OF_TIMES.len).and(CLOCK_OF_TIMES);
const FLAGS: Packed = CLEARED.and(DEFAULTS);
const FLAGS_AFTER_LOSS: Packed = CLEARED.and(DROPPED).and(DEFAULTS);
const INFO: Packed = Packed::nested(packet::SEQUENCE_INFO);
const PID: Packed = Packed::number(sequence_info::PID);
const TID: Packed = Packed::number(sequence_info::TID);
const NAME: Packed = Packed::nested(sequence_info::THREAD_NAME);
const MESSAGES: Packed = Packed::number(sequence_info::MESSAGES);

/// A clock's id, and the tag of its time.
const fn clock(id: u32) -> Packed {
    let id = Packed::number(clock_field::CLOCK_ID).byte(id as usize);
    id.and(Packed::number(clock_field::TIMESTAMP))
}

const _: () = assert!(FLAGS_AFTER_LOSS.len <= 16, "it is one store");

/// The field of a packet whose records are of this reason.
pub(crate) const fn record_field(reason: Unwritten) -> u32 {
    match reason {
        Unwritten::Lost(_) => packet::LOSS,
        Unwritten::PassedOver(_) => packet::PASSED_OVER,
    }
}

/// One record of [`record_field`].
pub(crate) fn loss_record(lost: LossCount) -> Fields<MAX_LOSS> {
    let mut record = Fields::new();
    record.add(|to| {
        const _: () = assert!(loss::GROUP_ID == passed_over::GROUP_ID);
        const _: () = assert!(loss::COUNT == passed_over::COUNT);
        if lost.group != 0 {
            to.uint32(loss::GROUP_ID, lost.group);
        }
        match lost.cause {
            Unwritten::Lost(cause) => _ = to.uint32(loss::CAUSE, cause as u32),
            Unwritten::PassedOver(Some(level)) => _ = to.uint32(passed_over::LEVEL, level.wire()),
            Unwritten::PassedOver(None) => {}
        }
        to.uint64(loss::COUNT, lost.count);
        if let Some((first, last)) = lost.times {
            to.uint64(loss::FIRST, first).uint64(loss::LAST, last);
        }
        if lost.message != 0 {
            to.fixed64(loss::MESSAGE_ID, lost.message);
        }
    });
    record
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::loss::testing::{add_all, hex};
    use crate::writer::cursor::SLACK;

    /// Java's tests have the same vectors.
    #[test]
    fn chunks_begin_as_the_vectors_say() {
        let vectors = include_str!("../../../protolog-core/testdata/session.tsv");
        let rows = vectors.lines().filter_map(|row| row.strip_prefix("chunk\t"));
        let mut checked = 0;
        for (input, expected) in rows.map(|row| row.split_once('\t').unwrap()) {
            let parts: Vec<&str> = input.splitn(6, ',').collect();
            let number = |at: usize| parts[at].parse::<u64>().unwrap();
            let (counters, reported) = (LossCounters::new(), LossCounters::new());
            add_all(&counters, parts[5]);
            let (losses, dropped) = take_losses(&counters, &reported);
            assert_eq!(
                (counters.pending().len(), parts[5].is_empty()),
                (0, reported.pending().is_empty())
            );
            let state = ChunkState {
                nanos: number(0),
                pid: number(1) as u32,
                thread: &Thread::named(number(2) as u32, parts[3]),
                messages: parts[4].parse().ok(),
                losses: losses.bytes(),
                dropped,
            };
            let mut room = [0; MAX_STATE + MAX_LOSSES + FRAGMENT_SIZE_LEN + SLACK];
            let begin = room.as_mut_ptr();
            // SAFETY: the room is that of a state with the most losses, its size, and SLACK.
            let mut to = unsafe { Cursor::new(begin, room.len() - SLACK) };
            state.encode(&mut to);
            let end = to.at() as usize - begin as usize;
            let (_, size_len) = protozero::wire::decode_varint(&room).unwrap();
            assert_eq!(hex(&room[size_len..end]), expected, "{input}");
            checked += 1;
        }
        assert!(checked > 5);
    }
}
