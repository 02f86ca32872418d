//! A thread's writer: from the enabled call to committed bytes in a chunk.
//!
//! ```text
//! call -> [thread-local pointer] -> Writer { limit, busy, losses | Own { position, chunk, clock … } }
//!                                            read by others           this thread's alone
//! ```
//!
//! The pointer is never null: before a thread's first message it points to a static writer that is always busy, so that
//! one test, "busy?", sends everything unusual out of line: the first message, a call within a call (a signal handler),
//! a call after the thread's end.
//!
//! Invariants
//! - *pointer*: what the thread-local pointer points to lives: it is a static, or the guard's `Arc` holds it.
//! - *busy*: `own` is touched by the writer's own thread only, and only between setting and clearing `busy`, or while
//!   the pointer points to [`ATTACHING`]; a signal handler that finds it set does not touch it.
//! - *chunk*: from `position` to `limit` plus [`SLACK`](encode::SLACK) the bytes are those of a chunk that this writer owns. The byte at
//!   `position` is the size of the packet that was started last, 0, and the chunk's count includes that packet.
//! - No user code runs while `busy` is set.
#![allow(unsafe_code)] // The thread-local pointer, and stores into the chunk that it leads to.
#![allow(clippy::inline_always)] // One function per signature: what it is made of must not be calls.

pub(crate) mod args;
pub(crate) mod encode;
pub(crate) mod own;
#[cfg(test)]
mod tests;
mod thread;

use crate::loss::{Cause, Losses};
use crate::session::{self, core::Core, core::Identity};
use crate::shmem::buffer::MAX_PAYLOAD;
use crate::sync::{AtomicBool, AtomicUsize, Ordering, compiler_fence};
use encode::{Cursor, Plan, Values};
use own::Own;
use std::cell::{Cell, RefCell, UnsafeCell};
use std::sync::Arc;
use thread::Thread;

/// A message, as far as it is the same for all values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    /// The message's id.
    pub(crate) id: u64,
    /// The group's id, for losses.
    pub(crate) group: u32,
}

/// A thread's place in a session. See the module.
#[derive(Debug)]
pub(crate) struct Writer {
    /// The address up to which packets may go; 0 where there is no chunk, or when the session is over.
    limit: AtomicUsize,
    busy: AtomicBool,
    ended: AtomicBool,
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

/// What the pointer points to before the thread's first message.
static NONE: Writer = Writer::sentinel();
/// … while a thread is being attached to a session.
static ATTACHING: Writer = Writer::sentinel();
/// … after the thread took down its thread-local state.
static GONE: Writer = Writer::sentinel();

/// Losses of threads that have no writer.
pub(crate) static ORPHANS: Losses = Losses::new();

thread_local! {
    static CURRENT: Cell<*const Writer> = const { Cell::new(&raw const NONE) };
    static GUARD: Guard = const { Guard(RefCell::new(None)) };
}

/// Keeps the thread's writer, and takes leave of the session when the thread ends.
struct Guard(RefCell<Option<Arc<Writer>>>);

impl Drop for Guard {
    fn drop(&mut self) {
        CURRENT.set(&raw const GONE);
        if let Some(writer) = self.0.get_mut().take() {
            writer.leave();
        }
    }
}

/// Writes a message to the session that runs.
#[inline]
pub(crate) fn write<V: Values>(head: Head, values: &V) {
    let current = CURRENT.get();
    // SAFETY: *pointer*.
    let writer = unsafe { &*current };
    if writer.busy.load(Ordering::Relaxed) {
        return unusual(writer, head, values);
    }
    writer.busy.store(true, Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
    // SAFETY: *busy*: this is the writer's thread, and the flag was clear.
    let own = unsafe { &mut *writer.own.get() };
    let done = writer.try_write(own, head, values) || writer.out_of_room(own, head, values);
    compiler_fence(Ordering::SeqCst);
    writer.busy.store(false, Ordering::Relaxed);
    if !done {
        // `writer` is not used any more: the next attachment lets go of it.
        CURRENT.set(&raw const NONE);
        write_first(head, values);
    }
}

/// Writes the first message of a thread to the session that runs, if one does.
#[cold]
#[inline(never)]
fn write_first<V: Values>(head: Head, values: &V) {
    if attach(head) {
        write(head, values);
    }
}

/// Counts messages of a group as lost, on this thread's sequence where it has one.
pub(crate) fn lose(group: u32, cause: Cause) {
    let current = CURRENT.get();
    // SAFETY: *pointer*.
    let writer = unsafe { &*current };
    let losses = if writer.is_sentinel() { &ORPHANS } else { &writer.losses };
    losses.add(group, cause, 1);
}

/// The first message of a thread, a message within a message, a message after the thread's end.
#[cold]
#[inline(never)]
fn unusual<V: Values>(writer: &Writer, head: Head, values: &V) {
    if std::ptr::eq(writer, &raw const NONE) {
        write_first(head, values);
    } else if std::ptr::eq(writer, &raw const GONE) {
        ORPHANS.add(head.group, Cause::Dead, 1);
    } else if writer.is_sentinel() {
        ORPHANS.add(head.group, Cause::Nested, 1);
    } else {
        writer.losses.add(head.group, Cause::Nested, 1);
    }
}

/// Gives this thread a writer of the session that runs; false where there is none, or none to be had.
#[cold]
fn attach(head: Head) -> bool {
    CURRENT.set(&raw const ATTACHING);
    let attached = GUARD.try_with(|guard| {
        // A session that has just stopped is none.
        let core = session::current()?;
        let writer = Writer::register(&core);
        if writer.is_none() {
            ORPHANS.add(head.group, Cause::Full, 1);
        }
        if let Some(old) = guard.0.replace(Some(writer?)) {
            old.leave();
        }
        guard.0.borrow().as_ref().map(Arc::as_ptr)
    });
    match attached {
        Ok(Some(writer)) => {
            CURRENT.set(writer);
            true
        }
        Ok(None) => {
            CURRENT.set(&raw const NONE);
            false
        }
        Err(_) => {
            CURRENT.set(&raw const GONE);
            ORPHANS.add(head.group, Cause::Dead, 1);
            false
        }
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
            losses: Losses::new(),
            id: 0,
            thread: Thread::NONE,
            own: UnsafeCell::new(Own::none()),
        }
    }

    fn is_sentinel(&self) -> bool {
        self.id == 0
    }

    /// A writer for this thread.
    fn register(core: &Arc<Core>) -> Option<Arc<Self>> {
        let own = Own::new(Arc::clone(core));
        core.register(|identity| {
            Arc::new(Self {
                busy: AtomicBool::new(false),
                id: identity.id,
                thread: Thread::current(),
                own: UnsafeCell::new(own.with(identity)),
                ..Self::sentinel()
            })
        })
    }

    /// Writes a message if the chunk has room for it.
    #[inline(always)]
    fn try_write<V: Values>(&self, own: &mut Own, head: Head, values: &V) -> bool {
        let delta = own.delta();
        let plan = Plan::new(values, own.next_iid, own.max_text);
        let size = plan.packet(delta);
        let (size_field, size_len) = size_field(size);
        let end = own.position as usize + size_len + size;
        if end > self.limit.load(Ordering::Relaxed) {
            return false;
        }
        let mut cursor = Cursor::new(own.position);
        // SAFETY: *chunk*: `end` is not above the limit, so all of it and SLACK bytes more are this writer's.
        unsafe { cursor.put(size_field, size_len) };
        // SAFETY: as above; the plan is that of these values.
        unsafe { cursor.packet(head.id, delta, values, &plan, own.next_iid) };
        debug_assert_eq!(cursor.at() as usize, end, "a packet is as long as planned");
        // SAFETY: *chunk*: the packet ends at or below the limit.
        unsafe { own.commit(cursor.at(), delta, &plan) };
        if plan.cut() > 0 {
            self.losses.add(head.group, Cause::Cut, 1);
        }
        true
    }

    /// Finds room for a message that does not fit the chunk, and writes it; or counts it as lost. False where the session
    /// is over.
    #[cold]
    #[inline(never)]
    fn out_of_room<V: Values>(&self, own: &mut Own, head: Head, values: &V) -> bool {
        own.complete(self);
        if own.is_stopped() {
            return false;
        }
        let need = Plan::new(values, 1, own.max_text).packet(u32::MAX.into());
        if !own.begin(self, need) {
            self.losses.add(head.group, Cause::Full, 1);
        } else if own.is_stopped() {
            own.complete(self);
            return false;
        } else if !self.try_write(own, head, values) && !own.write_split(self, head, values) {
            self.losses.add(head.group, Cause::Full, 1);
        }
        true
    }

    /// The thread ends: gives its chunk back.
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
