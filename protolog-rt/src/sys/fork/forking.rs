//! The state of the calling thread's own fork, and the waiting that a fork may do.
//!
//! Between the handlers before and after a fork, other code may run on the forking thread: another library's handler or a signal's.
//! It must know which locks this thread has already.
//!
//! Invariant: a bit of `held` is set before its lock is taken, and cleared after the lock is released.

use crate::sync::AtomicU32;
use std::cell::Cell;
use std::time::Duration;

/// Forks for which locks are being taken or held.
pub(super) static FORKS: AtomicU32 = AtomicU32::new(0);

thread_local! {
    pub(super) static FORKING: Cell<Forking> = const { Cell::new(Forking::NOT) };
}

/// A thread's own fork.
#[derive(Clone, Copy)]
pub(super) struct Forking {
    /// The locks that the thread holds for it, or is about to take (bit = order).
    pub(super) held: u32,
    /// All that were registered could be taken.
    pub(super) is_complete: bool,
    /// Forks of this thread that have begun; more than one where a signal handler forks between the handlers of another.
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

/// Returns what `take` returns within half a second.
pub(super) fn within_limit<T>(mut take: impl FnMut() -> Option<T>) -> Option<T> {
    const TRIES: u32 = 5_000;
    for attempt in 0..TRIES {
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
