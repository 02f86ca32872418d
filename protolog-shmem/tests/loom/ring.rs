//! A ring of writers that take chunks again while a reader reads them. The reader reads the packets
//! while it has the page pinned, so loom says where a writer might change bytes being read.

use crate::cells::Cells;
use crate::writer::Writer;
use crate::{buffer, check, check_within};
use loom::sync::Arc;
use loom::thread;
use protolog_core::FillPolicy;
use protolog_core::chunk::PageLayout;
use protolog_shmem::{Buffer, ChunkInfo, Committed, Heap, Memory, PAGE};
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
    /// Reads all chunks: of each the numbers that its writer wrote into the chunk of that number,
    /// from their beginning.
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

/// Writers that fill so many chunks of these layouts each, one after the other, in a ring of one
/// page, and a reader that polls `polls` times meanwhile. With `neighbour` somebody else keeps the
/// first chunk of the page.
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
                    let mut refused = 0;
                    for layout in *layouts {
                        let chunk = writer.buffer.acquire(*layout, 16);
                        refused += u32::from(chunk.is_none());
                        if let Some(chunk) = chunk {
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
                    (writer.next_chunk, refused)
                })
            })
            .collect();
        let mut reader = Reader { buffer: Arc::clone(&buffer), cells, seen: 0 };
        for _ in 0..polls {
            reader.poll();
            thread::yield_now();
        }
        let done = writers.into_iter().map(|writer| writer.join().unwrap());
        let (filled, refused) = done.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        reader.seen = 0;
        reader.poll();
        // A writer that finds the one page pinned gets none; the page's content is overwritten
        // later.
        assert!(filled == 0 || refused > 0 || reader.seen > 0, "what was written last is there");
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

/// Chunks of a writer that were found, of which `next` were written: the newest ones, none missing.
fn check_newest(found: &[ChunkInfo], writer: u16, next: u32) {
    let ids = found.iter().filter(|info| info.writer_id == writer).map(|info| info.chunk_id);
    let mut ids: Vec<u32> = ids.collect();
    ids.sort_unstable();
    assert!((0..next).rev().zip(ids.iter().rev()).all(|(a, b)| a == *b), "{ids:?} of {next}");
}

/// Writers that take so many pages each of a ring that went round once. Each takes the oldest page,
/// wherever it is preempted.
fn overwrite_in_order(chunks: [u32; 2]) {
    // One is enough. Two take a minute, more take hours.
    let preemptions = loom::model::Builder::new().preemption_bound.map_or(1, |asked| asked.min(2));
    check_within(Some(preemptions), move || {
        let memory = Memory::new(Heap::new(2 * PAGE));
        let (buffer, cells) = (Arc::new(Buffer::new(memory, FillPolicy::RingBuffer)), Cells::new());
        let writer = |id| {
            let (buffer, cells) = (Arc::clone(&buffer), cells.clone());
            Writer { buffer, cells, id, next_chunk: 0 }
        };
        // The third chunk is on the first page, so a reader that looks at the pages in their order
        // sees it before the second.
        let mut first = writer(1);
        (0..3).for_each(|_| assert!(first.fill(PageLayout::One, &[])));
        let threads = [(2, chunks[0]), (3, chunks[1])].map(|(id, chunks)| {
            let mut writer = writer(id);
            thread::spawn(move || {
                for _ in 0..chunks {
                    writer.fill(PageLayout::One, &[]);
                    thread::yield_now();
                }
                writer.next_chunk
            })
        });
        check_newest(&buffer.reader().find(true), 1, 3);
        let [second, third] = threads.map(|thread| thread.join().unwrap());
        let found = buffer.reader().find(true);
        for (writer, next) in [(1, 3), (2, second), (3, third)] {
            check_newest(&found, writer, next);
        }
        // A page that was pinned in its turn may be free.
        assert!(!found.is_empty(), "what was written last is there");
    });
}

#[test]
fn a_writer_is_preempted_while_another_one_goes_round() {
    overwrite_in_order([1, 3]);
}
