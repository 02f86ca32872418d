//! The reentrancy guard. A thread holds one while it changes what its messages go by, or holds a
//! lock that logging would take: what a signal handler logs on it then is dropped as nested. A
//! thread that forks is guarded from before the fork until it is known which of its state is the
//! child's.
//!
//! Invariant: the thread's phase is `GUARDED` meanwhile, and afterwards the earlier one.

use super::thread_state::{EXITED, READY, ThreadState, UNATTRIBUTED, UNROUTED, WRITING};
use crate::loss::LossCause;
use crate::sys::fork::{ThreadActions, set_thread_actions};
use std::cell::Cell;

/// As long as it lives, what a signal handler logs on this thread is dropped as nested.
#[derive(Debug)]
pub(crate) struct ReentrancyGuard {
    /// The thread's phase before.
    before: u8,
}

impl ReentrancyGuard {
    /// Guards the calling thread until the guard is dropped.
    pub(crate) fn new() -> Self {
        set_thread_actions(&FORK);
        Self { before: ThreadState::with(ThreadState::guard) }
    }
}

impl Drop for ReentrancyGuard {
    fn drop(&mut self) {
        ThreadState::with(|state| state.restore(self.before));
    }
}

/// Runs `f` with the calling thread guarded.
pub(crate) fn guarded<R>(f: impl FnOnce() -> R) -> R {
    let _guard = ReentrancyGuard::new();
    f()
}

thread_local! {
    /// The phase of a thread before it forks.
    static BEFORE_FORK: Cell<u8> = const { Cell::new(UNROUTED) };
}

/// A thread that forks is guarded from before the fork until it is known which of its state is the
/// child's.
static FORK: ThreadActions = ThreadActions { before: before_fork, in_child, in_parent };

fn before_fork() {
    BEFORE_FORK.set(ThreadState::with(ThreadState::guard));
}

fn in_parent() {
    ThreadState::with(|state| state.restore(BEFORE_FORK.get()));
}

/// Ends the guard in a forked child, whose thread's writers are its parent's. A message that a
/// signal handler interrupted with the fork is the parent's to finish. If not all locks could be
/// taken, the thread logs no more.
fn in_child(is_complete: bool) {
    let next = match BEFORE_FORK.get() {
        _ if !is_complete => EXITED,
        READY => UNROUTED,
        WRITING => {
            UNATTRIBUTED.add_of_unknown_group(LossCause::Forked);
            WRITING
        }
        other => other,
    };
    ThreadState::with(|state| state.route(next, std::ptr::null()));
}
