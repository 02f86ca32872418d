//! A thread that keeps still: while it changes what its messages go by, or holds a lock that logging would want, what a
//! signal handler logs on it counts as nested. A thread that forks does so from before the fork until it is known what of
//! its state is the child's.
//!
//! Invariant: the state is [`ASIDE`] meanwhile, and afterwards what it was.

use super::{ASIDE, FRONT, GONE, NONE, READY, UNATTRIBUTED, WITHIN};
use crate::loss::LossCause;
use crate::sync::{Ordering, light_barrier};
use crate::sys::fork::{ThreadActions, set_thread_actions};
use std::cell::Cell;

/// As long as it lives, what a signal handler logs on this thread counts as nested.
#[derive(Debug)]
pub(crate) struct Aside(u8);

impl Aside {
    /// From now on.
    pub(crate) fn new() -> Self {
        set_thread_actions(&FORK);
        let before = FRONT.with(|front| front.state.swap(ASIDE, Ordering::Relaxed));
        light_barrier();
        Self(before)
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        light_barrier();
        FRONT.with(|front| front.state.store(self.0, Ordering::Relaxed));
    }
}

/// Runs `f`, during which what a signal handler logs on this thread counts as nested.
pub(crate) fn aside<R>(f: impl FnOnce() -> R) -> R {
    let _aside = Aside::new();
    f()
}

thread_local! {
    /// The state of a thread that forks, as it is to be afterwards.
    static AFTER_FORK: Cell<u8> = const { Cell::new(NONE) };
}

/// A thread that forks is aside until it is known what of its state is the child's.
static FORK: ThreadActions = ThreadActions { before: before_fork, in_child, in_parent };

fn before_fork() {
    AFTER_FORK.set(FRONT.with(|front| front.state.swap(ASIDE, Ordering::Relaxed)));
    light_barrier();
}

fn in_parent() {
    light_barrier();
    FRONT.with(|front| front.state.store(AFTER_FORK.get(), Ordering::Relaxed));
}

/// In a forked child the thread's writers are its parent's. A message that a signal handler interrupted is the parent's to
/// finish. Where not all locks could be taken, the thread is at its end.
fn in_child(is_complete: bool) {
    FRONT.with(|front| {
        let next = match AFTER_FORK.get() {
            _ if !is_complete => GONE,
            READY => NONE,
            WITHIN => {
                UNATTRIBUTED.add_of_unknown_group(LossCause::Forked);
                WITHIN
            }
            other => other,
        };
        front.set(next, std::ptr::null());
    });
}
