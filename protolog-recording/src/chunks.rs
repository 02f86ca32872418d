//! The chunks of a recording's rings, by writer.
//!
//! A chunk is read in the state in which the process left it. One that was being written has all
//! packets but its last. One in state Reading was about to be reused, if the buffer is a ring, and
//! is left out: newer chunks of its thread may be gone already. In the buffer of a session that
//! streams it is a complete one that was on its way to the trace file, and may not have arrived.

use protolog_core::chunk::{
    CHUNK_HEADER, ChunkState, MAX_WRITER_ID, PACKETS_AT, Packets, PageLayout, PageWord,
    WRITER_ID_AT,
};
use protolog_core::recorder::read_u32;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The committed part of a chunk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk<'a> {
    /// Its number among the chunks of its writer.
    pub(super) id: u32,
    /// Its packets, each after its size, and whatever follows them.
    pub(super) bytes: &'a [u8],
    /// Number of valid packets.
    pub(super) count: u16,
    /// True if the first packet continues one of the chunk before.
    pub(super) continues: bool,
    /// True if the last packet continues in the next chunk.
    pub(super) continued: bool,
    /// True if its writer had completed it.
    pub(super) complete: bool,
}

/// The chunks of rings.
#[derive(Debug, Default)]
pub(super) struct Chunks<'a> {
    /// By writer id; the chunks of a writer from the oldest to the newest.
    pub(super) by_writer: BTreeMap<u16, Vec<Chunk<'a>>>,
    /// Number of corrupt pages.
    pub(super) corrupt_pages: u64,
    /// Number of corrupt or duplicate chunks.
    pub(super) corrupt: u64,
    is_stream: bool,
}

/// Finds all chunks of rings, or of the buffer of a stream, with pages of this size.
pub(super) fn find<'a>(
    rings: impl IntoIterator<Item = &'a [u8]>,
    page_size: usize,
    is_stream: bool,
) -> Chunks<'a> {
    let mut found = BTreeMap::new();
    let mut chunks = Chunks { is_stream, ..Chunks::default() };
    for page in rings.into_iter().flat_map(|ring| ring.chunks_exact(page_size)) {
        let header = PageWord(read_u32(page, 0).unwrap_or(0));
        match header.layout() {
            Some(layout) => chunks.find_in(page, header, layout, &mut found),
            None => chunks.corrupt_pages += u64::from(header != PageWord::UNDIVIDED),
        }
    }
    for ((writer, _), chunk) in found {
        chunks.by_writer.entry(writer).or_default().push(chunk);
    }
    for chunks in chunks.by_writer.values_mut() {
        sort_by_age(chunks);
    }
    chunks
}

impl<'a> Chunks<'a> {
    fn find_in(
        &mut self,
        page: &'a [u8],
        header: PageWord,
        layout: PageLayout,
        found: &mut BTreeMap<(u16, u32), Chunk<'a>>,
    ) {
        for index in 0..layout.chunks() {
            let state = header.state(index);
            let start = layout.chunk_at(page.len(), index);
            let end = start + layout.chunk_size(page.len());
            let is_kept = match state {
                ChunkState::Free => false,
                ChunkState::Reading => self.is_stream,
                ChunkState::Writing | ChunkState::Complete => true,
            };
            let Some(bytes) = page.get(start..end).filter(|_| is_kept) else {
                continue;
            };
            let Some((writer, chunk)) = Chunk::read(bytes, state != ChunkState::Writing) else {
                continue;
            };
            let place = found.entry((writer, chunk.id));
            let good = (1..=MAX_WRITER_ID).contains(&writer);
            match place {
                Entry::Vacant(place) if good => _ = place.insert(chunk),
                _ => self.corrupt += 1,
            }
        }
    }
}

impl<'a> Chunk<'a> {
    /// Parses the chunk in `bytes`, with its writer id; none if it has no packets.
    fn read(bytes: &'a [u8], complete: bool) -> Option<(u16, Self)> {
        let half = |at: usize| Some(u16::from_ne_bytes(*bytes.get(at..)?.first_chunk()?));
        let packets = Packets(half(PACKETS_AT)?);
        let chunk = Self {
            id: read_u32(bytes, 0)?,
            bytes: bytes.get(CHUNK_HEADER..)?,
            count: if complete { packets.count() } else { packets.count().saturating_sub(1) },
            continues: packets.flags() & Packets::CONTINUES != 0,
            continued: complete && packets.flags() & Packets::CONTINUED != 0,
            complete,
        };
        (packets.count() > 0).then_some((half(WRITER_ID_AT)?, chunk))
    }
}

/// Sorts from the oldest to the newest. Ids count up and may wrap; a ring has far fewer chunks than
/// there are ids.
fn sort_by_age(chunks: &mut [Chunk<'_>]) {
    let any = chunks.first().map_or(0, |chunk| chunk.id);
    let since = |chunk: &Chunk<'_>| chunk.id.wrapping_sub(any) as i32;
    let newest = chunks.iter().map(since).max().unwrap_or(0);
    chunks.sort_unstable_by_key(|chunk| {
        std::cmp::Reverse(any.wrapping_add_signed(newest).wrapping_sub(chunk.id))
    });
}
