//! A ring whose writers take chunks again while a reader reads them. The reader reads the packets while it has the page pinned,
//! so loom says where a writer might change what is being read.

use crate::cells::Cells;
use crate::writer::Writer;
use crate::{buffer, check};
use loom::sync::Arc;
use loom::thread;
use protolog_core::FillPolicy;
use protolog_core::chunk::PageLayout;
use protolog_shmem::{Buffer, Committed};
use protozero::wire::decode_varint;

/// Messages of a chunk.
const MESSAGES: u8 = 2;

/// The numbers of a writer's chunk.
fn numbers(chunk: u8) -> [u8; MESSAGES as usize] {
    [MESSAGES * chunk, MESSAGES * chunk + 1]
}

struct Reader {
    buffer: Arc<Buffer>,
    cells: Cells,
    /// Packets that were there.
    seen: usize,
}

impl Reader {
    /// Reads all chunks: of each the numbers that its writer wrote into the chunk of that number, from their beginning.
    fn poll(&mut self) {
        let mut reader = self.buffer.reader();
        for info in reader.find(true) {
            let Some(chunk) = reader.pin(&info) else { continue };
            let Committed { bytes, count, .. } = chunk.committed();
            let (mut rest, mut packets) = (bytes, Vec::new());
            for _ in 0..count {
                let Ok((size, size_len)) = decode_varint(rest) else { break };
                let (packet, after) = rest[size_len..].split_at(size as usize);
                if !packet.is_empty() {
                    packets.push(self.cells.read(info.writer_id.into(), packet).1);
                }
                rest = after;
            }
            let is_complete = chunk.is_complete();
            drop(chunk);
            let expected = numbers(info.chunk_id as u8);
            assert!(expected.starts_with(&packets), "{packets:?} in chunk {}", info.chunk_id);
            assert!(!is_complete || packets.len() == expected.len(), "all of a complete chunk");
            self.seen += packets.len();
        }
    }
}

/// Writers that fill so many chunks of these layouts each, one after the other, in a ring of one page, and a reader that polls
/// `polls` times meanwhile. With `neighbour` somebody else keeps the first chunk of the page.
fn run(neighbour: bool, layouts: &'static [&'static [PageLayout]], polls: usize) {
    check(move || {
        let (buffer, cells) = (buffer(FillPolicy::RingBuffer), Cells::new());
        let kept = neighbour.then(|| buffer.acquire(PageLayout::Two, 16).unwrap());
        let kept = std::sync::Arc::new(kept);
        let writers: Vec<_> = layouts
            .iter()
            .zip(1..)
            .map(|(layouts, id)| {
                let kept = std::sync::Arc::clone(&kept);
                let (buffer, cells) = (Arc::clone(&buffer), cells.clone());
                let mut writer = Writer { buffer, cells, id, next_chunk: 0 };
                thread::spawn(move || {
                    for layout in *layouts {
                        if let Some(chunk) = writer.buffer.acquire(*layout, 16) {
                            assert_ne!(
                                Some(&chunk),
                                kept.as_ref().as_ref(),
                                "it is somebody else's"
                            );
                            let numbers = numbers(writer.next_chunk as u8);
                            writer.fill_chunk(chunk, &numbers);
                        }
                        thread::yield_now();
                    }
                    writer.next_chunk
                })
            })
            .collect();
        let mut reader = Reader { buffer: Arc::clone(&buffer), cells, seen: 0 };
        for _ in 0..polls {
            reader.poll();
            thread::yield_now();
        }
        let filled: u32 = writers.into_iter().map(|writer| writer.join().unwrap()).sum();
        reader.seen = 0;
        reader.poll();
        assert!(filled == 0 || reader.seen > 0, "what was written last is there");
    });
}

#[test]
fn a_page_is_taken_whole_beside_a_reader() {
    run(false, &[&[PageLayout::One, PageLayout::One, PageLayout::One]], 2);
}

#[test]
fn a_page_is_divided_anew_beside_a_reader() {
    run(false, &[&[PageLayout::One, PageLayout::Two, PageLayout::One]], 2);
}

#[test]
fn a_chunk_is_taken_alone_beside_a_reader() {
    run(true, &[&[PageLayout::Two, PageLayout::Two, PageLayout::Two]], 2);
}

#[test]
fn two_writers_and_a_reader_share_a_ring() {
    run(false, &[&[PageLayout::One, PageLayout::One], &[PageLayout::Two]], 1);
}
