//! The pinned ring of a recording: a second ring, whose messages those of the first one never
//! overwrite.
//!
//! ```text
//! 20480 u64 offset of the pinned ring; 0: there is none, u32 number of its pages, u32
//! 24576 512 × u64 + messages in all chunks ever completed, by writer id - 16384
//! ```
//!
//! Its pages have the size of those of the first ring. Writers of one ring have none in the other:
//! their ids are from [`FIRST_PINNED_WRITER_ID`] up, and those of the first ring below that.
//! Layouts without a pinned ring have zeros here.

use super::{HEADER_SIZE, read_u32, read_u64};
use crate::chunk::FIRST_PINNED_WRITER_ID;

/// Offset of the place of the pinned ring.
pub const PINNED_RING_AT: usize = 20480;
/// Offset of the message counters of its writers.
pub const PINNED_COUNTS_AT: usize = 24576;
/// Number of its writers with a message counter of their own, from the first id up.
pub const PINNED_COUNTS: usize = 512;

const _: () = assert!(PINNED_COUNTS_AT + 8 * PINNED_COUNTS <= super::RING_AT);

/// The place of a pinned ring in a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PinnedRing {
    /// Its offset, in bytes.
    pub at: u64,
    /// Number of its pages.
    pub pages: u32,
}

impl PinnedRing {
    /// The place as a recording has it.
    pub fn to_bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.at.to_ne_bytes());
        bytes[8..12].copy_from_slice(&self.pages.to_ne_bytes());
        bytes
    }

    /// The place in a recording with pages of this size whose metadata begins there; none if it has
    /// no such ring, or an impossible one. The bytes may be truncated.
    pub fn read(recording: &[u8], page: u32, metadata_at: u64) -> Option<Self> {
        let at = read_u64(recording, PINNED_RING_AT)?;
        let pages = read_u32(recording, PINNED_RING_AT + 8)?;
        let end = at.checked_add(u64::from(page) * u64::from(pages))?;
        (at >= HEADER_SIZE as u64 && end <= metadata_at).then_some(Self { at, pages })
    }
}

/// Offset of the message counter of writer `id` of a pinned ring, if it has one of its own.
pub const fn pinned_message_count_at(id: u16) -> Option<usize> {
    let index = (id as usize).wrapping_sub(FIRST_PINNED_WRITER_ID as usize);
    if index < PINNED_COUNTS { Some(PINNED_COUNTS_AT + 8 * index) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    #[test]
    fn a_place_is_read_back_if_it_is_possible() {
        let ring = PinnedRing { at: 1 << 20, pages: 16 };
        let mut bytes = vec![0; super::super::RING_AT];
        let read = |bytes: &[u8], metadata_at| PinnedRing::read(bytes, 4096, metadata_at);
        assert_eq!(read(&bytes, u64::MAX), None, "no such ring");
        bytes[PINNED_RING_AT..][..16].copy_from_slice(&ring.to_bytes());
        let end = (1 << 20) + 16 * 4096;
        assert_eq!(read(&bytes, end), Some(ring));
        assert_eq!(read(&bytes, end - 1), None, "it is not before the metadata");
        assert_eq!(read(&bytes[..PINNED_RING_AT + 11], end), None);
        bytes[PINNED_RING_AT..][..8].copy_from_slice(&u64::MAX.to_ne_bytes());
        assert_eq!(read(&bytes, u64::MAX), None);
    }

    #[test]
    fn writers_have_counters_of_their_own() {
        let at = |id| pinned_message_count_at(FIRST_PINNED_WRITER_ID + id);
        assert_eq!((at(0), at(511), at(512)), (Some(24576), Some(24576 + 8 * 511), None));
        assert_eq!(pinned_message_count_at(FIRST_PINNED_WRITER_ID - 1), None);
    }
}
