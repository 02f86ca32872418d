//! Chunks are taken, completed and given back; a discarded buffer has none.

use super::*;
use crate::memory::{Backing, Heap};
use std::ptr::NonNull;
use std::sync::Arc;

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

/// Memory of the heap that lets a buffer grow to so many bytes, and notes each step.
#[derive(Debug)]
struct Limited {
    heap: Heap,
    limit: usize,
    steps: Steps,
}

// SAFETY: those of the heap.
unsafe impl Backing for Limited {
    fn base(&self) -> NonNull<u8> {
        self.heap.base()
    }

    fn len(&self) -> usize {
        self.heap.len()
    }

    fn grow(&self, at: usize, len: usize) -> bool {
        self.steps.lock().unwrap().push((at / PAGE, len / PAGE));
        at + len <= self.limit
    }
}

/// Where growth began, and by how many pages.
type Steps = Arc<Mutex<Vec<(usize, usize)>>>;

/// A buffer of 256 pages of which 16 are there, and that may grow to `limit`; its steps.
fn growing(limit: usize) -> (Buffer, Steps) {
    let steps = Steps::default();
    let heap = Heap::new(256 * PAGE);
    let memory = Limited { heap, limit: limit * PAGE, steps: Arc::clone(&steps) };
    (Buffer::growing(Memory::new(memory), 16 * PAGE), steps)
}

#[test]
fn a_writer_that_finds_no_page_has_some_more_be_there() {
    let (buffer, steps) = growing(256);
    let acquire = || buffer.acquire(PageLayout::One, 1).map(|chunk| chunk.slot().page);
    let pages: Vec<_> = std::iter::from_fn(acquire).collect();
    assert_eq!(pages, (0..256).collect::<Vec<_>>());
    assert_eq!(*steps.lock().unwrap(), [(16, 64), (80, 64), (144, 64), (208, 48)]);
}

#[test]
fn a_buffer_that_can_t_grow_gives_out_what_is_there() {
    let (buffer, steps) = growing(80);
    let before = buffer.freed();
    let acquire = || buffer.acquire(PageLayout::One, 1);
    let mut chunks: Vec<_> = std::iter::from_fn(acquire).collect();
    assert_eq!((chunks.len(), buffer.pages_there(), buffer.pages()), (80, 80, 256));
    assert!(buffer.is_scarce(), "those of idle threads are to be reclaimed");
    assert_eq!(buffer.freed(), before + 1, "writers that found none look again once");
    assert_eq!(*steps.lock().unwrap(), [(16, 64), (80, 64)]);
    let mut opened = chunks.pop().expect("a chunk");
    let open = buffer.open(&mut opened, 1, 0);
    // SAFETY: nothing was stored: the packet that the count covers is the open one.
    unsafe { open.count.publish(Packets::new(1, 0)) };
    buffer.complete(opened);
    let mut reader = buffer.reader();
    let found = reader.find(false);
    assert_eq!(found.len(), 1);
    drop(reader.read(&found[0]));
    drop(reader);
    assert!(acquire().is_some(), "the chunk that was freed");
}

#[test]
fn a_buffer_grows_while_half_of_it_is_in_use() {
    let (buffer, steps) = growing(256);
    let mut chunks: Vec<_> = (0..7).map(|_| buffer.acquire(PageLayout::One, 1)).collect();
    assert!(!buffer.grow_if_half_used());
    chunks.push(buffer.acquire(PageLayout::One, 1));
    assert!(buffer.grow_if_half_used());
    assert!(!buffer.grow_if_half_used(), "8 of 32");
    assert_eq!((buffer.pages_there(), &**steps.lock().unwrap()), (32, &[(16, 16)][..]));
}

#[test]
fn a_large_buffer_grows_in_steps_as_far_as_it_can() {
    let (buffer, steps) = growing(208);
    let acquire = || buffer.acquire(PageLayout::One, 1);
    let _chunks: Vec<_> = std::iter::from_fn(acquire).take(144).collect();
    assert!(buffer.grow_if_half_used());
    assert_eq!(
        (buffer.pages_there(), &steps.lock().unwrap()[2..]),
        (208, &[(144, 64), (208, 48)][..])
    );
}
