//! How much went through a buffer: counted once per chunk, never per message.
//!
//! Invariant: counters order nothing, so a model checker need not know of them; they are the standard library's own.

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

/// So many chunks, and so many bytes.
#[derive(Debug, Default)]
pub(crate) struct Amount {
    chunks: AtomicU64,
    bytes: AtomicU64,
}

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
    /// Counts a chunk of so many bytes.
    pub(crate) fn add(&self, bytes: usize) {
        self.chunks.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Chunks.
    pub(crate) fn chunks(&self) -> u64 {
        self.chunks.load(Ordering::Relaxed)
    }

    /// Bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}
