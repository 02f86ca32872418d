//! The part of a writer that only its thread touches: the chunk it fills, its clock, its place in
//! the session.
//!
//! A chunk begins with a packet that sets up all that later ones rest on ([`super::state`]), so
//! that it can be read alone. A message that does not fit an empty chunk goes on in the next ones,
//! in fragments.
//!
//! Invariants
//! - *chunk*, of [`super`]: `position..=end`, and [`SLACK`] bytes from `end`, are in the chunk that
//!   was opened last. It is in `chunk`, or offered in the gate; `count` is its count, and
//!   [`PacketCount::NONE`] when it is gone. `core` keeps its memory.
//! - *offered*: while the chunk is offered, a reclaimer that takes it completes it; so before
//!   anything but a message in it happens, it is recalled.
//! - *gapless*: a chunk id is taken with a chunk, and every chunk taken is completed.
#![allow(unsafe_code)] // Stores into the chunk.
#![allow(clippy::inline_always)] // One function per signature: what it is made of must not be calls.

use super::Writer;
use super::arbiter::byte_bucket::NoBytes;
use super::arbiter::{Arbiter, Identity};
use super::cursor::{Cursor, SLACK};
#[cfg(not(loom))]
use super::gate::Gate;
use super::intern::InternTable;
use super::plan::Plan;
use super::request::{MAX_MARK, NO_REQUEST, current_number};
use super::running;
use super::span_names::SpanNames;
use super::track::MAX_TRACK;
use crate::clock;
use crate::sync::Ordering;
use crate::sys::process;
use protolog_core::FillPolicy;
use protolog_core::chunk::{
    CHUNK_HEADER, DROPPED_PACKET_SIZE, FRAGMENT_SIZE_LEN, MAX_PACKETS, Packets, PageLayout,
};
use protolog_shmem::{MAX_PAYLOAD, OpenChunk, PAGE, PacketCount, WriteChunk};
use protozero::wire::{packed_varint, redundant_varint};
#[cfg(not(loom))]
use std::mem::offset_of;
use std::num::NonZeroU64;
use std::sync::Arc;

/// Sizes of a thread's first chunks; from the last on they stay. A thread that logs once holds 292
/// bytes.
const GROWTH: [PageLayout; 3] = [PageLayout::Fourteen, PageLayout::Four, PageLayout::One];

/// The most bytes of a chunk's first packet, but for losses.
pub(super) const MAX_STATE: usize = 124;

/// The most bytes of losses in one chunk.
pub(super) const MAX_LOSSES: usize = 128;

// The smallest chunk has room for its first packet.
const _: () = assert!(
    GROWTH[0].chunk_size(PAGE) - CHUNK_HEADER - SLACK >= MAX_STATE + MAX_LOSSES + FRAGMENT_SIZE_LEN
);

// The count can't overflow, so that a message need not look at it: with its size a packet takes at
// least 12 bytes, as the end of a span does, and before it there may be a mark of its request.
const _: () = assert!(2 * (MAX_PAYLOAD / 12 + 2) < MAX_PACKETS as usize);

/// See the module. As with [`Writer`], the fields that each message touches come first.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Own {
    /// Where the packet that was started last has its size.
    pub(super) position: *mut u8,
    /// Count and flags in the chunk's header.
    count: PacketCount,
    /// Their present value.
    word: u16,
    /// The id of the next text in this chunk.
    pub(super) next_iid: u32,
    /// The sequence's clock after the last message, in nanoseconds.
    pub(super) last: u64,
    /// The most bytes of a text.
    pub(super) max_string_bytes: usize,
    pub(super) clock: clock::Reader,
    /// The strings of this chunk.
    pub(super) strings: InternTable,
    /// The address up to which packets may go.
    end: *mut u8,
    /// The chunk, unless it is offered.
    chunk: Option<WriteChunk>,
    /// The page of the chunk that was opened last.
    page: Option<usize>,
    pub(super) core: Option<Arc<Arbiter>>,
    identity: Identity,
    /// Number of chunks taken, up to the size of [`GROWTH`].
    grown: usize,
    /// The buffer's count of freed chunks when it had none for this writer.
    full_at: Option<u32>,
    /// Packets of the chunk that are no messages.
    pub(super) others: u16,
    /// The number of the request that the chunk's last mark names.
    pub(super) request: u64,
    /// The time in which the session's limit has no bytes.
    no_bytes: NoBytes,
    /// True if chunks describe the thread's track.
    pub(super) has_track: bool,
    /// The names of spans that the chunk has.
    pub(super) span_names: SpanNames,
    /// True if the chunk was offered, see [`super::gate`].
    offered: bool,
}

// The clock begins the writer's second line, and where the texts begin ends with it.
#[cfg(not(loom))] // Whose atomics are larger.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Gate>() + offset_of!(Own, clock) == 64);

/// The reason why a writer has no chunk for a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoChunk {
    /// The buffer has none.
    Full,
    /// The session's limit has no bytes left at this time, in nanoseconds of BOOTTIME.
    Limited { now: u64 },
}

/// A time that was read for a message, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment(pub(super) u64);

/// The moment that all sessions get a message with, where there may be several; none of a message
/// of one session, whose writer reads the clock itself. One word, as most functions that are given
/// it have no register for two.
pub(super) type SharedMoment = Option<NonZeroU64>;

impl Own {
    /// No session.
    pub(super) const fn none() -> Self {
        Self {
            position: std::ptr::null_mut(),
            end: std::ptr::null_mut(),
            count: PacketCount::NONE,
            word: 0,
            next_iid: 1,
            strings: InternTable::new(),
            max_string_bytes: 0,
            last: 0,
            clock: clock::Reader::NONE,
            chunk: None,
            page: None,
            core: None,
            identity: Identity { id: 0, next_chunk: 0, floor: 0, messages: 0 },
            grown: 0,
            full_at: None,
            others: 0,
            request: NO_REQUEST,
            no_bytes: NoBytes::NEVER,
            has_track: false,
            span_names: SpanNames::new(),
            offered: false,
        }
    }

    /// In the session that `core` is of.
    pub(super) fn new(core: Arc<Arbiter>) -> Self {
        let clock = clock::Reader::new();
        Self { max_string_bytes: core.max_string_bytes, core: Some(core), clock, ..Self::none() }
    }

    /// The same, as the session's sequence `identity`.
    pub(super) fn with(self, identity: Identity) -> Self {
        Self { identity, last: identity.floor, ..self }
    }

    /// Returns the state that the next writer of this sequence starts from.
    pub(super) fn identity(&self) -> Identity {
        Identity { floor: self.last, ..self.identity }
    }

    /// Returns true if the session is one of the process that this one was forked from.
    pub(super) fn is_forked(&self) -> bool {
        self.core.as_ref().is_some_and(|core| core.pid != process::id())
    }

    /// Returns true if the session is over.
    pub(super) fn is_stopped(&self) -> bool {
        self.core.as_ref().is_none_or(|core| core.is_stopped())
    }

    /// Publishes a message that was written from `position` to `end`, and starts the next packet.
    ///
    /// # Safety
    /// *chunk*: `end` is not above the limit.
    #[inline(always)]
    pub(super) unsafe fn commit(&mut self, end: *mut u8, plan: &Plan) {
        self.last += plan.delta();
        self.next_iid = plan.next_iid();
        // SAFETY: *chunk*: the caller's promise is the same.
        unsafe { self.start_next(end) };
    }

    /// Ends the started packet before `at`, and starts the next one there.
    ///
    /// # Safety
    /// *chunk*: `at` is not above the limit.
    #[inline(always)]
    pub(super) unsafe fn start_next(&mut self, at: *mut u8) {
        // SAFETY: *chunk*: SLACK bytes from the limit are the chunk's, and `at` is not above it.
        unsafe { at.write(0) };
        self.position = at;
        // SAFETY: *chunk*: the caller has one; the packet that this one follows was written up to
        // `at`.
        unsafe { self.publish(self.word + 1) };
    }

    /// Makes all that was written visible to the reader.
    ///
    /// # Safety
    /// *chunk*: there is one, this thread's alone or offered and within a message; the packets
    /// before the last one are whole.
    #[inline(always)]
    unsafe fn publish(&mut self, word: u16) {
        self.word = word;
        // SAFETY: *chunk*: `count` is that of the chunk that the caller has; what was written
        // before `position` stays as it is.
        unsafe { self.count.publish(Packets(word)) };
    }

    /// Takes a chunk with room for a packet of `need` bytes, or the largest there is, and sets it
    /// up.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn begin(
        &mut self,
        writer: &Writer,
        need: usize,
        shared: SharedMoment,
    ) -> Result<(), NoChunk> {
        let track = if self.has_track { MAX_LOSSES + MAX_TRACK } else { 0 };
        let mark = if current_number() == NO_REQUEST { 0 } else { MAX_LOSSES + MAX_MARK + 1 };
        self.check_limit(need)?;
        let chunk = self.acquire(need + MAX_STATE + track + mark).ok_or(NoChunk::Full)?;
        if shared.is_none() {
            self.clock.try_skip_fence(|| running::is_alone(writer));
        }
        self.open(chunk, 0);
        self.write_state(writer, shared);
        self.allow(writer);
        Ok(())
    }

    /// Returns whether the session's limit has bytes for a chunk with a packet of `need` bytes.
    fn check_limit(&mut self, need: usize) -> Result<(), NoChunk> {
        let bucket = self.core.as_ref().and_then(|core| core.byte_limit.as_ref());
        let Some((bucket, limit)) = bucket.and_then(|it| Some((it, it.limit()?))) else {
            return Ok(());
        };
        let now = self.clock.now();
        if self.no_bytes.holds_at(limit, now) {
            return Err(NoChunk::Limited { now });
        }
        let bytes = need.max(GROWTH[self.grown].chunk_size(PAGE));
        bucket.check(limit, bytes as u64, now).map_err(|no_bytes| {
            self.no_bytes = no_bytes;
            NoChunk::Limited { now }
        })
    }

    /// Gives bytes of the chunk that was opened last, and that nobody will write, back to the
    /// session's limit.
    fn give_room_back(&self) {
        let bucket = self.core.as_ref().and_then(|core| core.byte_limit.as_ref());
        if let Some(bucket) = bucket.filter(|it| it.limit().is_some()) {
            bucket.give_back(self.room() as u64);
        }
    }

    fn acquire(&mut self, need: usize) -> Option<WriteChunk> {
        let core = self.core.as_ref()?;
        let freed = core.buffer.freed();
        if self.full_at == Some(freed) {
            return None;
        }
        // The size of a packet takes at most 4 bytes.
        let payload = (need + FRAGMENT_SIZE_LEN + SLACK).min(MAX_PAYLOAD);
        let fits = |layout: &&PageLayout| layout.chunk_size(PAGE) >= payload + 8;
        let layout = GROWTH[self.grown..].iter().find(fits).copied().unwrap_or(PageLayout::One);
        let plenty = !core.buffer.is_scarce();
        let chunk = match core.buffer.fill_policy() {
            FillPolicy::Stream => {
                let chunk = core.buffer.acquire(layout, payload);
                chunk.or_else(|| core.acquire_late(layout, payload))
            }
            FillPolicy::Discard => core.acquire_until_full(layout, payload),
            FillPolicy::RingBuffer => {
                let acquire = || core.buffer.acquire_after(self.page, layout, payload);
                let chunk = acquire();
                // Nearly every page has a chunk that is being written. Those of idle threads,
                // completed, are as good as old ones.
                let is_crowded = chunk.as_ref().is_none_or(|chunk| chunk.layout() != layout);
                let reclaimed = if is_crowded { core.reclaim() } else { 0 };
                chunk.or_else(|| (reclaimed > 0).then(acquire)?)
            }
        };
        // In a ring a chunk may become old enough at any time.
        let searched = chunk.is_none() && core.buffer.fill_policy() != FillPolicy::RingBuffer;
        self.full_at = searched.then_some(freed);
        if chunk.is_none() || plenty && core.buffer.is_scarce() {
            core.wake();
        } else {
            core.wake_sleeper();
        }
        self.grown = (self.grown + chunk.is_some() as usize).min(GROWTH.len() - 1);
        chunk
    }

    /// Makes `chunk` this writer's, with one packet started.
    fn open(&mut self, mut chunk: WriteChunk, flags: u16) {
        let Some(core) = self.core.as_ref() else { return };
        let Identity { id, next_chunk, .. } = self.identity;
        let OpenChunk { start, end, count } = core.buffer.open(&mut chunk, id, next_chunk);
        (self.position, self.count) = (start, count);
        // SAFETY: `start..end` is one chunk's, and a chunk is larger than SLACK.
        self.end = unsafe { end.sub(SLACK) };
        if let Some(bucket) = core.byte_limit.as_ref().filter(|it| it.limit().is_some()) {
            bucket.take(end.addr().saturating_sub(start.addr()) as u64, self.clock.now());
        }
        self.identity.next_chunk = self.identity.next_chunk.wrapping_add(1);
        self.page = Some(chunk.page());
        self.chunk = Some(chunk);
        self.next_iid = 1;
        self.strings.reset(self.position);
        self.others = 0;
        self.request = NO_REQUEST;
        self.span_names.begin_chunk();
        // SAFETY: *chunk*: it is this thread's alone, and not empty.
        unsafe { start.write(0) };
        // SAFETY: *chunk*: it is this thread's alone, and has no packet but the one that was
        // started.
        unsafe { self.publish(Packets::new(1, flags).0) };
    }

    /// Lets messages into the chunk again, those of another request after a mark; false where there
    /// is none, or no room for that.
    pub(super) fn reopen(&mut self, writer: &Writer) -> bool {
        self.recall(writer);
        if self.chunk.is_some() && !self.mark_request() {
            return false;
        }
        self.allow(writer);
        self.offered
    }

    /// Lets messages into the chunk, unless the session is over, or others came or went.
    pub(super) fn allow(&mut self, writer: &Writer) {
        let Some(chunk) = self.chunk.take() else { return };
        self.offered = true;
        writer.others.store(self.others, Ordering::Relaxed);
        writer.gate.offer(chunk, self.end as usize);
        if self.is_stopped() || writer.is_stale() {
            writer.close();
        }
    }

    /// Makes the chunk this thread's alone, or finds that it was reclaimed.
    fn recall(&mut self, writer: &Writer) {
        if !self.offered {
            return;
        }
        let messages = self.messages();
        self.offered = false;
        self.chunk = writer.gate.recall();
        if self.chunk.is_none() {
            self.give_room_back();
            self.identity.messages = messages;
            self.count = PacketCount::NONE;
            // A thread that is idle again and again needs small chunks only.
            self.grown = 0;
        }
    }

    /// Gives the chunk, if there is one, to the reader.
    pub(super) fn complete(&mut self, writer: &Writer) {
        self.close(writer);
        self.hand_over(writer);
    }

    fn hand_over(&mut self, writer: &Writer) {
        debug_assert!(!self.offered, "recalled before");
        self.count = PacketCount::NONE;
        let messages = self.messages();
        let (Some(chunk), Some(core)) = (self.chunk.take(), self.core.as_ref()) else { return };
        self.give_room_back();
        core.owner.count_messages(self.identity.id, messages - self.identity.messages, messages);
        self.identity.messages = messages;
        // Before anybody can take the chunk.
        writer.completed_messages.fetch_max(messages, Ordering::Release);
        if core.buffer.complete(chunk) {
            core.wake();
        }
    }

    /// Messages of the sequence so far.
    pub(super) fn messages(&self) -> u64 {
        let finished = Packets(self.word).count().saturating_sub(1 + self.others);
        let has_chunk = self.offered || self.chunk.is_some();
        self.identity.messages + if has_chunk { finished as u64 } else { 0 }
    }

    /// Writes a packet into the chunk. False where there is no room for it.
    pub(super) fn append(&mut self, bytes: &[u8]) -> bool {
        let (size, size_len) = packed_varint(bytes.len() as u64);
        if self.room() < size_len + bytes.len() {
            return false;
        }
        // SAFETY: *chunk*: there is room up to the end for size and bytes, and for SLACK after it.
        let mut cursor = unsafe { Cursor::new(self.position, size_len + bytes.len()) };
        cursor.put(size, size_len);
        cursor.bytes(bytes);
        // SAFETY: *chunk*: the cursor ends at or below the end.
        unsafe { self.start_next(cursor.at()) };
        true
    }

    /// Returns whether there is a chunk, which is this thread's alone.
    pub(super) fn has_chunk(&self) -> bool {
        self.chunk.is_some()
    }

    /// Bytes up to the limit.
    pub(super) fn room(&self) -> usize {
        (self.end as usize).saturating_sub(self.position as usize)
    }

    /// Takes the chunk back, so that nobody else completes it.
    pub(super) fn close(&mut self, writer: &Writer) {
        writer.close();
        self.recall(writer);
    }

    /// Writes a packet into the chunk and, in fragments, the next ones. False where the buffer is
    /// full; the fragments are then marked as abandoned.
    pub(super) fn append_split(&mut self, writer: &Writer, packet: &[u8]) -> bool {
        let mut rest = packet;
        while !self.append(rest) {
            let Some(left) = self.append_fragment(writer, rest) else {
                self.hand_over(writer);
                return false;
            };
            rest = left;
        }
        true
    }

    /// Lets messages into the chunk in which a packet of several chunks ended, if it has room for
    /// the state that they rest on.
    pub(super) fn resume(&mut self, writer: &Writer, shared: SharedMoment) {
        if self.write_state(writer, shared) {
            self.allow(writer);
        } else {
            self.hand_over(writer);
        }
    }

    /// Fills the chunk with the beginning of `bytes` and opens the next one, into which the rest
    /// goes.
    fn append_fragment<'a>(&mut self, writer: &Writer, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let take = self.room().saturating_sub(FRAGMENT_SIZE_LEN).min(bytes.len());
        let (now, later) = bytes.split_at(take);
        let field = self.position;
        let size = redundant_varint(take as u32)?;
        // SAFETY: *chunk*: there is room for the size field and `take` bytes; where there is not
        // even room for the field, SLACK, which `bytes` does not need, holds it.
        let mut cursor = unsafe { Cursor::new(field, FRAGMENT_SIZE_LEN + take) };
        cursor.bytes(&size);
        cursor.bytes(now);
        let Some(next) = self.acquire(later.len()) else {
            let mark = redundant_varint(DROPPED_PACKET_SIZE)?;
            // SAFETY: *chunk*: the size field was just written here, and is as long.
            unsafe { Cursor::new(field, FRAGMENT_SIZE_LEN) }.bytes(&mark);
            // SAFETY: *chunk*: it is this thread's alone; the count stays.
            unsafe { self.publish(self.word) };
            return None;
        };
        // SAFETY: *chunk*: it is this thread's alone; the count stays, and the last packet was
        // written.
        unsafe { self.publish(self.word | Packets::new(0, Packets::CONTINUED).0) };
        // Nothing is left of it.
        self.position = self.end;
        self.hand_over(writer);
        self.open(next, Packets::CONTINUES);
        Some(later)
    }
}
