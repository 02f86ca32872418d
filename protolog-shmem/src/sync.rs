//! The atomics that threads share, from one place, so that a model checker can replace them.
//!
//! Invariant: words that order anything between threads come from here. Counters that order nothing
//! are the standard library's.

#[cfg(not(loom))]
pub(crate) use core::sync::atomic::{
    AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{
    AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};

#[cfg(loom)]
pub(crate) use loom::thread::yield_now;
#[cfg(not(loom))]
pub(crate) use std::thread::yield_now;
