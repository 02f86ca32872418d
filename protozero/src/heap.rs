//! A delegate that allocates: a message of any size becomes one `Vec`.
//!
//! Bytes are written to a buffer that is appended to the result when it is full. A message that
//! fits the first buffer is never copied; the buffer doubles up to [`MAX_BUFFER`] and is then used
//! again and again.

use alloc::vec::Vec;

use crate::delegate::{Delegate, Ended, Exhausted, MAX_RANGE, Patch};

/// Initial size of the buffer, in bytes.
const MIN_BUFFER: usize = 64;

/// Maximum size of the buffer, in bytes: large enough that changing ranges costs nothing, small
/// enough to stay in the cache.
const MAX_BUFFER: usize = 64 * 1024;

/// Growing memory on the heap.
#[derive(Debug, Default)]
pub struct Heap {
    /// The used parts of the ended ranges.
    filled: Vec<u8>,
    /// The current range.
    buffer: Vec<u8>,
}

impl Heap {
    /// An empty delegate, which allocates at the first write.
    pub const fn new() -> Self {
        Self { filled: Vec::new(), buffer: Vec::new() }
    }

    /// A delegate with a first range of `bytes` bytes (at most 2 GiB), so that a message of that
    /// size needs one allocation and no copy.
    pub fn with_capacity(bytes: usize) -> Self {
        let mut heap = Self::new();
        heap.buffer.resize(bytes.min(MAX_RANGE), 0);
        heap
    }

    /// The message, of which `used` bytes are in the current range.
    pub(crate) fn into_vec(mut self, used: usize) -> Vec<u8> {
        self.buffer.truncate(used);
        if self.filled.is_empty() {
            return self.buffer;
        }
        self.filled.extend_from_slice(&self.buffer);
        self.filled
    }
}

impl Delegate for Heap {
    #[inline]
    fn range(&mut self) -> &mut [u8] {
        &mut self.buffer
    }

    #[cold]
    fn next_range(&mut self, ended: Ended) -> Result<(), Exhausted> {
        let size = (self.buffer.len() * 2).clamp(MIN_BUFFER, MAX_BUFFER);
        if self.filled.is_empty() {
            self.buffer.truncate(ended.used);
            self.filled = core::mem::take(&mut self.buffer);
        } else {
            let used = self.buffer.get(..ended.used).ok_or(Exhausted)?;
            self.filled.try_reserve(used.len()).map_err(|_| Exhausted)?;
            self.filled.extend_from_slice(used);
        }
        if self.buffer.len() < size {
            self.buffer.try_reserve_exact(size - self.buffer.len()).map_err(|_| Exhausted)?;
            self.buffer.resize(size, 0);
        }
        Ok(())
    }

    fn patch(&mut self, patch: Patch) {
        let place =
            usize::try_from(patch.position).ok().and_then(|start| self.filled.get_mut(start..));
        if let Some(place) = place.and_then(|place| place.first_chunk_mut()) {
            *place = patch.bytes;
        }
    }
}
