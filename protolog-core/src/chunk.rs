//! The layout of shared memory buffers: pages, chunks, their states and headers. It is version 1 of
//! Perfetto's shared memory ABI, which is stable.
//!
//! ```text
//! buffer   pages of one size, 4 to 32 KiB
//! page      0 u32 header (atomic)   4 u32 lap   8 chunks, all of one size, then up to 11 unused bytes
//!           lap: reserved in Perfetto's; here the number of the turn, modulo 2^32, in which a ring's writers last visited the page
//!           header: bits 30..28 layout, then two bits of state for each chunk, chunk 0 in bits 1..0
//! chunk     0 u32 chunk id, per writer, counts up without a gap
//!           4 u16 writer id, from 1
//!           6 u16 (atomic, release) bits 9..0 packets started, bits 15..10 flags
//!           8 packets: each a size as a varint of up to 4 bytes, then the bytes
//! ```
//!
//! The states of a chunk, with the writer's and the reader's transitions:
//!
//! ```text
//!           writer: acquire            writer: complete           reader: claim           reader: release
//!    Free ------------------> Writing ------------------> Complete -------------> Reading ---------------> Free
//! ```
//!
//! The count is the number of packets that were *started*. The last one is valid only when the
//! chunk is complete, so a writer starts an empty packet right after it finishes one: then the
//! finished one is valid even while the chunk is still being written. The count never decreases.
//!
//! Invariants: nothing here touches memory; every function is total.

/// Size of a page's header, in bytes.
pub const PAGE_HEADER: usize = 8;
/// Size of a chunk's header, in bytes.
pub const CHUNK_HEADER: usize = 8;
/// Offset of the writer id in a chunk's header.
pub const WRITER_ID_AT: usize = 4;
/// Offset of count and flags in a chunk's header.
pub const PACKETS_AT: usize = 6;
/// Maximum size of a page, in bytes; the minimum is 4096.
pub const MAX_PAGE: usize = 32 * 1024;
/// Maximum number of chunks in a page.
pub const MAX_CHUNKS: usize = 14;
/// Maximum packet count of a chunk, including the empty packet at its end.
pub const MAX_PACKETS: u16 = 1023;
/// Maximum writer id.
pub const MAX_WRITER_ID: u16 = 32767;
/// The first id of writers of a pinned ring, in a session that has one; the ids of its other
/// writers are below.
pub const FIRST_PINNED_WRITER_ID: u16 = 16384;

/// The division of a page into chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum PageLayout {
    /// One chunk.
    One = 1,
    /// Two chunks.
    Two = 2,
    /// Four chunks.
    Four = 3,
    /// Seven chunks.
    Seven = 4,
    /// Fourteen chunks.
    Fourteen = 5,
}

impl PageLayout {
    /// All layouts, the largest chunks first.
    pub const ALL: [Self; 5] = [Self::One, Self::Two, Self::Four, Self::Seven, Self::Fourteen];

    /// Number of chunks.
    pub const fn chunks(self) -> usize {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Four => 4,
            Self::Seven => 7,
            Self::Fourteen => 14,
        }
    }

    /// Size of each chunk with its header, in bytes, on a page of `page` bytes.
    pub const fn chunk_size(self, page: usize) -> usize {
        (page - PAGE_HEADER) / self.chunks() / 4 * 4
    }

    /// Offset of chunk `index` in its page, in bytes.
    pub const fn chunk_at(self, page: usize, index: usize) -> usize {
        PAGE_HEADER + index * self.chunk_size(page)
    }
}

/// The state of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ChunkState {
    /// Owned by nobody.
    Free = 0,
    /// Owned by a writer.
    Writing = 1,
    /// Owned by a reader.
    Reading = 2,
    /// Full, waiting for a reader.
    Complete = 3,
}

/// A page's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageWord(pub u32);

impl PageWord {
    /// A page that is not divided.
    pub const UNDIVIDED: Self = Self(0);

    /// A page that is divided, all chunks free.
    pub const fn divided(layout: PageLayout) -> Self {
        Self((layout as u32) << 28)
    }

    /// The page's layout; none if the page is undivided or the value is invalid.
    pub const fn layout(self) -> Option<PageLayout> {
        match self.0 >> 28 & 7 {
            1 => Some(PageLayout::One),
            2 => Some(PageLayout::Two),
            3 => Some(PageLayout::Four),
            4 => Some(PageLayout::Seven),
            5 => Some(PageLayout::Fourteen),
            _ => None,
        }
    }

    /// The state of chunk `index`, below [`MAX_CHUNKS`].
    pub const fn state(self, index: usize) -> ChunkState {
        match self.0 >> (2 * index) & 3 {
            0 => ChunkState::Free,
            1 => ChunkState::Writing,
            2 => ChunkState::Reading,
            _ => ChunkState::Complete,
        }
    }

    /// The header with chunk `index`, below [`MAX_CHUNKS`], in `state`.
    #[must_use]
    pub const fn with(self, index: usize, state: ChunkState) -> Self {
        Self(self.0 & !(3 << (2 * index)) | (state as u32) << (2 * index))
    }

    /// The first chunk of `layout` that is in `state`.
    pub fn find(self, layout: PageLayout, state: ChunkState) -> Option<usize> {
        (0..layout.chunks()).find(|&index| self.state(index) == state)
    }
}

/// Count and flags in a chunk's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packets(pub u16);

impl Packets {
    /// Flag: the first packet continues one of the chunk before.
    pub const CONTINUES: u16 = 1;
    /// Flag: the last packet continues in the next chunk.
    pub const CONTINUED: u16 = 2;
    /// Flag: size fields in the chunk still need patches.
    pub const NEEDS_PATCHING: u16 = 4;

    /// `count` packets, at most [`MAX_PACKETS`], and `flags`.
    pub const fn new(count: u16, flags: u16) -> Self {
        Self(count & MAX_PACKETS | flags << 10)
    }

    /// Packets started.
    pub const fn count(self) -> u16 {
        self.0 & MAX_PACKETS
    }

    /// The flags.
    pub const fn flags(self) -> u16 {
        self.0 >> 10
    }
}

/// Length of the size field of a packet that may continue in the next chunk: enough for
/// [`DROPPED_PACKET_SIZE`].
pub const FRAGMENT_SIZE_LEN: usize = 4;

/// The size field of a packet that could not be written to its end. Readers skip it and the rest of
/// the chunk.
pub const DROPPED_PACKET_SIZE: u32 = 0x0fff_ffff;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_have_perfettos_sizes() {
        let sizes = |page| PageLayout::ALL.map(|layout| layout.chunk_size(page));
        assert_eq!(sizes(4096), [4088, 2044, 1020, 584, 292]);
        assert_eq!(sizes(MAX_PAGE), [32760, 16380, 8188, 4680, 2340]);
        for layout in PageLayout::ALL {
            let last = layout.chunk_at(4096, layout.chunks() - 1) + layout.chunk_size(4096);
            assert!(last <= 4096 && last > 4096 - 16, "{layout:?} ends at {last}");
        }
    }

    #[test]
    fn states_do_not_disturb_each_other() {
        for layout in PageLayout::ALL {
            for index in 0..layout.chunks() {
                for state in [
                    ChunkState::Free,
                    ChunkState::Writing,
                    ChunkState::Reading,
                    ChunkState::Complete,
                ] {
                    let word = PageWord(PageWord::divided(layout).0 | 0x0fff_ffff);
                    let changed = word.with(index, state);
                    assert_eq!(changed.state(index), state);
                    assert_eq!(changed.layout(), Some(layout));
                    assert_eq!(
                        changed.with(index, ChunkState::Complete),
                        word,
                        "the others are unchanged"
                    );
                }
            }
        }
        assert_eq!(PageWord::UNDIVIDED.layout(), None);
        assert_eq!(PageWord(0x6000_0000).layout(), None);
        let word = PageWord::divided(PageLayout::Two).with(0, ChunkState::Writing);
        assert_eq!(word.0, 0x2000_0001);
        assert_eq!(word.find(PageLayout::Two, ChunkState::Free), Some(1));
        assert_eq!(word.find(PageLayout::Two, ChunkState::Complete), None);
    }

    #[test]
    fn count_and_flags_share_a_word() {
        let packets = Packets::new(MAX_PACKETS, Packets::CONTINUES | Packets::CONTINUED);
        assert_eq!(packets.0, 0x0fff);
        assert_eq!((packets.count(), packets.flags()), (1023, 3));
        assert_eq!(Packets::new(3, 0).0, 3);
    }
}
