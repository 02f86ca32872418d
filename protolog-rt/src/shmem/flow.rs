//! How much went through a buffer: counted once per chunk, never per message.
//!
//! Invariant: counters order nothing, so a model checker need not know of them; they are the standard library's own.

use super::buffer::PAGE;
use protolog_core::chunk::PageLayout;
use std::sync::atomic::{AtomicU64, Ordering};

/// What went through. Most chunks are of the first layout: what is counted of those stands with what the buffer itself counts.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Flow {
    most: AtomicU64,
    passed: [Passed; PageLayout::ALL.len()],
}

/// Chunks of one layout.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Passed {
    /// That writers were done with.
    pub(crate) written: AtomicU64,
    /// That a ring took again.
    pub(crate) overwritten: AtomicU64,
    /// That the reader of a stream took over.
    pub(crate) read: AtomicU64,
    /// That a reader freed though it could do nothing with them.
    pub(crate) discarded: AtomicU64,
}

impl Flow {
    /// Counts a chunk of a page with this layout.
    pub(crate) fn add(&self, layout: PageLayout, of: impl Fn(&Passed) -> &AtomicU64) {
        of(&self.passed[layout as usize - 1]).fetch_add(1, Ordering::Relaxed);
    }

    /// Chunks.
    pub(crate) fn chunks(&self, of: impl Fn(&Passed) -> &AtomicU64) -> u64 {
        self.passed.iter().map(|passed| of(passed).load(Ordering::Relaxed)).sum()
    }

    /// Their bytes, headers and unused ends included.
    pub(crate) fn bytes(&self, of: impl Fn(&Passed) -> &AtomicU64) -> u64 {
        let bytes = |(passed, layout): (&Passed, PageLayout)| {
            of(passed).load(Ordering::Relaxed) * layout.chunk_size(PAGE) as u64
        };
        self.passed.iter().zip(PageLayout::ALL).map(bytes).sum()
    }

    /// Notes that so many bytes are in complete chunks.
    pub(super) fn reach(&self, bytes: usize) {
        // Most of the time it is no more than ever before: look before writing.
        if self.most.load(Ordering::Relaxed) < bytes as u64 {
            self.most.fetch_max(bytes as u64, Ordering::Relaxed);
        }
    }

    /// The most bytes that were in complete chunks at a time.
    pub(crate) fn most(&self) -> u64 {
        self.most.load(Ordering::Relaxed)
    }
}
