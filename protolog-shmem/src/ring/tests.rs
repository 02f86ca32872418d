//! A ring: the oldest chunks are taken again, but for those that are written or pinned.

use super::*;
use crate::chunk::WriteChunk;
use crate::memory::{Heap, Memory};
use crate::reader::ChunkInfo;
use crate::slot::PAGE;
use protolog_core::FillPolicy;
use protolog_core::chunk::Packets;

fn buffer(pages: usize) -> Buffer {
    Buffer::new(Memory::new(Heap::new(pages * PAGE)), FillPolicy::RingBuffer)
}

/// A complete chunk with one empty packet.
fn fill(buffer: &Buffer, layout: PageLayout, id: u32) -> Slot {
    let chunk = buffer.acquire(layout, 1).expect("a chunk");
    fill_chunk(buffer, chunk, id)
}

#[allow(unsafe_code)] // Publishes a packet.
fn fill_chunk(buffer: &Buffer, mut chunk: WriteChunk, id: u32) -> Slot {
    let open = buffer.open(&mut chunk, 1, id);
    // SAFETY: the chunk is this function's, and has no packet but an empty one, which nobody
    // writes.
    unsafe { open.count.publish(Packets::new(1, 0)) };
    let slot = chunk.slot();
    buffer.complete(chunk);
    slot
}

fn found(buffer: &Buffer) -> Vec<ChunkInfo> {
    buffer.reader().find(true)
}

fn ids(buffer: &Buffer) -> Vec<u32> {
    let mut ids: Vec<u32> = found(buffer).iter().map(|found| found.chunk_id).collect();
    ids.sort_unstable();
    ids
}

fn slot_of(chunk: Option<&WriteChunk>) -> Option<Slot> {
    chunk.map(WriteChunk::slot)
}

#[test]
fn the_newest_stay() {
    let buffer = buffer(4);
    for id in 0..10 {
        fill(&buffer, PageLayout::One, id);
    }
    assert_eq!(ids(&buffer), [6, 7, 8, 9]);
    for id in 10..24 {
        fill(&buffer, PageLayout::Fourteen, id);
    }
    assert_eq!(ids(&buffer)[..3], [7, 8, 9], "one page, divided anew");
    assert_eq!(ids(&buffer).len(), 3 + 14);
}

#[test]
fn a_chunk_that_is_being_written_stays() {
    let buffer = buffer(2);
    let mine = buffer.acquire(PageLayout::Two, 1).unwrap();
    for id in 0..10 {
        assert_ne!(fill(&buffer, PageLayout::One, id), mine.slot());
    }
    assert_eq!(ids(&buffer), [9]);
    let other = buffer.acquire(PageLayout::One, 1).unwrap();
    let third = buffer.acquire(PageLayout::One, 1).unwrap();
    let place = third.slot();
    assert_eq!(
        (place.page, place.layout),
        (mine.slot().page, PageLayout::Two),
        "the rest of the page"
    );
    assert!(third != mine && other != mine);
    assert_eq!(buffer.acquire(PageLayout::One, 1), None);
    buffer.complete(third);
    let third = buffer.acquire(PageLayout::One, 1);
    assert_eq!(slot_of(third.as_ref()), Some(place), "taken alone");
    buffer.complete(third.unwrap());
    assert_eq!(buffer.acquire(PageLayout::One, 3000), None, "too small");
}

#[test]
fn a_pinned_page_is_left_alone() {
    let buffer = buffer(2);
    let (first, second) = (fill(&buffer, PageLayout::One, 0), fill(&buffer, PageLayout::One, 1));
    let mut reader = buffer.reader();
    let infos = reader.find(true);
    let oldest = infos.iter().find(|info| info.chunk_id == 0).unwrap();
    let pinned = reader.pin(oldest).expect("nobody has taken it");
    assert_eq!((pinned.committed().count, pinned.is_complete()), (1, true));
    assert_eq!(slot_of(buffer.acquire(PageLayout::One, 1).as_ref()), Some(second));
    assert_eq!(buffer.acquire(PageLayout::One, 1), None);
    drop(pinned);
    assert_eq!(slot_of(buffer.acquire(PageLayout::One, 1).as_ref()), Some(first));
}

#[test]
fn a_chunk_that_was_taken_is_not_pinned() {
    let buffer = buffer(1);
    fill(&buffer, PageLayout::One, 0);
    let mut reader = buffer.reader();
    let found = reader.find(true);
    let pinned = reader.pin(&found[0]).expect("nobody has taken it");
    assert_eq!((pinned.committed().count, pinned.committed().bytes[0]), (1, 0));
    drop(pinned);
    fill(&buffer, PageLayout::One, 1);
    assert!(reader.pin(&found[0]).is_none());
}

#[test]
#[should_panic(expected = "pinned to be read")]
fn a_chunk_of_a_ring_is_not_read_without_a_pin() {
    let buffer = buffer(1);
    fill(&buffer, PageLayout::One, 0);
    let found = found(&buffer);
    let _ = buffer.reader().read(&found[0]);
}

#[test]
#[allow(unsafe_code)] // Fills the chunk with ones.
fn a_page_that_is_divided_anew_has_clean_headers() {
    let buffer = buffer(1);
    let layouts =
        [PageLayout::One, PageLayout::Fourteen, PageLayout::Two, PageLayout::Two, PageLayout::Four];
    for layout in layouts {
        let mut chunk = buffer.acquire(layout, 1).unwrap();
        assert_eq!((chunk.layout(), chunk.slot().index), (layout, 0));
        for index in 0..layout.chunks() {
            let slot = Slot { index, ..chunk.slot() };
            let ids = (buffer.header(slot).chunk_id, buffer.header(slot).writer_id);
            let ids = (ids.0.load(Ordering::Relaxed), ids.1.load(Ordering::Relaxed));
            assert_eq!((ids, buffer.packets_of(slot).0), ((0, 0), 0), "{slot:?}");
        }
        // All of the page but its own header has bytes that packets left there.
        loop {
            let open = buffer.open(&mut chunk, u16::MAX, u32::MAX);
            // SAFETY: the chunk is this function's, and so long.
            unsafe { open.start.write_bytes(0xff, chunk.payload()) };
            // SAFETY: the chunk is complete before anybody reads its packets, which have no end.
            unsafe { open.count.publish(Packets(u16::MAX)) };
            buffer.complete(chunk);
            let rest = buffer.page(0).acquire(|_| true);
            let Some((layout, index)) = rest else { break };
            chunk = buffer.owned(Slot { page: 0, index, layout });
        }
    }
}
