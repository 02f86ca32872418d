//! Interleavings of writers, reader and reclaimer over a small buffer, as loom finds them;
//! `cargo xtask test loom` runs it.
//!
//! The crate itself is compiled over loom's atomics. Bytes of packets are plain memory; the
//! [`cells`] check every access to them.
//!
//! The bounds: three threads, one page, at most two preemptions in a run, in one model one, unless
//! `LOOM_MAX_PREEMPTIONS` says otherwise. Within them loom leaves out orders that it takes for
//! equal, and misses some that are not: where a race matters, the threads yield to each other, so
//! that it is met.
#![cfg(loom)]
#![allow(unsafe_code)] // Stores into chunks.

mod cells;
mod offer;
mod ring;
mod stream;
mod writer;

use loom::sync::Arc;
use protolog_core::FillPolicy;
use protolog_shmem::{Buffer, Heap, Memory, PAGE};

fn check(model: impl Fn() + Send + Sync + 'static) {
    // The builder has read LOOM_MAX_PREEMPTIONS.
    check_within(loom::model::Builder::new().preemption_bound.or(Some(2)), model);
}

/// Checks a model with so many preemptions.
fn check_within(preemptions: Option<usize>, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    builder.max_branches = 10_000;
    builder.check(model);
}

/// A buffer of one page.
fn buffer(fill_policy: FillPolicy) -> Arc<Buffer> {
    Arc::new(Buffer::new(Memory::new(Heap::new(PAGE)), fill_policy))
}
