//! A stream: writers fill chunks, a reader claims, reads and releases them.

use crate::cells::Cells;
use crate::writer::Writer;
use crate::{buffer, check};
use loom::sync::Arc;
use loom::thread;
use protolog_core::FillPolicy;
use protolog_core::chunk::PageLayout;
use protolog_shmem::{Buffer, Committed};
use protozero::wire::decode_varint;
use std::collections::BTreeMap;

struct Reader {
    buffer: Arc<Buffer>,
    cells: Cells,
    /// The numbers that arrived, by writer and chunk.
    arrived: BTreeMap<(u16, u32), Vec<u8>>,
}

impl Reader {
    /// Reads all chunks that have something. Of each the numbers of before are still there.
    fn poll(&mut self) {
        let mut reader = self.buffer.reader();
        for info in reader.find(true) {
            let chunk = reader.read(&info).expect("nobody else frees chunks");
            let Committed { bytes, count, .. } = chunk.committed();
            let (mut rest, mut numbers) = (bytes, Vec::new());
            for _ in 0..count {
                let (size, size_len) = decode_varint(rest).expect("a size");
                let (packet, after) = rest[size_len..].split_at(size as usize);
                if !packet.is_empty() {
                    numbers.push(self.cells.read(info.writer_id.into(), packet).1);
                }
                rest = after;
            }
            let known = self.arrived.entry((info.writer_id, info.chunk_id)).or_default();
            assert!(numbers.starts_with(known), "{known:?}, then {numbers:?}");
            *known = numbers;
        }
    }

    fn arrived_from(&self, writer: u16) -> Vec<u8> {
        let chunks = self.arrived.iter().filter(|((from, _), _)| *from == writer);
        chunks.flat_map(|(_, numbers)| numbers.clone()).collect()
    }
}

/// Writers that fill a chunk of these layouts each, and a reader that polls meanwhile and when all
/// are done.
fn run(layouts: &'static [&'static [PageLayout]]) {
    check(move || {
        let (buffer, cells) = (buffer(FillPolicy::Stream), Cells::new());
        let writers: Vec<_> = layouts
            .iter()
            .zip(1..)
            .map(|(layouts, id)| {
                let (buffer, cells) = (Arc::clone(&buffer), cells.clone());
                let mut writer = Writer { buffer, cells, id, next_chunk: 0 };
                thread::spawn(move || {
                    let mut written = Vec::new();
                    for (layout, round) in layouts.iter().zip(0..) {
                        let numbers = [2 * round, 2 * round + 1];
                        if writer.fill(*layout, &numbers) {
                            written.extend(numbers);
                        }
                    }
                    written
                })
            })
            .collect();
        let mut reader = Reader { buffer: Arc::clone(&buffer), cells, arrived: BTreeMap::new() };
        reader.poll();
        thread::yield_now();
        reader.poll();
        let written: Vec<Vec<u8>> = writers.into_iter().map(|one| one.join().unwrap()).collect();
        reader.poll();
        for (written, id) in written.iter().zip(1..) {
            assert_eq!(&reader.arrived_from(id), written, "each once, in order");
        }
        // All is free again, and clean for any layout.
        assert!(buffer.acquire(PageLayout::One, 16).is_some());
        assert!(buffer.acquire(PageLayout::One, 16).is_none());
    });
}

#[test]
fn writers_of_two_layouts_take_turns() {
    run(&[&[PageLayout::One], &[PageLayout::Two]]);
}

#[test]
fn a_page_is_divided_anew_once_it_was_read() {
    run(&[&[PageLayout::One, PageLayout::Two, PageLayout::One]]);
}
