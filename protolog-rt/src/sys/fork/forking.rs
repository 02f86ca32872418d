//! The state of the calling thread's own fork, and the waiting that a fork may do.
//!
//! Between the handlers before and after a fork, other code may run on the forking thread: another
//! library's handler or a signal's. It must know which locks this thread has already.
//!
//! Invariant: a bit of `held` is set before its lock is taken, and cleared after the lock is
//! released.

use crate::sync::{AtomicBool, AtomicU32, Ordering};
use std::cell::Cell;
use std::time::Duration;

/// Forks for which locks are being taken or held.
pub(super) static FORKS: AtomicU32 = AtomicU32::new(0);

thread_local! {
    pub(super) static FORKING: Cell<Forking> = const { Cell::new(Forking::NOT) };
}

/// True in a child of a fork that was not complete.
static IS_INCOMPLETE: AtomicBool = AtomicBool::new(false);

/// True in the child of a fork that did not get all locks, and in children of that. Those that it
/// did not get are held there for ever.
pub(crate) fn is_incomplete() -> bool {
    IS_INCOMPLETE.load(Ordering::Relaxed)
}

/// Says that this process is the child of such a fork.
pub(super) fn set_incomplete() {
    IS_INCOMPLETE.store(true, Ordering::Relaxed);
}

/// A thread's own fork.
#[derive(Clone, Copy)]
pub(super) struct Forking {
    /// The locks that the thread holds for it, or is about to take (bit = order).
    pub(super) held: u32,
    /// All that were registered could be taken.
    pub(super) is_complete: bool,
    /// Forks of this thread that have begun; more than one where a signal handler forks between the
    /// handlers of another.
    pub(super) depth: u32,
}

impl Forking {
    pub(super) const NOT: Self = Self { held: 0, is_complete: true, depth: 0 };

    /// Changes whether the thread holds the lock of this order.
    pub(super) fn set_held(order: usize, is_held: bool) {
        let mut forking = FORKING.get();
        forking.held = forking.held & !(1 << order) | u32::from(is_held) << order;
        FORKING.set(forking);
    }
}

/// Returns the value that `take` returns within half a second.
pub(super) fn within_limit<T>(take: impl FnMut() -> Option<T>) -> Option<T> {
    within_tries(5_000, take)
}

/// Lets a fork take its locks first. A thread that takes a lock again as soon as it has released it
/// would leave a fork, which can only try, no time at which the lock is free. It waits for no more
/// than a fiftieth of a second, since a fork waits for the other locks that it may have.
pub(super) fn give_way() {
    let is_own = || FORKING.try_with(|forking| forking.get().depth > 0).unwrap_or(false);
    if FORKS.load(Ordering::Relaxed) > 0 && !is_own() {
        within_tries(200, || (FORKS.load(Ordering::Relaxed) == 0).then_some(()));
    }
}

/// Returns the value that `take` returns in so many tries, a tenth of a millisecond apart.
fn within_tries<T>(tries: u32, mut take: impl FnMut() -> Option<T>) -> Option<T> {
    for attempt in 0..tries {
        if let Some(taken) = take() {
            return Some(taken);
        }
        if attempt < 50 {
            std::thread::yield_now();
        } else {
            std::thread::sleep(Duration::from_micros(100));
        }
    }
    None
}
