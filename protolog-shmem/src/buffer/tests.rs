//! Chunks are taken, completed and given back; a discarded buffer has none.

use super::*;
use crate::memory::Heap;

fn buffer(pages: usize) -> Buffer {
    Buffer::new(Memory::new(Heap::new(pages * PAGE)), FillPolicy::Stream)
}

#[test]
fn chunks_of_one_buffer_do_not_overlap() {
    let buffer = buffer(2);
    let mut chunks = vec![buffer.acquire(PageLayout::Fourteen, 1).unwrap()];
    chunks.push(buffer.acquire(PageLayout::Four, 1).unwrap());
    while let Some(chunk) = buffer.acquire(PageLayout::Two, 1) {
        chunks.push(chunk);
    }
    assert_eq!(chunks.len(), 14 + 4, "other layouts' chunks are taken when no page is left");
    let mut spans: Vec<_> =
        chunks.iter().map(|chunk| (chunk.slot().at(), chunk.slot().size())).collect();
    spans.sort_unstable();
    assert!(spans.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0), "{spans:?}");
}

#[test]
fn a_chunk_that_is_too_small_is_not_taken() {
    let buffer = buffer(1);
    assert!(buffer.acquire(PageLayout::Fourteen, 1).is_some());
    assert_eq!(buffer.acquire(PageLayout::One, 285), None);
    assert!(buffer.acquire(PageLayout::One, 284).is_some());
}

#[test]
fn half_a_buffer_wakes_the_reader_once() {
    let buffer = buffer(4);
    let wakes: Vec<bool> = (0..4)
        .map(|_| {
            let chunk = buffer.acquire(PageLayout::One, 1).unwrap();
            buffer.complete(chunk)
        })
        .collect();
    assert_eq!(wakes, [false, false, true, false]);
    assert_eq!(buffer.acquire(PageLayout::One, 1), None);
}

#[test]
fn a_discarded_buffer_has_no_chunks() {
    let buffer = buffer(4);
    let chunk = buffer.acquire(PageLayout::Two, 1).unwrap();
    buffer.discard();
    assert_eq!(buffer.acquire(PageLayout::Two, 1), None, "it would be taken twice");
    buffer.complete(chunk);
    assert!(buffer.reader().find(true).is_empty());
}

#[test]
fn a_buffer_has_one_reader() {
    let buffer = buffer(1);
    let reader = buffer.try_reader();
    assert!(reader.is_some() && buffer.try_reader().is_none());
    drop(reader);
    assert!(buffer.try_reader().is_some());
}
