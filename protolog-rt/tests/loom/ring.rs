//! A ring whose writers take chunks again while somebody looks at them: the runtime's own ring. The reader looks at the
//! packets while it has the page pinned, so loom says where a writer might change what is being looked at.

use crate::cells::Cells;
use crate::session::core::Core;
use crate::shmem::buffer::{Buffer, PAGE};
use crate::{Writer, check};
use loom::sync::Arc;
use loom::thread;
use protolog_core::chunk::PageLayout;
use protozero::wire::decode_varint;

/// Messages of a chunk.
const MESSAGES: u8 = 2;

/// The numbers of a writer's chunk.
fn numbers(chunk: u8) -> [u8; MESSAGES as usize] {
    [MESSAGES * chunk, MESSAGES * chunk + 1]
}

struct Reader {
    core: Arc<Core>,
    cells: Cells,
    /// Packets that were there.
    seen: usize,
}

impl Reader {
    /// Looks at all chunks; what it sees is what the chunk's writer wrote into the chunk of that number, from its beginning.
    fn look(&mut self) {
        let buffer = &self.core.buffer;
        for found in buffer.find_pinned() {
            let cells = &self.cells;
            let packets = buffer.look(found, |committed, complete| {
                let mut rest = committed.bytes;
                let mut packets = Vec::new();
                for _ in 0..committed.count {
                    let Ok((size, size_len)) = decode_varint(rest) else { break };
                    let (packet, after) = rest[size_len..].split_at(size as usize);
                    if !packet.is_empty() {
                        packets.push(cells.read(found.writer_id.into(), packet).1);
                    }
                    rest = after;
                }
                (packets, complete)
            });
            let Some((packets, complete)) = packets else { continue };
            let expected = numbers(found.chunk_id as u8);
            assert!(expected.starts_with(&packets), "{packets:?} in chunk {}", found.chunk_id);
            assert!(!complete || packets.len() == expected.len(), "all of a complete chunk");
            self.seen += packets.len();
        }
    }
}

/// Writers that fill so many chunks of these layouts each, one after the other, in a ring of one page, and a reader that looks
/// `looks` times meanwhile. With `neighbour` somebody else keeps the first chunk of the page.
fn run(neighbour: bool, layouts: &'static [&'static [PageLayout]], looks: usize) {
    check(move || {
        let core = Arc::new(Core { buffer: Buffer::anonymous(PAGE).unwrap() });
        let cells = Cells::new();
        let kept = neighbour.then(|| core.buffer.acquire_ring(PageLayout::Two, 16).unwrap());
        let writers: Vec<_> = layouts
            .iter()
            .zip(1..)
            .map(|(layouts, id)| {
                let mut writer =
                    Writer { core: Arc::clone(&core), cells: cells.clone(), id, next_chunk: 0 };
                thread::spawn(move || {
                    for layout in *layouts {
                        let chunk = writer.core.buffer.acquire_ring(*layout, 16);
                        if let Some(chunk) = chunk {
                            assert_ne!(Some(chunk), kept, "it is somebody else's");
                            let numbers = numbers(writer.next_chunk as u8);
                            writer.fill_chunk(chunk, &numbers);
                        }
                        thread::yield_now();
                    }
                    writer.next_chunk
                })
            })
            .collect();
        let mut reader = Reader { core: Arc::clone(&core), cells, seen: 0 };
        for _ in 0..looks {
            reader.look();
            thread::yield_now();
        }
        let filled: u32 = writers.into_iter().map(|writer| writer.join().unwrap()).sum();
        reader.seen = 0;
        reader.look();
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
