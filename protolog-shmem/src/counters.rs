//! Counters of the chunks that went through a buffer: one step per chunk, never per message.
//!
//! Invariant: counters order nothing, so a model checker need not know of them; they are the
//! standard library's own.

use crate::slot::PAGE;
use protolog_core::BufferStats;
use protolog_core::chunk::PageLayout;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of a buffer. Most chunks have the first layout: its counters share a line with those of
/// the buffer itself.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Counters {
    high_water: AtomicU64,
    layouts: [LayoutCounters; PageLayout::ALL.len()],
}

/// Counters of the chunks of one layout.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct LayoutCounters {
    /// Chunks that writers completed.
    pub(crate) written: AtomicU64,
    /// Complete chunks that writers of a ring took again.
    pub(crate) overwritten: AtomicU64,
    /// Chunks that the reader of a stream copied.
    pub(crate) read: AtomicU64,
    /// Chunks that the reader freed without copying them.
    pub(crate) discarded: AtomicU64,
}

impl Counters {
    /// Counts a chunk of a page with this layout.
    #[inline]
    pub(crate) fn add(&self, layout: PageLayout, of: impl Fn(&LayoutCounters) -> &AtomicU64) {
        of(&self.layouts[layout as usize - 1]).fetch_add(1, Ordering::Relaxed);
    }

    /// Number of chunks.
    fn chunks(&self, of: impl Fn(&LayoutCounters) -> &AtomicU64) -> u64 {
        self.layouts.iter().map(|counters| of(counters).load(Ordering::Relaxed)).sum()
    }

    /// Their bytes, headers and unused ends included.
    fn bytes(&self, of: impl Fn(&LayoutCounters) -> &AtomicU64) -> u64 {
        let bytes = |(counters, layout): (&LayoutCounters, PageLayout)| {
            of(counters).load(Ordering::Relaxed) * layout.chunk_size(PAGE) as u64
        };
        self.layouts.iter().zip(PageLayout::ALL).map(bytes).sum()
    }

    /// Notes that so many bytes are in complete chunks.
    #[inline]
    pub(crate) fn reach(&self, bytes: usize) {
        // Most of the time it is no more than ever before: load before writing.
        if self.high_water.load(Ordering::Relaxed) < bytes as u64 {
            self.high_water.fetch_max(bytes as u64, Ordering::Relaxed);
        }
    }

    /// Statistics of a buffer of so many pages.
    pub(crate) fn stats(&self, pages: usize) -> BufferStats {
        let mut stats = BufferStats::default();
        stats.size = (pages * PAGE) as u64;
        stats.chunks_written = self.chunks(|counters| &counters.written);
        stats.bytes_written = self.bytes(|counters| &counters.written);
        stats.chunks_read = self.chunks(|counters| &counters.read);
        stats.bytes_read = self.bytes(|counters| &counters.read);
        stats.chunks_overwritten = self.chunks(|counters| &counters.overwritten);
        stats.bytes_overwritten = self.bytes(|counters| &counters.overwritten);
        stats.chunks_discarded = self.chunks(|counters| &counters.discarded);
        stats.high_water = self.high_water.load(Ordering::Relaxed);
        stats
    }
}
