//! The write path, top to bottom: from a call of an enabled group to committed bytes in the
//! thread's chunk.
//!
//! ```text
//!   1 enabled?    one load and test of the group's word, in the call itself      (crate::level)
//!   2 enter       thread state READY -> WRITING, the writer's busy byte 0 -> 1     -> write_unrouted
//!   3 reserve     position + the longest such packet <= limit                      \
//!   4 look up     strings that the chunk has                                        > write_slow
//!   5 timestamp   the counter, as nanoseconds since the message before             /
//!   6 encode      straight into the chunk                                  (fast.rs)
//!   7 commit      a zero size for the next packet, one release store of the count
//!   8 leave       the busy byte and the thread state
//! ```
//!
//! [`write_message`] and [`Writer::fast_path`] are these steps in line, without a call, a lock, a
//! read-modify-write or a fence for stores. On the right stands the exit of each step that does not
//! go as usual; exits are out of line, by a jump at the end:
//!
//! ```text
//! write_slow          Writer::fast_path_interning   new short strings: a second bound, the same encoder
//!                     Writer::slow_path             all else: measure, reserve exactly, encode  (plan.rs, packet.rs)
//!                     Writer::out_of_room           reopen the chunk, take the next one, split over several (split.rs), or
//!                                                   drop and count
//! write_unrouted      a call within a call, or after the thread's end: dropped and counted
//!                     no session or several, or a pinned level: write_to_each, which finds out where the next message goes
//! ```
//!
//! The bytes are shown in [`super::layout`], the invariants in [`super`] and
//! [`super::thread_state`].
#![allow(unsafe_code)] // Reads what belongs to the thread; makes cursors over its chunk.
#![allow(clippy::inline_always)] // One function per signature: its parts must not be calls.

use super::args::Args;
use super::cursor::Cursor;
use super::drops::{count_dropped, count_unattributed};
use super::fast::{self, AROUND_NEW, FastArgs, NewStrings};
use super::for_all::ForAll;
use super::intern::{ChunkStrings, Interner, SHORT};
use super::own::{Moment, NoChunk, Own, SharedMoment};
use super::packet::Packet;
use super::plan::{Base, size_field};
use super::routes::ThreadRoutes;
use super::running;
use super::slice::SliceForAll;
use super::stack::{self, WithStack};
use super::thread_state::{EXITED, GUARDED, READY, ThreadState, UNROUTED};
use super::{Head, Writer};
use crate::level::AtHost;
use crate::loss::LossCause;
use crate::site::GroupLevel;
use crate::sync::Ordering;
use crate::sys::copies;
use std::borrow::Borrow;
use std::num::NonZeroU64;

/// Writes a message, the fast path in line. `args` are the arguments or a reference to them: a
/// value passed to functions out of line need not be in memory for the inlined ones.
#[inline(always)]
pub(crate) fn write_message<A: FastArgs, R: Borrow<A> + Copy>(head: Head, args: R) {
    // SAFETY: the state is used here only, on this thread.
    let thread = unsafe { ThreadState::current() };
    let phase = thread.phase();
    if phase != READY {
        return write_unrouted::<A, R>(phase, head, args);
    }
    thread.begin();
    let Some(writer) = thread.writer() else { return write_to_each::<A, R>(head, args) };
    writer.gate.enter();
    // SAFETY: *busy*: this is the writer's thread, and what interrupts it sees the phase.
    let own = unsafe { &mut *writer.own.get() };
    if let Err(now) = writer.fast_path(own, head.id, args.borrow()) {
        return write_slow::<A, R>(args, writer, head.group_level, head.id, now);
    }
    writer.gate.exit();
    thread.end();
}

/// Writes a packet that the fast path is not for.
#[inline(never)]
pub(crate) fn write_packet<P: Packet>(head: Head, packet: &P) {
    // SAFETY: the state is used here only, on this thread.
    let thread = unsafe { ThreadState::current() };
    let phase = thread.phase();
    if phase != READY {
        return write_unrouted::<P, _>(phase, head, packet);
    }
    thread.begin();
    let Some(writer) = thread.writer() else { return write_to_each::<P, _>(head, packet) };
    writer.gate.enter();
    // SAFETY: *busy*: this is the writer's thread, and what interrupts it sees the phase.
    let own = unsafe { &mut *writer.own.get() };
    let is_handled =
        writer.slow_path(own, head, packet, None) || writer.out_of_room(own, head, packet, None);
    writer.gate.exit();
    if !is_handled {
        return write_to_each::<P, _>(head, packet);
    }
    thread.end();
}

/// Writes a message of a level that a session pins: it may be for a ring that the thread's usual
/// writer does not write to.
pub(crate) fn write_to_rings<A: Args>(head: Head, args: &A) {
    match ThreadState::with(ThreadState::phase) {
        READY => write_to_each::<A, _>(head, args),
        phase => write_unrouted::<A, _>(phase, head, args),
    }
}

/// Writes a message with the thread's stack trace, whether or not a session asks for those.
pub(crate) fn write_with_stack<A: Args>(head: Head, args: &A) {
    let phase = ThreadState::with(ThreadState::phase);
    if !matches!(phase, READY | UNROUTED) {
        return write_unrouted::<A, _>(phase, head, args);
    }
    stack::with(|stack| {
        let packet = WithStack { args, stack };
        if phase == UNROUTED {
            pass_on(head, &packet);
        }
        write_to_each::<WithStack<'_, A>, _>(head, &packet);
    });
}

/// Writes a message to all sessions, whatever they record of its group.
pub(crate) fn write_to_all<A: Args>(head: Head, args: &A) {
    write_for_all(head, &ForAll(args));
}

/// As [`write_to_all`], for a slice.
pub(crate) fn write_slice_to_all<P: Packet>(head: Head, slice: &P) {
    write_for_all(head, &SliceForAll(slice));
}

fn write_for_all<P: Packet>(head: Head, packet: &P) {
    let phase = ThreadState::with(ThreadState::phase);
    if !matches!(phase, READY | UNROUTED) {
        return write_unrouted::<P, _>(phase, head, packet);
    }
    if phase == UNROUTED {
        pass_on(head, packet);
    }
    write_to_each::<P, _>(head, packet);
}

/// The time that was read for a message that leaves the fast path; none if it was not, or if it is
/// of no use: without strings the clock is read just before the message is written. One word, so
/// that all parameters of [`write_slow`] fit into registers: then it is jumped to, and the fast
/// path keeps no registers for a call.
pub(super) type Exit = Option<NonZeroU64>;

impl Writer {
    /// Steps 3 to 7 for a message of small numbers and short strings that the chunk has. Otherwise
    /// nothing is done, but the clock may have been read.
    #[inline(always)]
    pub(super) fn fast_path<A: FastArgs>(
        &self,
        own: &mut Own,
        id: u64,
        args: &A,
    ) -> Result<(), Exit> {
        let Some(most) = fast::most::<A>() else { return Err(None) };
        let start = own.position;
        if start as usize + most > self.gate.limit() {
            return Err(None);
        }
        // To look a string up takes its time, during which the counter can be read. Without strings
        // it is read later, when fewer registers are in use.
        let early = if A::HAS_STRINGS { own.look_at_clock() } else { None };
        if A::HAS_STRINGS && early.is_none() {
            return Err(None);
        }
        let exit = early.and_then(|Moment(now)| NonZeroU64::new(now));
        // SAFETY: *chunk*: the limit was not 0 after the message began, so the chunk is this
        // writer's, and stays so until it ends.
        let strings = unsafe { ChunkStrings::new(&own.strings) };
        let Some(found) = args.find_known(strings) else { return Err(exit) };
        let Some(now) = early.or_else(|| own.look_at_clock()) else { return Err(exit) };
        let Some(delta) = own.advance(now) else { return Err(exit) };
        let interner = Interner::forgetful(own.next_iid);
        // SAFETY: *chunk*: `most` bytes from the position are not above the limit; *bound*: no more
        // are appended, since no string is new.
        let mut to = unsafe { Cursor::new(start, most) };
        fast::encode(&mut to, (id, delta), (args, found), 0, interner);
        // SAFETY: *chunk*: the cursor began at the position and ends at or below the limit.
        unsafe { own.start_next(to.at()) };
        Ok(())
    }
}

/// Writes a message that has entered and that the fast path is not for. The parameters have the
/// registers in which most calls' functions got them, so that the fast path has nothing to move.
#[inline(never)]
fn write_slow<A: FastArgs, R: Borrow<A>>(
    args: R,
    writer: &Writer,
    group_level: GroupLevel,
    id: u64,
    now: Exit,
) {
    let head = Head { id, group_level };
    // SAFETY: *busy*: this is the writer's thread, within a message.
    let own = unsafe { &mut *writer.own.get() };
    let is_handled = writer.fast_path_interning(own, head.id, args.borrow(), now)
        || writer.slow_path_cold(own, head, args.borrow(), None)
        || writer.out_of_room(own, head, args.borrow(), None);
    writer.gate.exit();
    if !is_handled {
        return write_to_each::<A, R>(head, args);
    }
    ThreadState::with(ThreadState::end);
}

impl Writer {
    /// Steps 3 to 7 for a message of small numbers and short strings that the chunk need not have.
    /// False, and nothing done, for others, or without room.
    #[inline(always)]
    pub(super) fn fast_path_interning<A: FastArgs>(
        &self,
        own: &mut Own,
        id: u64,
        args: &A,
        now: Exit,
    ) -> bool {
        let Some(most) = fast::most::<A>().filter(|_| A::HAS_STRINGS) else { return false };
        let (start, limit) = (own.position, self.gate.limit());
        if limit == 0 {
            return false;
        }
        let mut new = NewStrings::default();
        // SAFETY: *chunk*: the limit was not 0 after the message began, so the chunk is this
        // writer's, and stays so until it ends.
        let strings = unsafe { ChunkStrings::new(&own.strings) };
        let Some(found) = args.find(strings, &mut new) else { return false };
        let most = most + AROUND_NEW + new.bytes;
        let next_iid = own.next_iid + new.count;
        if most > 0x80
            || start as usize + most > limit
            || next_iid > 0x80
            || own.max_string_bytes < SHORT
        {
            return false;
        }
        let now = now.map(|now| Moment(now.get())).or_else(|| own.look_at_clock());
        let Some(now) = now else { return false };
        let Some(delta) = own.advance(now) else { return false };
        // SAFETY: *entries*: the packet is written to the writer's chunk, to which the table was
        // reset.
        let interner = unsafe { Interner::new(own.next_iid, &mut own.strings) };
        // SAFETY: *chunk*: `most` bytes from the position are not above the limit; *bound*: no more
        // are appended.
        let mut to = unsafe { Cursor::new(start, most) };
        fast::encode(&mut to, (id, delta), (args, found), new.bytes, interner);
        own.next_iid = next_iid;
        // SAFETY: *chunk*: the cursor began at the position and ends at or below the limit.
        unsafe { own.start_next(to.at()) };
        true
    }

    /// The slow path: measures the packet, then reserves, encodes and commits it. False, and
    /// nothing done, where the chunk has no room for it.
    #[inline(always)]
    pub(super) fn slow_path<P: Packet>(
        &self,
        own: &mut Own,
        head: Head,
        packet: &P,
        shared: SharedMoment,
    ) -> bool {
        if !P::IS_MESSAGE && !own.has_track {
            return false;
        }
        let limit = self.gate.limit();
        if P::HAS_STRINGS && limit == 0 {
            return false;
        }
        let base = own.before(shared);
        // SAFETY: *chunk*: where there are strings, the limit was not 0 after the message began, so
        // the chunk is this writer's.
        let strings = unsafe { ChunkStrings::new(&own.strings) };
        let (plan, measured) = packet.plan(base, Some(strings));
        let size = packet.size(&plan);
        let (size_field, size_len) = size_field(size);
        let end = own.position as usize + size_len + size;
        if end > limit {
            return false;
        }
        // SAFETY: *chunk*: `end` is not above the limit; *planned*: the packet takes `size` bytes.
        let mut to = unsafe { Cursor::new(own.position, size_len + size) };
        to.put(size_field, size_len);
        // SAFETY: *entries*: the packet is written to the writer's chunk, to which the table was
        // reset.
        let interner = unsafe { Interner::new(own.next_iid, &mut own.strings) };
        packet.encode(&mut to, head.id, (&plan, measured), interner);
        debug_assert_eq!(to.at() as usize, end, "a packet is as long as planned");
        // SAFETY: *chunk*: the cursor began at the position and ends at or below the limit.
        unsafe { own.commit(to.at(), &plan) };
        if !P::IS_MESSAGE {
            own.others += 1;
            self.others.store(own.others, Ordering::Relaxed);
        }
        if plan.cut() > 0 {
            self.losses.add(head.group().id, LossCause::Truncated, 1);
        }
        true
    }

    /// As [`Self::slow_path`], but small rather than fast.
    #[cold]
    #[inline(never)]
    fn slow_path_cold<P: Packet>(
        &self,
        own: &mut Own,
        head: Head,
        packet: &P,
        shared: SharedMoment,
    ) -> bool {
        self.slow_path(own, head, packet, shared)
    }

    /// Finds room for a packet that does not fit the chunk, and writes it; or counts it as dropped.
    /// False, and nothing done, where the session is over, or where the writer is stale and was not
    /// looked up for this packet: one that all sessions get at one moment was.
    #[cold]
    #[inline(never)]
    pub(super) fn out_of_room<P: Packet>(
        &self,
        own: &mut Own,
        head: Head,
        packet: &P,
        shared: SharedMoment,
    ) -> bool {
        if own.is_forked() {
            // The chunk is not this process's.
            self.gate.close();
            self.losses.add(head.group().id, LossCause::Forked, 1);
            return true;
        }
        if shared.is_none() && self.is_stale() {
            return false;
        }
        if own.is_stopped() {
            own.complete(self);
            return false;
        }
        // Another session's start or stop closed the chunk, maybe, or somebody who wanted to take
        // it.
        let closed = self.gate.limit() == 0;
        if closed && own.reopen(self) && self.slow_path_cold(own, head, packet, shared) {
            return true;
        }
        own.complete(self);
        own.has_track |= !P::IS_MESSAGE;
        let base = Base { delta: u32::MAX.into(), iid: 1, max_string_bytes: own.max_string_bytes };
        let need = packet.size(&packet.plan(base, None).0);
        let begun = own.begin(self, need, shared);
        if let Err(reason) = begun {
            // Before the look at the stop: a writer that waited for room until the session stopped
            // lost its message all the same.
            self.count_without_chunk(own, head, reason);
        } else if own.is_stopped() {
            own.complete(self);
            return false;
        } else if !self.slow_path_cold(own, head, packet, shared)
            && !own.write_split(self, head, packet, shared)
        {
            self.count_without_chunk(own, head, NoChunk::Full);
        }
        true
    }

    /// Writes a packet to one of several sessions, or counts it as dropped. False, and nothing
    /// done, where the session is over. The thread's phase is not [`READY`], and the moment is
    /// later than [`Self::last`].
    #[inline(always)]
    pub(super) fn write<P: Packet>(&self, head: Head, packet: &P, moment: NonZeroU64) -> bool {
        self.gate.enter();
        // SAFETY: *busy*: this is the writer's thread, and what interrupts it sees the phase.
        let own = unsafe { &mut *self.own.get() };
        let is_handled = self.slow_path(own, head, packet, Some(moment))
            || self.out_of_room(own, head, packet, Some(moment));
        self.gate.exit();
        is_handled
    }

    /// The time of the last packet of its sequence. For its thread, outside of a message.
    #[inline]
    pub(super) fn last(&self) -> u64 {
        // SAFETY: *busy*: this is the writer's thread, and what interrupts it sees the phase.
        unsafe { &*self.own.get() }.last
    }
}

/// Handles a packet of a thread that is not ready: without a session or with several, within a
/// message, or after its end.
#[cold]
#[inline(never)]
fn write_unrouted<P: Packet, R: Borrow<P>>(phase: u8, head: Head, packet: R) {
    match phase {
        UNROUTED if copies::host().is_some() => write_joined::<P, R>(head, packet),
        UNROUTED => write_to_each::<P, R>(head, packet),
        EXITED => count_unattributed(head.group(), head.level(), LossCause::ThreadExit.into()),
        _ => count_dropped(head.group(), head.level(), LossCause::Reentrant),
    }
}

/// Writes a packet of a copy of the runtime that has joined another one.
#[cold]
#[inline(never)]
fn write_joined<P: Packet, R: Borrow<P>>(head: Head, packet: R) {
    pass_on::<P>(head, packet.borrow());
    write_to_each::<P, R>(head, packet);
}

/// Passes a packet to the host that this copy of the runtime has joined, if there is one. What the
/// host may have to say is for its own groups, so a message within this one is dropped.
fn pass_on<P: Packet>(head: Head, packet: &P) {
    let takes = |host: &&AtHost| {
        if P::IS_MESSAGE {
            return host.is_trace_enabled(head.level());
        }
        // A slice ends also where an operator has switched its level off.
        host.is_recorded(head.level())
    };
    if let Some(host) = head.group().at_host().filter(takes) {
        ThreadState::with(|state| state.route(GUARDED, std::ptr::null()));
        packet.pass_on(head, host);
        ThreadState::with(|state| state.route(UNROUTED, std::ptr::null()));
    }
}

/// Writes a packet to each session whose filter takes it, at one moment, and finds out where the
/// next one goes.
#[cold]
#[inline(never)]
fn write_to_each<P: Packet, R: Borrow<P>>(head: Head, packet: R) {
    ThreadState::with(|state| state.route(GUARDED, std::ptr::null()));
    let (writer, seen) = ThreadRoutes::within_message(|thread| {
        let mut routes = thread.routes.borrow_mut();
        let is_new = routes.refresh(&thread.entered);
        routes.write(head, packet.borrow(), is_new);
        (routes.sole_writer(), routes.are_none().then(|| routes.epoch()))
    });
    let next = if writer.is_null() { UNROUTED } else { READY };
    ThreadState::with(|state| state.route(next, writer));
    // From here on a signal handler may log, so that nobody may hold the routes.
    if seen.is_some_and(is_found_late) {
        write_to_each::<P, R>(head, packet);
    }
}

/// Returns whether sessions may have started since this thread looked and found none, in the epoch
/// `seen`.
#[cold]
#[inline(never)]
fn is_found_late(seen: u32) -> bool {
    running::find_out_fork(seen)
}
