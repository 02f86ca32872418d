//! The producer's side of memory that a tracing service reads: chunks are taken, filled, completed;
//! the service copies and frees them, in another process.
//!
//! ```text
//! here      Free -> Writing -> Complete                 acquire, append, publish; complete
//! service   Complete -> Reading -> Free                 once it is told of the chunk
//! ```
//!
//! The service may also look into chunks in state Writing: it takes the packets that the count
//! covers, but for the last one.
//!
//! Invariants
//! - *sole*: all writes of this process to the memory go through the one [`ServiceMemory`], which
//!   is not shared.
//! - *untrusted*: what the service changes is used as a page's state only. Places of chunks are
//!   computed here, so that no value in the memory leads out of it; a service that frees what is
//!   being written gets garbage, and nothing else.
#![allow(unsafe_code)] // Bytes are copied to addresses.

use crate::memory::Memory;
use crate::page::Page;
use crate::slot::{PAGE, Slot};
use crate::sync::Ordering;
use protolog_core::chunk::{Packets, PageLayout, PageWord};

/// See the module.
#[derive(Debug)]
pub struct ServiceMemory {
    memory: Memory,
    pages: usize,
    /// Where the next search for a page begins.
    next: usize,
    /// The page that last had room for a layout.
    open: [usize; PageLayout::ALL.len()],
}

/// A chunk that is being filled.
#[derive(Debug)]
#[must_use = "a chunk that is not completed is lost to the memory"]
pub struct ServiceChunk {
    slot: Slot,
    /// Bytes of its packets so far.
    len: usize,
}

impl ServiceMemory {
    /// Divides `memory`, which is zeroed, into chunks. What is beyond the last whole page is left
    /// out.
    pub fn new(memory: Memory) -> Self {
        let pages = memory.len() / PAGE;
        Self { memory, pages, next: 0, open: [0; PageLayout::ALL.len()] }
    }

    /// Takes a free chunk for a writer's chunk of this number; none if the service has not freed
    /// any.
    pub fn acquire(
        &mut self,
        layout: PageLayout,
        writer_id: u16,
        chunk_id: u32,
    ) -> Option<ServiceChunk> {
        let chunk = self.reserve(layout)?;
        self.label(&chunk, writer_id, chunk_id);
        Some(chunk)
    }

    /// Takes a free chunk for later; none if the service has not freed any. The service skips it
    /// until it is [labelled](Self::label) and something is published.
    pub fn reserve(&mut self, layout: PageLayout) -> Option<ServiceChunk> {
        let slot = self.find(layout)?;
        self.memory.chunk_header(slot.at()).packets.store(0, Ordering::Relaxed);
        Some(ServiceChunk { slot, len: 0 })
    }

    /// Makes a chunk that is still empty a writer's chunk of this number.
    pub fn label(&mut self, chunk: &ServiceChunk, writer_id: u16, chunk_id: u32) {
        let header = self.memory.chunk_header(chunk.slot.at());
        // After the count of 0: until one is published the service skips the chunk.
        header.writer_id.store(writer_id, Ordering::Release);
        header.chunk_id.store(chunk_id, Ordering::Release);
    }

    fn find(&mut self, layout: PageLayout) -> Option<Slot> {
        let exact = |found| found == layout;
        let open = self.open[layout as usize - 1];
        let slot = |page, (layout, index)| Slot { page, index, layout };
        if let Some(taken) = (open < self.pages).then(|| self.page(open).acquire(exact)).flatten() {
            return Some(slot(open, taken));
        }
        for page in (self.next..self.pages).chain(0..self.next) {
            let divided = self.page(page).divide(layout).map(|index| (layout, index));
            if let Some(taken) = divided.or_else(|| self.page(page).acquire(exact)) {
                self.open[layout as usize - 1] = page;
                self.next = page;
                return Some(slot(page, taken));
            }
        }
        None
    }

    /// Appends bytes to a chunk; false, and nothing is written, where it has no room for them.
    pub fn append(&mut self, chunk: &mut ServiceChunk, bytes: &[u8]) -> bool {
        if bytes.len() > chunk.room() {
            return false;
        }
        if bytes.is_empty() {
            return true;
        }
        let at = chunk.slot.at() + (chunk.slot.size() - chunk.slot.payload()) + chunk.len;
        let to = self.memory.address(at);
        // SAFETY: *mapped*: the bytes end within the chunk's payload, as was checked, and a chunk
        // is within the memory since `find` counts whole pages only. *sole*: no thread of this
        // process reads or writes there.
        unsafe { to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        chunk.len += bytes.len();
        true
    }

    /// Shows `packets` to the service, the last of which may still grow. The count never falls.
    pub fn publish(&mut self, chunk: &mut ServiceChunk, packets: Packets) {
        let header = self.memory.chunk_header(chunk.slot.at());
        header.packets.store(packets.0, Ordering::Release);
    }

    /// Gives a chunk to the service, and returns its page and its number there, by which the
    /// service is told of it.
    pub fn complete(&mut self, chunk: ServiceChunk) -> (u32, u32) {
        let Slot { page, index, .. } = chunk.into_slot();
        self.page(page).complete(index);
        (page as u32, index as u32)
    }

    /// Number of pages.
    pub fn pages(&self) -> usize {
        self.pages
    }

    /// Returns whether fewer than half of the pages are undivided.
    pub fn is_scarce(&self) -> bool {
        let free = (0..self.pages).filter(|&page| self.page(page).word() == PageWord::UNDIVIDED);
        2 * free.count() < self.pages
    }

    fn page(&self, page: usize) -> Page<'_> {
        Page::new(self.memory.page_word(page * PAGE))
    }
}

impl ServiceChunk {
    /// Gives the chunk up and returns its place.
    fn into_slot(self) -> Slot {
        self.slot
    }

    /// The most bytes that can be appended.
    pub fn room(&self) -> usize {
        self.slot.payload() - self.len
    }

    /// Bytes that were appended.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether nothing was appended.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// Returns the layout of pages with the smallest chunks that hold `payload` bytes of packets; the
/// one with the largest chunks where none does.
pub fn layout_for(payload: usize) -> PageLayout {
    let mut layouts = PageLayout::ALL.into_iter().rev();
    let fits = |layout: &PageLayout| crate::buffer::has_room(*layout, payload);
    layouts.find(fits).unwrap_or(PageLayout::One)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Heap;

    /// The service's work on a chunk that it is told of: returns the header's count and the
    /// first bytes, and frees it.
    fn take(memory: &ServiceMemory, (page, index): (u32, u32)) -> (u16, u16, u32, u8) {
        let (page, index) = (page as usize, index as usize);
        let word = memory.page(page).word();
        let slot = Slot { page, index, layout: word.layout().expect("a divided page") };
        assert!(memory.page(page).try_claim(word, index), "complete");
        let header = memory.memory.chunk_header(slot.at());
        let count = Packets(header.packets.load(Ordering::Acquire)).count();
        // SAFETY: a byte of the payload, which nobody writes.
        let first = unsafe { memory.memory.address(slot.at() + 8).read() };
        let found = (
            count,
            header.writer_id.load(Ordering::Relaxed),
            header.chunk_id.load(Ordering::Relaxed),
            first,
        );
        header.packets.store(0, Ordering::Relaxed);
        if memory.page(page).close(index) {
            memory.page(page).open();
        } else {
            memory.page(page).release(index);
        }
        found
    }

    #[test]
    fn chunks_go_to_the_service_and_come_back() {
        let mut memory = ServiceMemory::new(Memory::new(Heap::new(2 * PAGE + 100)));
        for round in 0..10 {
            let mut chunks = Vec::new();
            for id in 0..28 {
                let mut chunk = memory.acquire(PageLayout::Fourteen, 7, id).expect("a free one");
                assert!(memory.append(&mut chunk, &[id as u8; 284]));
                assert!(!memory.append(&mut chunk, &[0]) && chunk.room() == 0);
                memory.publish(&mut chunk, Packets::new(2, 0));
                chunks.push(chunk);
            }
            assert!(memory.acquire(PageLayout::Fourteen, 7, 28).is_none(), "round {round}");
            assert!(memory.acquire(PageLayout::One, 7, 28).is_none() && memory.is_scarce());
            for (id, chunk) in (0..).zip(chunks) {
                let place = memory.complete(chunk);
                assert_eq!(take(&memory, place), (2, 7, id, id as u8));
            }
            assert!(!memory.is_scarce());
        }
    }

    #[test]
    fn a_reserved_chunk_becomes_any_writer_s() {
        let mut memory = ServiceMemory::new(Memory::new(Heap::new(PAGE)));
        let mut reserved = memory.reserve(PageLayout::Four).expect("a free one");
        let others = (0..3).map(|id| memory.acquire(PageLayout::Four, 7, id).expect("a free one"));
        let others: Vec<_> = others.collect();
        assert!(memory.acquire(PageLayout::Four, 7, 3).is_none());
        memory.label(&reserved, 9, 70_000);
        assert!(memory.append(&mut reserved, &[5]));
        memory.publish(&mut reserved, Packets::new(1, 0));
        let place = memory.complete(reserved);
        assert_eq!(take(&memory, place), (1, 9, 70_000, 5));
        for chunk in others {
            let place = memory.complete(chunk);
            take(&memory, place);
        }
    }

    #[test]
    fn a_layout_is_as_small_as_can_be() {
        assert_eq!(layout_for(0), PageLayout::Fourteen);
        assert_eq!(layout_for(284), PageLayout::Fourteen);
        assert_eq!(layout_for(285), PageLayout::Seven);
        assert_eq!(layout_for(4080), PageLayout::One);
        assert_eq!(layout_for(100_000), PageLayout::One);
    }
}
