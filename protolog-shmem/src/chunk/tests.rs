//! Chunks as words, and a cell between a writer and a reclaimer.

use super::*;
use crate::buffer::Buffer;
use crate::memory::{Heap, Memory};
use protolog_core::FillPolicy;

#[test]
fn a_chunk_fits_a_word() {
    for layout in PageLayout::ALL {
        for (page, index) in [(0, 0), (MAX_BUFFER / PAGE - 1, layout.chunks() - 1), (7, 0)] {
            let slot = Slot { page, index, layout };
            for buffer in [0, 1, BUFFERS - 1] {
                let chunk = WriteChunk::new(buffer, slot);
                assert_eq!((chunk.slot(), chunk.buffer()), (slot, buffer));
                assert_eq!(chunk.0.get() & REQUESTED, 0);
            }
        }
    }
}

fn buffer() -> Buffer {
    Buffer::new(Memory::new(Heap::new(PAGE)), FillPolicy::Stream)
}

#[test]
fn one_of_two_takes_the_chunk() {
    let buffer = buffer();
    let cell = ChunkCell::new();
    assert_eq!((cell.request(), cell.recall()), (None, None), "nothing to take");
    cell.offer(buffer.acquire(PageLayout::One, 1).expect("a chunk"));
    let request = cell.request().expect("the chunk");
    assert_eq!(cell.request(), None, "asked for already");
    assert_eq!(cell.requested(), Some(Request(request.0)));
    let chunk = cell.take(request, true).expect("the chunk");
    assert_eq!(cell.recall(), None, "the reclaimer was faster");
    cell.offer(chunk);
    let request = cell.request().expect("the chunk");
    let chunk = cell.recall().expect("the chunk");
    assert_eq!(cell.take(request, true), None, "the writer was faster");
    cell.offer(chunk);
    let request = cell.request().expect("the chunk");
    assert_eq!(cell.take(request, false), None, "its writer is busy");
    assert!(cell.is_offered() && cell.requested().is_none(), "and keeps it");
    assert!(cell.recall().is_some());
}

#[test]
#[should_panic(expected = "another buffer")]
fn a_chunk_of_another_buffer_is_refused() {
    let chunk = buffer().acquire(PageLayout::One, 1).expect("a chunk");
    buffer().complete(chunk);
}
