//! Atomics of all state that threads share, from one place, so that a model checker's can replace
//! them.
//!
//! Invariant: files that are compiled into a model too take their atomics from here only. The
//! shared memory's are in its own crate.

use core::sync::atomic::compiler_fence;
pub(crate) use core::sync::atomic::{
    AtomicBool, AtomicI32, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize,
    Ordering, fence,
};

/// Keeps the compiler from moving anything across. With a heavy barrier on the other side it is as
/// good as a fence; and signal handlers of the thread see things in the order of the program.
#[inline]
pub(crate) fn light_barrier() {
    compiler_fence(Ordering::SeqCst);
}
