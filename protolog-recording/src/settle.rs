//! The chunks of a ring that is being written, as they were at one instant.
//!
//! A ring can't be copied in an instant: meanwhile writers add packets to its chunks, or reuse
//! them. So it is copied three times, and a chunk counts if it is the same one in all copies. Its
//! packets are those of the first copy's count. Their bytes in the second copy are complete, since
//! a packet is counted after it was written.
//!
//! Invariant: a chunk of the result has no packet that was not complete, and no byte of another
//! chunk.

use protolog_core::chunk::{
    CHUNK_HEADER, ChunkState, PACKETS_AT, PageLayout, PageWord, WRITER_ID_AT,
};
use protolog_core::recorder::read_u32;

/// Three copies of a ring, the oldest first.
pub(super) type Copies<'a> = [&'a [u8]; 3];

/// The ring with the chunks that are the same in all copies.
pub(super) fn settle(copies: Copies<'_>, page_size: usize) -> Vec<u8> {
    // A page that nobody has used takes no memory here either: a file may say that there are any
    // number of them.
    let mut ring = vec![0; copies[1].len()];
    for (number, page) in ring.chunks_exact_mut(page_size).enumerate() {
        let at = number * page_size;
        let same = copies.map(|copy| copy.get(at..at + page_size).unwrap_or_default());
        if same[1].iter().all(|byte| *byte == 0) {
            continue;
        }
        page.copy_from_slice(same[1]);
        let header = settle_page(same, page);
        if let Some(word) = page.first_chunk_mut() {
            *word = header.0.to_ne_bytes();
        }
    }
    ring
}

/// Settles the chunks of a page, and returns its header.
fn settle_page(copies: Copies<'_>, page: &mut [u8]) -> PageWord {
    let headers = copies.map(|copy| PageWord(read_u32(copy, 0).unwrap_or(0)));
    let layouts = headers.map(PageWord::layout);
    let Some(layout) = layouts[0].filter(|_| layouts.iter().all(|it| *it == layouts[0])) else {
        return PageWord::UNDIVIDED;
    };
    (0..layout.chunks()).fold(PageWord::divided(layout), |settled, index| {
        let at = layout.chunk_at(page.len(), index);
        let is_kept = is_same(copies, headers, (layout, index));
        let count = copies[0].get(at + PACKETS_AT..at + CHUNK_HEADER);
        match page.get_mut(at + PACKETS_AT..at + CHUNK_HEADER).zip(count) {
            Some((to, from)) if is_kept => {
                to.copy_from_slice(from);
                settled.with(index, headers[0].state(index))
            }
            _ => settled,
        }
    })
}

/// Returns whether a chunk is the same one in all copies, and may be read.
fn is_same(
    copies: Copies<'_>,
    headers: [PageWord; 3],
    (layout, index): (PageLayout, usize),
) -> bool {
    let names = copies.map(|copy| {
        let at = layout.chunk_at(copy.len(), index);
        copy.get(at..at + PACKETS_AT)
    });
    let is_readable = |state| matches!(state, ChunkState::Writing | ChunkState::Complete);
    const { assert!(WRITER_ID_AT < PACKETS_AT && CHUNK_HEADER == PACKETS_AT + 2) };
    names[0].is_some()
        && names.iter().all(|name| *name == names[0])
        && headers.iter().all(|header| is_readable(header.state(index)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunks;
    use protolog_core::chunk::Packets;

    const PAGE: usize = 4096;

    /// A page with one chunk of this number that has so many packets, each of one byte.
    fn page(state: ChunkState, id: u32, packets: u16) -> Vec<u8> {
        let mut page = vec![0; PAGE];
        let header = PageWord::divided(PageLayout::One).with(0, state);
        page[..4].copy_from_slice(&header.0.to_ne_bytes());
        let at = PageLayout::One.chunk_at(PAGE, 0);
        page[at..at + 4].copy_from_slice(&id.to_ne_bytes());
        page[at + WRITER_ID_AT..at + PACKETS_AT].copy_from_slice(&1_u16.to_ne_bytes());
        let count = Packets::new(packets, 0).0.to_ne_bytes();
        page[at + PACKETS_AT..at + CHUNK_HEADER].copy_from_slice(&count);
        page
    }

    /// The number of packets of the chunk that is left.
    fn settled(copies: [&[u8]; 3]) -> Option<u16> {
        let ring = settle(copies, PAGE);
        let found = chunks::find([&*ring], PAGE, false);
        assert_eq!((found.corrupt, found.corrupt_pages), (0, 0));
        found.by_writer.values().flatten().map(|chunk| chunk.count).next()
    }

    #[test]
    fn only_what_stays_is_read() {
        let writing = |id, packets| page(ChunkState::Writing, id, packets);
        let complete = page(ChunkState::Complete, 7, 9);
        // The last packet of a chunk that is written is not complete; those that came later are
        // left for the next look.
        assert_eq!(settled([&writing(7, 3), &writing(7, 5), &writing(7, 6)]), Some(2));
        assert_eq!(settled([&writing(7, 3), &complete, &complete]), Some(2));
        assert_eq!(settled([&complete, &complete, &complete]), Some(9));
        // It became another one, or was about to.
        assert_eq!(settled([&complete, &writing(8, 3), &writing(8, 3)]), None);
        assert_eq!(settled([&complete, &complete, &writing(8, 3)]), None);
        let taken = page(ChunkState::Reading, 7, 9);
        assert_eq!(settled([&complete, &complete, &taken]), None);
        let divided = PageWord::divided(PageLayout::Two).0.to_ne_bytes();
        let other = [&divided[..], &complete[4..]].concat();
        assert_eq!(settled([&complete, &other, &other]), None);
        assert_eq!(settled([&complete, &complete, &complete[..100]]), None);
    }
}
