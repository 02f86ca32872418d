//! A thread that keeps still: while it changes what its messages go by, or holds a lock that logging would want, what a
//! signal handler logs on it counts as nested. A thread that forks does so from before the fork until it is known what of
//! its state is the child's.
//!
//! Invariant: the state is [`ASIDE`] meanwhile, and afterwards what it was.

use super::{ASIDE, FRONT, GONE, NONE, READY, UNATTRIBUTED, WITHIN};
use crate::loss::LossCause;
use crate::sync::{Ordering, light_barrier};

/// As long as it lives, what a signal handler logs on this thread counts as nested.
#[derive(Debug)]
pub(crate) struct Aside(u8);

impl Aside {
    /// From now on.
    pub(crate) fn new() -> Self {
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

/// In a forked child: its thread's writers are its parent's. What a signal handler interrupted in the middle of a message
/// is the parent's to finish. Where not all is as it should be, the thread is at its end. It was aside until now.
pub(crate) fn in_child(aside: Aside, whole: bool) {
    let before = aside.0;
    std::mem::forget(aside);
    FRONT.with(|front| {
        let next = match before {
            _ if !whole => GONE,
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
