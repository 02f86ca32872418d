//! The atomics of the sources.

pub(crate) use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use std::cell::Cell;
use std::fmt;
use std::sync::OnceLock;

/// A whole fence, as the heavy barrier on the other side makes it one.
pub(crate) fn light_barrier() {
    fence(Ordering::SeqCst);
}

std::thread_local! {
    /// All threads of a model are this one.
    static IN_TURN: Cell<bool> = const { Cell::new(false) };
}

/// Makes this model's stores to words of 64 bits come one after the other from now on, in the order
/// in which they are made. They do so on the processors that have a fence to leave out. Loads may
/// still find earlier values. Without this, loom takes a store that precedes another thread's
/// exchange for one that may come between the two halves of that exchange.
pub(crate) fn in_turn() {
    IN_TURN.set(true);
}

/// One of loom's that can be made in a constant, as the counters of losses are.
pub(crate) struct AtomicU64 {
    initial: u64,
    atomic: OnceLock<loom::sync::atomic::AtomicU64>,
}

impl AtomicU64 {
    pub(crate) const fn new(initial: u64) -> Self {
        Self { initial, atomic: OnceLock::new() }
    }

    fn get(&self) -> &loom::sync::atomic::AtomicU64 {
        self.atomic.get_or_init(|| loom::sync::atomic::AtomicU64::new(self.initial))
    }

    pub(crate) fn load(&self, order: Ordering) -> u64 {
        self.get().load(order)
    }

    pub(crate) fn store(&self, value: u64, order: Ordering) {
        if IN_TURN.get() {
            self.get().swap(value, order);
        } else {
            self.get().store(value, order);
        }
    }

    pub(crate) fn swap(&self, value: u64, order: Ordering) -> u64 {
        self.get().swap(value, order)
    }

    pub(crate) fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        self.get().fetch_add(value, order)
    }

    pub(crate) fn compare_exchange(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64> {
        self.get().compare_exchange(current, new, success, failure)
    }
}

impl fmt::Debug for AtomicU64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get();
        write!(f, "AtomicU64")
    }
}
