//! Sizes of a buffer, and the place of a chunk in it.
//!
//! Invariant: a slot's index is below the number of chunks of its layout, so the chunk is within
//! its page.

use protolog_core::chunk::{CHUNK_HEADER, PageLayout};

/// Size of a page, in bytes.
pub const PAGE: usize = 4096;

/// The most bytes that packets can take in one chunk.
pub const MAX_PAYLOAD: usize = PageLayout::One.chunk_size(PAGE) - CHUNK_HEADER;

/// The largest buffer, in bytes: a page's number takes 16 bits in the word of a chunk.
pub const MAX_BUFFER: usize = 256 << 20;

/// Returns the size of a buffer of at least `bytes` bytes: whole pages.
pub fn size(bytes: usize) -> usize {
    bytes.clamp(PAGE, MAX_BUFFER).next_multiple_of(PAGE)
}

/// A chunk's place in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// The page it is on.
    pub(crate) page: usize,
    /// Its number on the page, below that of the layout's chunks.
    pub(crate) index: usize,
    /// The page's layout.
    pub(crate) layout: PageLayout,
}

impl Slot {
    /// The chunk's offset in the buffer.
    #[inline]
    pub(crate) fn at(self) -> usize {
        self.page * PAGE + self.layout.chunk_at(PAGE, self.index)
    }

    /// The size of the chunk with its header.
    #[inline]
    pub(crate) fn size(self) -> usize {
        self.layout.chunk_size(PAGE)
    }

    /// The most bytes that its packets can take.
    #[inline]
    pub(crate) fn payload(self) -> usize {
        self.size() - CHUNK_HEADER
    }
}
