//! The reader of a stream: it reads committed packets, and frees the chunks that it claimed.

use super::*;
use crate::chunk::WriteChunk;
use crate::memory::{Heap, Memory};
use crate::slot::PAGE;
use protolog_core::chunk::{CHUNK_HEADER, Packets, PageLayout};

fn buffer(pages: usize) -> Buffer {
    Buffer::new(Memory::new(Heap::new(pages * PAGE)), FillPolicy::Stream)
}

/// Writes packets as a writer does: each with its size, and an empty one after it.
fn write(buffer: &Buffer, chunk: &mut WriteChunk, id: u32, packets: &[&[u8]]) {
    let open = buffer.open(chunk, 1, id);
    let mut at = 0;
    let mut put = |bytes: &[u8]| {
        assert!(at + bytes.len() <= chunk.payload());
        // SAFETY: the bytes are in the chunk, as was asserted.
        let place = unsafe { open.start.add(at) };
        // SAFETY: the chunk is the caller's, and nothing of it was published.
        unsafe { place.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        at += bytes.len();
    };
    for packet in packets {
        put(&[packet.len() as u8]);
        put(packet);
    }
    put(&[0]);
    // SAFETY: the packets were just written, and nobody writes them again.
    unsafe { open.count.publish(Packets::new(packets.len() as u16 + 1, 0)) };
}

fn fill(buffer: &Buffer, layout: PageLayout, id: u32, packets: &[&[u8]]) {
    let mut chunk = buffer.acquire(layout, 1).expect("a chunk");
    write(buffer, &mut chunk, id, packets);
    buffer.complete(chunk);
}

#[test]
fn a_chunk_is_free_once_it_was_read() {
    let buffer = buffer(1);
    fill(&buffer, PageLayout::One, 7, &[b"one", b"two"]);
    let mut reader = buffer.reader();
    let found = reader.find(false);
    assert_eq!((found.len(), found[0].chunk_id, found[0].writer_id), (1, 7, 1));
    let chunk = reader.read(&found[0]).expect("it is complete");
    let committed = chunk.committed();
    assert_eq!((committed.count, &committed.bytes[..9]), (3, &b"\x03one\x03two\0"[..]));
    assert_eq!(buffer.acquire(PageLayout::One, 1), None);
    chunk.put_back();
    assert_eq!(buffer.acquire(PageLayout::One, 1), None, "still complete");
    drop(reader.read(&found[0]).expect("still complete"));
    assert!(reader.read(&found[0]).is_none() && reader.find(true).is_empty());
    assert!(buffer.acquire(PageLayout::One, 1).is_some());
}

#[test]
fn a_chunk_that_is_held_is_free_once_it_is_released() {
    let buffer = buffer(1);
    fill(&buffer, PageLayout::One, 7, &[b"one"]);
    let mut reader = buffer.reader();
    let found = reader.find(false);
    let held = reader.read(&found[0]).and_then(ReadChunk::hold).expect("it is complete");
    assert_eq!(held.size(), PAGE - protolog_core::chunk::PAGE_HEADER);
    assert_eq!(buffer.acquire(PageLayout::One, 1), None, "still being read");
    assert!(reader.find(true).is_empty(), "read already");
    reader.release(held);
    let mut chunk = buffer.acquire(PageLayout::One, 1).expect("it is free");
    write(&buffer, &mut chunk, 8, &[b"two"]);
    let found = reader.find(true);
    assert_eq!(reader.read(&found[0]).and_then(ReadChunk::hold), None, "still being written");
    buffer.complete(chunk);
}

#[test]
fn of_a_chunk_that_is_being_written_all_but_the_last_packet_is_read() {
    let buffer = buffer(1);
    let mut chunk = buffer.acquire(PageLayout::One, 1).unwrap();
    assert!(buffer.reader().find(true).is_empty(), "it has not begun");
    write(&buffer, &mut chunk, 0, &[b"one", &[1; 100]]);
    let mut reader = buffer.reader();
    assert!(reader.find(false).is_empty());
    let found = reader.find(true);
    let read = reader.read(&found[0]).expect("it has begun");
    assert_eq!((read.committed().count, read.committed().bytes.len()), (2, 4 + 101));
    drop(read);
    buffer.complete(chunk);
    assert_eq!(reader.find(false).len(), 1, "reading it freed nothing");
}

#[test]
fn a_chunk_that_was_released_is_not_read_as_another_one() {
    let buffer = buffer(1);
    fill(&buffer, PageLayout::Two, 0, &[b"old"]);
    let mut reader = buffer.reader();
    let complete = reader.find(true)[0];
    let unfinished = ChunkInfo { is_complete: false, ..complete };
    drop(reader.read(&complete));
    let chunk = buffer.acquire(PageLayout::One, 1).expect("the whole page");
    assert!(reader.read(&complete).is_none() && reader.read(&unfinished).is_none());
    buffer.complete(chunk);
    assert!(reader.read(&complete).is_none() && reader.read(&unfinished).is_none());
}

#[test]
fn a_free_chunk_has_a_clean_header() {
    let buffer = buffer(2);
    for id in 0..8 {
        let layout = if id < 4 { PageLayout::Four } else { PageLayout::Two };
        let Some(mut chunk) = buffer.acquire(layout, 1) else { break };
        let ones = vec![0xff; chunk.payload() / 2];
        let open = buffer.open(&mut chunk, u16::MAX, u32::MAX);
        // SAFETY: so many bytes are in the chunk, which is this function's.
        unsafe { open.start.copy_from(ones.as_ptr(), ones.len()) };
        // SAFETY: the chunk is complete before anybody reads it.
        unsafe { open.count.publish(Packets::new(1, 0)) };
        buffer.complete(chunk);
    }
    let mut reader = buffer.reader();
    for found in reader.find(false) {
        drop(reader.read(&found).expect("it is complete"));
        assert_eq!(header(&buffer, found.slot), [0; CHUNK_HEADER]);
    }
    // And so are the places of all headers on the pages, which are not divided any more.
    for page in 0..buffer.pages() {
        for layout in PageLayout::ALL {
            for index in 0..layout.chunks() {
                let slot = Slot { page, index, layout };
                assert_eq!(header(&buffer, slot), [0; CHUNK_HEADER], "{slot:?}");
            }
        }
    }
}

fn header(buffer: &Buffer, slot: Slot) -> [u8; CHUNK_HEADER] {
    let mut header = [0; CHUNK_HEADER];
    header[..4]
        .copy_from_slice(&buffer.header(slot).chunk_id.load(Ordering::Relaxed).to_le_bytes());
    header[4..6]
        .copy_from_slice(&buffer.header(slot).writer_id.load(Ordering::Relaxed).to_le_bytes());
    header[6..].copy_from_slice(&buffer.packets_of(slot).0.to_le_bytes());
    header
}

/// Reads all that a reader finds in memory of these bytes, and returns the lengths of the bytes
/// that it took for committed.
fn read_any(bytes: &[u8], fill_policy: FillPolicy) -> Vec<usize> {
    let buffer = Buffer::new(Memory::new(Heap::copy_of(bytes)), fill_policy);
    let mut reader = buffer.reader();
    let mut lengths = Vec::new();
    for info in reader.find(true) {
        let length = if fill_policy == FillPolicy::RingBuffer {
            reader.pin(&info).map(|chunk| chunk.committed().bytes.len())
        } else {
            reader.read(&info).map(|chunk| chunk.committed().bytes.len())
        };
        let length = length.expect("nobody takes it");
        assert!(length <= info.size() - CHUNK_HEADER, "{length} bytes of {info:?}");
        lengths.push(length);
    }
    lengths
}

#[test]
fn any_bytes_are_read_within_their_chunk() {
    let mut state = 1u64;
    let mut random = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    };
    let (mut found, mut empty) = (0, 0);
    for round in 0..200 {
        let mut bytes: Vec<u8> =
            (0..2 * PAGE).map(|_| (random() >> (random() % 9)) as u8).collect();
        for (page, layout) in bytes.chunks_mut(PAGE).zip(PageLayout::ALL.iter().cycle().skip(round))
        {
            // No chunk is in state Reading: a reader waits until its holder is done.
            let states = (0..layout.chunks()).fold(0, |word, index| {
                let state = [ChunkState::Complete, ChunkState::Writing, ChunkState::Free];
                word | (state[random() as usize % 3] as u32) << (2 * index)
            });
            page[..4].copy_from_slice(&((*layout as u32) << 28 | states).to_le_bytes());
        }
        for fill_policy in [FillPolicy::Stream, FillPolicy::RingBuffer] {
            let lengths = read_any(&bytes, fill_policy);
            found += lengths.len();
            empty += lengths.iter().filter(|length| **length == 0).count();
        }
    }
    assert!(found > 1_000 && empty < found, "{empty} of {found} are empty");
}
