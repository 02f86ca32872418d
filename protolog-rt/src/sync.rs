//! The atomics of everything that several threads touch, from one place, so that a model checker can stand in for them.
//!
//! Invariant: the state machines of `shmem` take their words by reference from here and never name `core::sync` themselves.

pub(crate) use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize};
pub(crate) use core::sync::atomic::{AtomicU16, Ordering, compiler_fence, fence};
