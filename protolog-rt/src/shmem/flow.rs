//! How much went through a buffer: counted once per chunk, never per message.
//!
//! Invariant: counters order nothing, so a model checker need not know of them; they are the standard library's own.

use super::buffer::PAGE;
use protolog_core::chunk::Layout;
use std::sync::atomic::{AtomicU64, Ordering};

/// Chunks and their bytes, headers and unused ends included.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    /// That writers were done with.
    pub(crate) written: Amount,
    /// That the reader of a stream took over.
    pub(crate) read: Amount,
    /// That a ring took again.
    pub(crate) overwritten: Amount,
    /// That a reader freed though it could do nothing with them.
    pub(crate) discarded: Amount,
    most: AtomicU64,
}

/// So many chunks of each layout.
#[derive(Debug, Default)]
pub(crate) struct Amount([AtomicU64; Layout::ALL.len()]);

impl Flow {
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

impl Amount {
    /// Counts a chunk of a page with this layout.
    pub(crate) fn add(&self, layout: Layout) {
        self.0[layout as usize - 1].fetch_add(1, Ordering::Relaxed);
    }

    /// Chunks.
    pub(crate) fn chunks(&self) -> u64 {
        self.0.iter().map(|chunks| chunks.load(Ordering::Relaxed)).sum()
    }

    /// Bytes.
    pub(crate) fn bytes(&self) -> u64 {
        let bytes = |(chunks, layout): (&AtomicU64, Layout)| {
            chunks.load(Ordering::Relaxed) * layout.chunk_size(PAGE) as u64
        };
        self.0.iter().zip(Layout::ALL).map(bytes).sum()
    }
}
