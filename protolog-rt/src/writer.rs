//! A thread's writer: from the enabled call to committed bytes in a chunk.
//!
//! ```text
//! call -> [thread-local: Front { state, writer }] -> Writer { gate, losses | Own { position, chunk, clock … } }
//!                                                            read by others   this thread's alone
//! ```
//!
//! The state is one byte: one test sends everything unusual out of line: the first message, a message to several
//! sessions ([`places`]), a call within a call (a signal handler), a call after the thread's end.
//!
//! Signal handlers may log. One that lands within a message finds the state [`WITHIN`] or [`ASIDE`] and is counted as
//! nested. One that lands between a message's look at the state and its setting it runs as if it came before the message;
//! it may even take leave of a session and drop the writer, since the pointer is read only after the state is set. What
//! a handler must not do is log its thread's first message after a session started or stopped: that one may allocate.
//!
//! Invariants
//! - *pointer*: it is read only on its own thread and while the state is [`WITHIN`], and changed only while it is
//!   [`ASIDE`] or the thread is at its end; what it points to lives until it is changed, since the guard's `Arc` holds it.
//! - *one*: where the pointer is not null, the group's word says what that writer's session wants, since no other one
//!   runs; whoever starts another closes the limit first.
//! - *busy*: `own` is touched by the writer's own thread only, and only within a message or while the state is [`ASIDE`]
//!   or [`GONE`]; a signal handler that finds the state so does not touch it.
//! - *chunk*: from `position` to the gate's limit plus [`SLACK`](encode::SLACK) the bytes are those of a chunk that this
//!   writer owns, or has offered and not lost ([`gate`]). The byte at `position` is the size of the packet that was
//!   started last, 0, and the chunk's count includes that packet.
//! - No user code runs while the state is [`WITHIN`].
#![allow(unsafe_code)] // The thread-local pointer, and stores into the chunk that it leads to.
#![allow(clippy::inline_always)] // One function per signature: what it is made of must not be calls.

pub(crate) mod arbiter;
pub(crate) mod args;
mod aside;
pub(crate) mod cursor;
pub(crate) mod encode;
pub(crate) mod fields;
mod gate;
mod level_cache;
mod own;
pub(crate) mod owner;
mod places;
mod plan;
mod quick;
pub(crate) mod reclaim;
pub(crate) mod running;
#[cfg_attr(not(feature = "tracing"), allow(dead_code))] // Only that bridge writes slices.
pub(crate) mod slice;
mod stack;
pub(crate) mod state;
#[cfg(test)]
mod tests;
mod texts;

pub(crate) use aside::{Aside, aside};

use crate::level::GroupInfo;
use crate::loss::{LossCause, LossCounters, UnattributedLosses};
use crate::site::Subject;
use crate::sync::{
    AtomicBool, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, light_barrier,
};
use crate::sys::thread::Thread;
use arbiter::{Arbiter, Identity};
use encode::{Before, Cursor, Interner, Plan, Values};
use gate::Gate;
use own::{Moment, Own};
use places::Places;
use plan::size_field;
use protolog_core::Level;
use quick::Tried;
use std::borrow::Borrow;
use std::cell::{RefCell, UnsafeCell};
use std::sync::Arc;

/// A message, as far as it is the same for all values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    /// The message's id.
    pub(crate) id: u64,
    /// Its group and level.
    pub(crate) subject: Subject,
}

impl Head {
    fn group(self) -> &'static GroupInfo {
        self.subject.parts().0
    }

    fn level(self) -> Level {
        self.subject.parts().1
    }
}

/// A thread's place in a session. See the module. What each message touches comes first, on two lines.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Writer {
    gate: Gate,
    own: UnsafeCell<Own>,
    ended: AtomicBool,
    /// Since when the thread knows of the sessions that it knows of.
    epoch: AtomicU32,
    /// Messages in all chunks that the writer is done with.
    pub(crate) told: AtomicU64,
    /// Lost messages that no packet tells of yet.
    pub(crate) losses: LossCounters,
    /// Packets of the chunk that are no messages.
    others: AtomicU16,
    /// Where the chunk was when somebody last looked whether it is idle.
    looked: AtomicU32,
    /// The sequence's number in the session.
    pub(crate) id: u16,
    /// Whose it is.
    pub(crate) thread: Thread,
}

// SAFETY: all fields but `own` are atomics or constant; `own` is used by one thread only, see *busy*.
unsafe impl Sync for Writer {}
// SAFETY: as above; the last owner may drop it on any thread, when no thread writes with it any more.
unsafe impl Send for Writer {}

/// Where a thread's messages go.
struct Front {
    state: AtomicU8,
    /// Null where there is not the one writer to go to: before the thread's first message, with several sessions or none.
    writer: AtomicPtr<Writer>,
}

/// States of a thread: a message may go to the writer.
const READY: u8 = 0;
/// … the thread is within a message to that writer.
const WITHIN: u8 = 1;
/// … there is not the one writer to go to.
const NONE: u8 = 2;
/// … the thread looks for its writers, writes to several, or keeps still for another reason.
const ASIDE: u8 = 3;
/// … the thread took down its thread-local state.
const GONE: u8 = 4;

/// Losses of threads that have no writer, or several.
pub(crate) static UNATTRIBUTED: UnattributedLosses = UnattributedLosses::new();

thread_local! {
    static FRONT: Front = const {
        Front { state: AtomicU8::new(NONE), writer: AtomicPtr::new(std::ptr::null_mut()) }
    };
    static GUARD: Guard = const { Guard(RefCell::new(Places::new())) };
}

/// Keeps the thread's writers, and takes leave of the sessions when the thread ends.
struct Guard(RefCell<Places>);

impl Drop for Guard {
    fn drop(&mut self) {
        FRONT.with(|front| front.set(GONE, std::ptr::null()));
        self.0.get_mut().leave();
    }
}

/// Writes a message to the sessions that want it.
#[inline(never)]
pub(crate) fn write<V: Values>(head: Head, values: &V) {
    begin::<V, _>(head, values, |_, _| Err(None));
}

/// The same, with the common message in line. `values` are the values or a reference to them, as for all that follows: what is
/// passed by value to functions out of line need not be in memory for those that are in line.
#[inline(always)]
pub(crate) fn write_quick<V: Values, P: Borrow<V> + Copy>(head: Head, values: P) {
    begin::<V, P>(head, values, |writer, own| writer.write_quick(own, head, values.borrow()));
}

/// Begins a message, and writes it if `quick` did not.
#[inline(always)]
fn begin<V: Values, P: Borrow<V>>(
    head: Head,
    values: P,
    quick: impl FnOnce(&Writer, &mut Own) -> Tried,
) {
    let front = FRONT.with(std::ptr::from_ref);
    // SAFETY: it has no destructor, so it lives as long as the thread. (Within `with` nothing would be inlined.)
    let front = unsafe { &*front };
    let state = front.state.load(Ordering::Relaxed);
    if state != READY {
        return unusual::<V, P>(state, head, values);
    }
    front.state.store(WITHIN, Ordering::Relaxed);
    light_barrier();
    let Some(writer) = front.writer() else { return write_to_all::<V, P>(head, values) };
    writer.gate.enter();
    // SAFETY: *busy*: this is the writer's thread, and what interrupts it sees the state.
    let own = unsafe { &mut *writer.own.get() };
    if let Err(now) = quick(writer, own) {
        return write_planned::<V, P>(writer, head, values, now);
    }
    writer.gate.exit();
    light_barrier();
    front.state.store(READY, Ordering::Relaxed);
}

/// Writes a message that has begun.
#[inline(never)]
fn write_planned<V: Values, P: Borrow<V>>(
    writer: &Writer,
    head: Head,
    values: P,
    now: Option<Moment>,
) {
    // SAFETY: as in `begin`.
    let own = unsafe { &mut *writer.own.get() };
    let done = writer.write_planned(own, head, (values.borrow(), now), Writer::is_stale);
    writer.gate.exit();
    if !done {
        return write_to_all::<V, P>(head, values);
    }
    light_barrier();
    FRONT.with(|front| front.state.store(READY, Ordering::Relaxed));
}

/// Writes a message with the thread's stack trace, whether or not a session asks for those.
pub(crate) fn write_with_stack<V: Values>(head: Head, values: &V) {
    let state = FRONT.with(|front| front.state.load(Ordering::Relaxed));
    if !matches!(state, READY | NONE) {
        return unusual::<V, _>(state, head, values);
    }
    stack::with(|stack| {
        let values = stack::WithStack(values, stack);
        write_to_all::<stack::WithStack<'_, V>, _>(head, &values);
    });
}

/// Counts a message as lost, on this thread's sequence where it has the one.
#[cold]
pub(crate) fn lose(group: &'static GroupInfo, level: Level, cause: LossCause) {
    FRONT.with(|front| {
        let ready = front.state.load(Ordering::Relaxed) == READY;
        if ready {
            front.state.store(WITHIN, Ordering::Relaxed);
            light_barrier();
        }
        front.lose(group, level, cause);
        if ready {
            light_barrier();
            front.state.store(READY, Ordering::Relaxed);
        }
    });
}

/// Counts a message as lost that has no sequence.
fn count_unattributed(group: &'static GroupInfo, level: Level, cause: LossCause) {
    UNATTRIBUTED.add(group.id, level, cause);
    running::count_in_mirrors(group, level, cause);
}

/// A message to no session or several, a message within a message, a message after the thread's end.
#[cold]
#[inline(never)]
fn unusual<V: Values, P: Borrow<V>>(state: u8, head: Head, values: P) {
    match state {
        NONE => write_to_all::<V, P>(head, values),
        GONE => count_unattributed(head.group(), head.level(), LossCause::ThreadExit),
        _ => FRONT.with(|front| front.lose(head.group(), head.level(), LossCause::Reentrant)),
    }
}

/// Writes a message to each session that wants it, and finds out where the next one goes.
#[cold]
#[inline(never)]
fn write_to_all<V: Values, P: Borrow<V>>(head: Head, values: P) {
    FRONT.with(|front| front.set(ASIDE, std::ptr::null()));
    let next = GUARD.try_with(|guard| {
        let mut places = guard.0.borrow_mut();
        places.look();
        places.write(head, values.borrow());
        places.only()
    });
    FRONT.with(|front| match next {
        Ok(writer) => front.set(if writer.is_null() { NONE } else { READY }, writer),
        Err(_) => front.set(GONE, std::ptr::null()),
    });
    if next.is_err() {
        count_unattributed(head.group(), head.level(), LossCause::ThreadExit);
    }
}

impl Front {
    /// The one writer to go to; the state is [`WITHIN`].
    #[inline]
    fn writer(&self) -> Option<&Writer> {
        // SAFETY: *pointer*.
        unsafe { self.writer.load(Ordering::Relaxed).as_ref() }
    }

    /// Counts a message as lost.
    fn lose(&self, group: &'static GroupInfo, level: Level, cause: LossCause) {
        let within = self.state.load(Ordering::Relaxed) == WITHIN;
        match self.writer().filter(|writer| within && !writer.is_stale()) {
            Some(writer) => writer.losses.add(group.id, cause, 1),
            None => count_unattributed(group, level, cause),
        }
    }

    /// Changes the pointer, while a signal handler sees that the thread is aside, then the state.
    fn set(&self, state: u8, writer: *const Writer) {
        self.state.store(ASIDE, Ordering::Relaxed);
        light_barrier();
        self.writer.store(writer.cast_mut(), Ordering::Relaxed);
        light_barrier();
        self.state.store(state, Ordering::Relaxed);
    }
}

impl Writer {
    /// A writer for this thread, as the session's sequence `identity`.
    fn new(own: Own, identity: Identity, epoch: u32, losses: LossCounters) -> Self {
        Self {
            gate: Gate::new(),
            ended: AtomicBool::new(false),
            epoch: AtomicU32::new(epoch),
            told: AtomicU64::new(0),
            losses,
            others: AtomicU16::new(0),
            looked: AtomicU32::new(0),
            id: identity.id,
            thread: Thread::current(),
            own: UnsafeCell::new(own.with(identity)),
        }
    }

    /// Whether a session started or stopped since its thread looked.
    fn is_stale(&self) -> bool {
        self.epoch.load(Ordering::Relaxed) != running::epoch()
    }

    /// A writer for this thread.
    pub(crate) fn register(core: &Arc<Arbiter>, epoch: u32) -> Option<Arc<Self>> {
        let own = Own::new(Arc::clone(core));
        core.register(|identity| Arc::new(Self::new(own, identity, epoch, core.drop_counters())))
    }

    /// Writes a message or counts it as lost. False, and nothing done, where the session is over. The thread's state is not
    /// [`READY`].
    #[inline(always)]
    fn write<V: Values>(&self, head: Head, values: &V) -> bool {
        self.gate.enter();
        // SAFETY: *busy*: this is the writer's thread, and what interrupts it sees the state.
        let own = unsafe { &mut *self.own.get() };
        let done =
            self.try_write(own, head, values) || self.out_of_room(own, head, values, |_| false);
        self.gate.exit();
        done
    }

    /// Writes a message if the chunk has room for it.
    #[inline(always)]
    fn try_write<V: Values>(&self, own: &mut Own, head: Head, values: &V) -> bool {
        if !V::IS_MESSAGE && !own.has_track {
            return false;
        }
        let limit = self.gate.limit();
        if V::HAS_TEXTS && limit == 0 {
            return false;
        }
        let before = own.before();
        // SAFETY: *there*: the limit was not 0 after the message began, so the chunk is this writer's.
        let (plan, seen) = unsafe { Plan::new(values, before, Some(&own.texts)) };
        let size = values.size(&plan);
        let (size_field, size_len) = size_field(size);
        let end = own.position as usize + size_len + size;
        if end > limit {
            return false;
        }
        let mut cursor = Cursor::new(own.position);
        // SAFETY: *chunk*: `end` is not above the limit, so all of it and SLACK bytes more are this writer's.
        unsafe { cursor.put(size_field, size_len) };
        let new = Interner { iid: own.next_iid, texts: Some(&mut own.texts) };
        // SAFETY: as above; the plan is that of these values.
        unsafe { values.packet(&mut cursor, head.id, (&plan, seen), new) };
        debug_assert_eq!(cursor.at() as usize, end, "a packet is as long as planned");
        // SAFETY: *chunk*: the packet ends at or below the limit.
        unsafe { own.commit(cursor.at(), &plan) };
        if !V::IS_MESSAGE {
            own.others += 1;
            self.others.store(own.others, Ordering::Relaxed);
        }
        if plan.cut() > 0 {
            self.losses.add(head.group().id, LossCause::Truncated, 1);
        }
        true
    }

    /// Finds room for a message that does not fit the chunk, and writes it; or counts it as lost. False, and nothing done,
    /// where the session is over, or where `refuse` says so.
    #[cold]
    #[inline(never)]
    fn out_of_room<V: Values>(
        &self,
        own: &mut Own,
        head: Head,
        values: &V,
        refuse: fn(&Self) -> bool,
    ) -> bool {
        if own.is_forked() {
            // The chunk is not this process's.
            self.gate.close();
            self.losses.add(head.group().id, LossCause::Forked, 1);
            return true;
        }
        if refuse(self) {
            return false;
        }
        if own.is_stopped() {
            own.complete(self);
            return false;
        }
        // Another session's start or stop closed the chunk, maybe, or somebody who wanted to take it.
        let closed = self.gate.limit() == 0;
        if closed && own.reopen(self) && self.try_again(own, head, values) {
            return true;
        }
        own.complete(self);
        own.has_track |= !V::IS_MESSAGE;
        let before = Before { delta: u32::MAX.into(), iid: 1, max_text: own.max_text };
        let need = values.size(&Plan::fresh(values, before).0);
        if !own.begin(self, need) {
            self.losses.add(head.group().id, LossCause::BufferFull, 1);
        } else if own.is_stopped() {
            own.complete(self);
            return false;
        } else if !self.try_again(own, head, values) && !own.write_split(self, head, values) {
            self.losses.add(head.group().id, LossCause::BufferFull, 1);
        }
        true
    }

    /// As [`Self::try_write`], but small rather than fast.
    #[cold]
    #[inline(never)]
    fn try_again<V: Values>(&self, own: &mut Own, head: Head, values: &V) -> bool {
        self.try_write(own, head, values)
    }

    /// The thread ends, or the session: gives the chunk back.
    fn leave(&self) {
        self.gate.enter();
        // SAFETY: *busy*: called by the writer's thread, whose state is ASIDE or GONE.
        let own = unsafe { &mut *self.own.get() };
        if !own.is_forked() {
            own.complete(self);
        }
        self.ended.store(true, Ordering::Release);
        self.gate.exit();
    }

    /// Whether the thread is over, or has gone to another session.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// What the next writer of the same sequence has to know; for a writer that has ended.
    pub(crate) fn identity(&self) -> Option<Identity> {
        // SAFETY: *busy*: its thread released `own` when it ended, and does not touch it any more.
        self.has_ended().then(|| unsafe { &*self.own.get() }.identity())
    }

    /// Sends the writer's next message out of line.
    pub(crate) fn close(&self) {
        self.gate.close();
    }

    /// Whether its thread is within a message.
    pub(crate) fn is_busy(&self) -> bool {
        self.gate.is_busy()
    }
}
