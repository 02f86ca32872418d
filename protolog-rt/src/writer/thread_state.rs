//! The thread-local state of the write path: which phase the thread is in, and the one writer that
//! its messages go to.
//!
//! ```text
//!                  a message begins                 it is written
//!      READY ------------------------------> WRITING ------> READY
//!      UNROUTED, or stale: look for the writers
//!                  ------------------------------> GUARDED --> READY (one session) or UNROUTED
//!      any         a ReentrancyGuard lives          GUARDED --> as before
//!      any         the thread exits                 EXITED
//! ```
//!
//! The phase is one byte: one test sends everything unusual out of line.
//!
//! Signal handlers may log. One that lands within a message finds the phase [`WRITING`] or
//! [`GUARDED`], and its message is dropped as nested. One that lands after a message has tested the
//! phase and before it sets it runs as if it came before the message. It may even leave a session
//! and retire the writer, since the pointer is read only after the phase is set. A handler must not
//! log its thread's first message of all: that one allocates.
//!
//! Invariants
//! - *pointer*: it is read only on its own thread and while the phase is [`WRITING`], and changed
//!   only while it is [`GUARDED`] or the thread exits. Its target lives until it is changed, since
//!   the `Arc` in [`super::routes`] holds it.
//! - *one*: where the pointer is not null, the group's word is the filter of that writer's session,
//!   since no other one runs, of any threads; the start of another closes the limit first.
//! - No user code runs while the phase is [`WRITING`].
#![allow(unsafe_code)] // The pointer to the writer.

use super::Writer;
use crate::loss::UnattributedLosses;
use crate::sync::{AtomicPtr, AtomicU8, Ordering, light_barrier};

/// Phases of a thread: a message may go to the writer.
pub(super) const READY: u8 = 0;
/// The thread is within a message to that writer.
pub(super) const WRITING: u8 = 1;
/// There is not the one writer to go to: before the first message, with several sessions, or with
/// none.
pub(super) const UNROUTED: u8 = 2;
/// The thread looks for its writers, writes to several, or holds a [`super::ReentrancyGuard`].
pub(super) const GUARDED: u8 = 3;
/// The thread has dropped its thread-local state.
pub(super) const EXITED: u8 = 4;

/// Where a thread's messages go. See the module.
pub(super) struct ThreadState {
    phase: AtomicU8,
    /// Null where there is not the one writer to go to.
    writer: AtomicPtr<Writer>,
}

/// Dropped messages of threads that have no writer, or several.
pub(crate) static UNATTRIBUTED: UnattributedLosses = UnattributedLosses::new();

thread_local! {
    static THREAD_STATE: ThreadState = const {
        ThreadState {
            phase: AtomicU8::new(UNROUTED),
            writer: AtomicPtr::new(std::ptr::null_mut()),
        }
    };
}

impl ThreadState {
    /// Calls `f` with the calling thread's state.
    pub(super) fn with<R>(f: impl FnOnce(&Self) -> R) -> R {
        THREAD_STATE.with(f)
    }

    /// The calling thread's state. ([`Self::with`] would keep its users from being inlined.)
    ///
    /// # Safety
    /// The reference is used on the calling thread only.
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is a part of every call.
    pub(super) unsafe fn current<'a>() -> &'a Self {
        let state = THREAD_STATE.with(std::ptr::from_ref);
        // SAFETY: it has no destructor, so it lives as long as its thread, on which alone it is
        // used.
        unsafe { &*state }
    }

    /// The thread's phase.
    #[inline]
    pub(super) fn phase(&self) -> u8 {
        self.phase.load(Ordering::Relaxed)
    }

    /// Begins a message; the phase is [`READY`].
    #[inline]
    pub(super) fn begin(&self) {
        self.phase.store(WRITING, Ordering::Relaxed);
        light_barrier();
    }

    /// Ends a message.
    #[inline]
    pub(super) fn end(&self) {
        light_barrier();
        self.phase.store(READY, Ordering::Relaxed);
    }

    /// The one writer to go to; the phase is [`WRITING`].
    #[inline]
    pub(super) fn writer(&self) -> Option<&Writer> {
        // SAFETY: *pointer*: it is null, or points to a writer that lives until the pointer is
        // changed.
        unsafe { self.writer.load(Ordering::Relaxed).as_ref() }
    }

    /// Changes the writer, while a signal handler sees that the thread is guarded, then the phase.
    pub(super) fn route(&self, phase: u8, writer: *const Writer) {
        self.phase.store(GUARDED, Ordering::Relaxed);
        light_barrier();
        self.writer.store(writer.cast_mut(), Ordering::Relaxed);
        self.restore(phase);
    }

    /// Makes the phase [`GUARDED`]; returns the one before.
    pub(super) fn guard(&self) -> u8 {
        let before = self.phase.swap(GUARDED, Ordering::Relaxed);
        light_barrier();
        before
    }

    /// Makes the phase `phase` again.
    pub(super) fn restore(&self, phase: u8) {
        light_barrier();
        self.phase.store(phase, Ordering::Relaxed);
    }
}
