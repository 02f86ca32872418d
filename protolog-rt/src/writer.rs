//! A thread's writer: from the enabled call to committed bytes in a chunk.
//!
//! ```text
//! call -> [thread-local pointer] -> Writer { limit, busy, losses | Own { position, chunk, clock … } }
//!                                            read by others           this thread's alone
//! ```
//!
//! The pointer is never null: where there is not the one writer to go to, it points to a static writer that is always
//! busy, so that one test, "busy?", sends everything unusual out of line: the first message, a message to several
//! sessions ([`places`]), a call within a call (a signal handler), a call after the thread's end.
//!
//! Invariants
//! - *pointer*: what the thread-local pointer points to lives: it is a static, or the guard's `Arc` holds it.
//! - *one*: where the pointer leads to no static, the group's word says what that writer's session wants, since no other
//!   one runs; whoever starts another closes the limit first.
//! - *busy*: `own` is touched by the writer's own thread only, and only between setting and clearing `busy`, or while
//!   the pointer points to [`ASIDE`]; a signal handler that finds it set does not touch it.
//! - *chunk*: from `position` to `limit` plus [`SLACK`](encode::SLACK) the bytes are those of a chunk that this writer owns. The byte at
//!   `position` is the size of the packet that was started last, 0, and the chunk's count includes that packet.
//! - No user code runs while `busy` is set.
#![allow(unsafe_code)] // The thread-local pointer, and stores into the chunk that it leads to.
#![allow(clippy::inline_always)] // One function per signature: what it is made of must not be calls.

pub(crate) mod args;
pub(crate) mod cursor;
pub(crate) mod encode;
pub(crate) mod own;
mod places;
#[cfg_attr(not(feature = "tracing"), allow(dead_code))] // Only that bridge writes slices.
pub(crate) mod slice;
mod stack;
#[cfg(test)]
mod tests;
mod thread;

use crate::level::GroupInfo;
use crate::loss::{Cause, Losses, Strays};
use crate::session::core::{Core, Identity};
use crate::session::{recorder, running};
use crate::shmem::buffer::MAX_PAYLOAD;
use crate::sync::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, compiler_fence};
use encode::{Cursor, Plan, Values};
use own::Own;
use places::Places;
use protolog_core::Level;
use std::cell::{Cell, RefCell, UnsafeCell};
use std::sync::Arc;
use thread::Thread;

/// A message, as far as it is the same for all values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    /// The message's id.
    pub(crate) id: u64,
    /// Its level.
    pub(crate) level: Level,
    /// Its group.
    pub(crate) group: &'static GroupInfo,
}

/// A thread's place in a session. See the module.
#[derive(Debug)]
pub(crate) struct Writer {
    /// The address up to which packets may go; 0 where there is no chunk, or when the session is over.
    limit: AtomicUsize,
    busy: AtomicBool,
    ended: AtomicBool,
    /// Since when the thread knows of the sessions that it knows of.
    epoch: AtomicU32,
    /// Messages in all chunks that the writer is done with.
    pub(crate) told: AtomicU64,
    /// Lost messages that no packet tells of yet.
    pub(crate) losses: Losses,
    /// The sequence's number in the session; 0 for a static.
    pub(crate) id: u16,
    /// Whose it is.
    pub(crate) thread: Thread,
    own: UnsafeCell<Own>,
}

// SAFETY: all fields but `own` are atomics or constant; `own` is used by one thread only, see *busy*.
unsafe impl Sync for Writer {}
// SAFETY: as above; the last owner may drop it on any thread, when no thread writes with it any more.
unsafe impl Send for Writer {}

/// What the pointer points to where there is not the one writer to go to: before the thread's first message, with several
/// sessions or none, and after a session started or stopped.
static NONE: Writer = Writer::sentinel();
/// … while the thread looks for its writers, or keeps still for another reason.
static ASIDE: Writer = Writer::sentinel();
/// … after the thread took down its thread-local state.
static GONE: Writer = Writer::sentinel();

/// Losses of threads that have no writer, or several.
pub(crate) static STRAYS: Strays = Strays::new();

thread_local! {
    static CURRENT: Cell<*const Writer> = const { Cell::new(&raw const NONE) };
    static GUARD: Guard = const { Guard(RefCell::new(Places::new())) };
}

/// Keeps the thread's writers, and takes leave of the sessions when the thread ends.
struct Guard(RefCell<Places>);

impl Drop for Guard {
    fn drop(&mut self) {
        CURRENT.set(&raw const GONE);
        self.0.get_mut().leave();
    }
}

/// Runs `f`, during which what a signal handler logs on this thread counts as nested.
pub(crate) fn aside<R>(f: impl FnOnce() -> R) -> R {
    let current = CURRENT.replace(&raw const ASIDE);
    let result = f();
    CURRENT.set(current);
    result
}

/// Writes a message to the sessions that want it.
#[inline]
pub(crate) fn write<V: Values>(head: Head, values: &V) {
    let current = CURRENT.get();
    // SAFETY: *pointer*.
    let writer = unsafe { &*current };
    if writer.busy.load(Ordering::Relaxed) {
        return unusual(writer, head, values);
    }
    if !writer.write(head, values, Writer::is_stale) {
        write_to_all(head, values);
    }
}

/// Writes a message with the thread's stack trace, whether or not a session asks for those.
pub(crate) fn write_with_stack<V: Values>(head: Head, values: &V) {
    // SAFETY: *pointer*.
    let writer = unsafe { &*CURRENT.get() };
    let is_within = writer.busy.load(Ordering::Relaxed) && !std::ptr::eq(writer, &raw const NONE);
    if is_within {
        return unusual(writer, head, values);
    }
    stack::with(|stack| write_to_all(head, &stack::WithStack(values, stack)));
}

/// Counts a message as lost, on this thread's sequence where it has the one.
pub(crate) fn lose(group: &'static GroupInfo, level: Level, cause: Cause) {
    let current = CURRENT.get();
    // SAFETY: *pointer*.
    let writer = unsafe { &*current };
    writer.lose(group, level, cause);
}

/// Counts a message as lost that has no sequence.
fn stray(group: &'static GroupInfo, level: Level, cause: Cause) {
    STRAYS.add(group.id, level, cause);
    recorder::stray(group, level, cause);
}

/// A message to no session or several, a message within a message, a message after the thread's end.
#[cold]
#[inline(never)]
fn unusual<V: Values>(writer: &Writer, head: Head, values: &V) {
    if std::ptr::eq(writer, &raw const NONE) {
        write_to_all(head, values);
    } else if std::ptr::eq(writer, &raw const GONE) {
        stray(head.group, head.level, Cause::Dead);
    } else {
        writer.lose(head.group, head.level, Cause::Nested);
    }
}

/// Writes a message to each session that wants it, and finds out where the next one goes.
#[cold]
#[inline(never)]
fn write_to_all<V: Values>(head: Head, values: &V) {
    CURRENT.set(&raw const ASIDE);
    let next = GUARD.try_with(|guard| {
        let mut places = guard.0.borrow_mut();
        places.look();
        places.write(head, values);
        places.only()
    });
    CURRENT.set(next.unwrap_or(&raw const GONE));
    if next.is_err() {
        stray(head.group, head.level, Cause::Dead);
    }
}

/// The varint of the size of a packet that fits a chunk; of a larger one anything, since it is not written.
#[inline(always)]
fn size_field(size: usize) -> (u128, usize) {
    const _: () = assert!(MAX_PAYLOAD < 1 << 14);
    if size < 0x80 { (size as u128, 1) } else { ((size & 0x7f | 0x80 | size >> 7 << 8) as u128, 2) }
}

impl Writer {
    const fn sentinel() -> Self {
        Self {
            limit: AtomicUsize::new(0),
            busy: AtomicBool::new(true),
            ended: AtomicBool::new(false),
            epoch: AtomicU32::new(0),
            told: AtomicU64::new(0),
            losses: Losses::new(),
            id: 0,
            thread: Thread::NONE,
            own: UnsafeCell::new(Own::none()),
        }
    }

    /// Whether a session started or stopped since its thread looked.
    fn is_stale(&self) -> bool {
        self.epoch.load(Ordering::Relaxed) != running::epoch()
    }

    /// Counts a message as lost: here, where this is the only writer that could have had it.
    fn lose(&self, group: &'static GroupInfo, level: Level, cause: Cause) {
        if self.id == 0 || self.is_stale() {
            stray(group, level, cause);
        } else {
            self.losses.add(group.id, cause, 1);
        }
    }

    /// A writer for this thread.
    pub(crate) fn register(core: &Arc<Core>, epoch: u32) -> Option<Arc<Self>> {
        let own = Own::new(Arc::clone(core));
        core.register(|identity| {
            Arc::new(Self {
                busy: AtomicBool::new(false),
                id: identity.id,
                epoch: AtomicU32::new(epoch),
                losses: core.losses(),
                thread: Thread::current(),
                own: UnsafeCell::new(own.with(identity)),
                ..Self::sentinel()
            })
        })
    }

    /// Writes a message or counts it as lost. False, and nothing done, where the session is over, or where the chunk has no
    /// room and `refuse` says so.
    #[inline(always)]
    fn write<V: Values>(&self, head: Head, values: &V, refuse: fn(&Self) -> bool) -> bool {
        self.busy.store(true, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        // SAFETY: *busy*: this is the writer's thread, and the flag was clear.
        let own = unsafe { &mut *self.own.get() };
        let done = self.try_write(own, head, values) || self.out_of_room(own, head, values, refuse);
        compiler_fence(Ordering::SeqCst);
        self.busy.store(false, Ordering::Relaxed);
        done
    }

    /// Writes a message if the chunk has room for it.
    #[inline(always)]
    fn try_write<V: Values>(&self, own: &mut Own, head: Head, values: &V) -> bool {
        if !V::IS_MESSAGE && !own.has_track {
            return false;
        }
        let delta = own.delta();
        let plan = Plan::new(values, own.next_iid, own.max_text);
        let size = values.size(&plan, delta);
        let (size_field, size_len) = size_field(size);
        let end = own.position as usize + size_len + size;
        if end > self.limit.load(Ordering::Relaxed) {
            return false;
        }
        let mut cursor = Cursor::new(own.position);
        // SAFETY: *chunk*: `end` is not above the limit, so all of it and SLACK bytes more are this writer's.
        unsafe { cursor.put(size_field, size_len) };
        // SAFETY: as above; the plan is that of these values.
        unsafe { values.packet(&mut cursor, head.id, delta, &plan, own.next_iid) };
        debug_assert_eq!(cursor.at() as usize, end, "a packet is as long as planned");
        // SAFETY: *chunk*: the packet ends at or below the limit.
        unsafe { own.commit(cursor.at(), delta, &plan) };
        own.others += !V::IS_MESSAGE as u16;
        if plan.cut() > 0 {
            self.losses.add(head.group.id, Cause::Cut, 1);
        }
        true
    }

    /// Finds room for a message that does not fit the chunk, and writes it; or counts it as lost. False as for
    /// [`Self::write`].
    #[cold]
    #[inline(never)]
    fn out_of_room<V: Values>(
        &self,
        own: &mut Own,
        head: Head,
        values: &V,
        refuse: fn(&Self) -> bool,
    ) -> bool {
        if refuse(self) {
            return false;
        }
        if own.is_stopped() {
            own.complete(self);
            return false;
        }
        // Another session's start or stop closed the chunk, maybe.
        let closed = self.limit.load(Ordering::Relaxed) == 0;
        if closed && own.reopen(self) && self.try_again(own, head, values) {
            return true;
        }
        own.complete(self);
        own.has_track |= !V::IS_MESSAGE;
        let need = values.size(&Plan::new(values, 1, own.max_text), u32::MAX.into());
        if !own.begin(self, need) {
            self.losses.add(head.group.id, Cause::Full, 1);
        } else if own.is_stopped() {
            own.complete(self);
            return false;
        } else if !self.try_again(own, head, values) && !own.write_split(self, head, values) {
            self.losses.add(head.group.id, Cause::Full, 1);
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
        self.busy.store(true, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        // SAFETY: *busy*: called by the writer's thread, which is in no message: thread-local destructors do not
        // interrupt one, and a signal handler finds another writer as the current one.
        let own = unsafe { &mut *self.own.get() };
        own.complete(self);
        self.ended.store(true, Ordering::Release);
        compiler_fence(Ordering::SeqCst);
        self.busy.store(false, Ordering::Relaxed);
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
        self.limit.store(0, Ordering::Relaxed);
    }

    /// Whether its thread is within a message.
    pub(crate) fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Acquire)
    }
}
