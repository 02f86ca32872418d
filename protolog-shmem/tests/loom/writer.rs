//! A thread's writer, as the runtime has it: takes chunks, writes packets, completes them.

use crate::cells::{Cells, SPAN};
use loom::sync::Arc;
use protolog_core::chunk::{Packets, PageLayout};
use protolog_shmem::{Buffer, WriteChunk};

/// See the module.
pub(crate) struct Writer {
    pub(crate) buffer: Arc<Buffer>,
    pub(crate) cells: Cells,
    pub(crate) id: u16,
    pub(crate) next_chunk: u32,
}

impl Writer {
    /// Takes a chunk, writes `numbers` into it, and completes it; false where there is no chunk.
    pub(crate) fn fill(&mut self, layout: PageLayout, numbers: &[u8]) -> bool {
        let chunk = self.buffer.acquire(layout, 16);
        chunk.map(|chunk| self.fill_chunk(chunk, numbers)).is_some()
    }

    /// Writes `numbers` into a chunk that was taken, and completes it.
    pub(crate) fn fill_chunk(&mut self, mut chunk: WriteChunk, numbers: &[u8]) {
        let open = self.buffer.open(&mut chunk, self.id, self.next_chunk);
        self.next_chunk += 1;
        let put = |at: usize, bytes: &[u8]| {
            assert!(at + bytes.len() <= chunk.payload());
            // SAFETY: within the chunk, as was asserted.
            let place = unsafe { open.start.add(at) };
            // SAFETY: the chunk is this writer's, and no reader reads what is not committed: that
            // is what the cells check.
            unsafe { place.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        };
        // SAFETY: the chunk is this writer's, and packets before the last one are whole.
        let publish = |count| unsafe { open.count.publish(Packets::new(count, 0)) };
        put(0, &[0]);
        publish(1);
        for (place, number) in numbers.iter().enumerate() {
            self.cells.write(open.start, place, *number, |bytes| put(place * SPAN, &bytes));
            put((place + 1) * SPAN, &[0]);
            publish(place as u16 + 2);
        }
        self.buffer.complete(chunk);
    }
}
