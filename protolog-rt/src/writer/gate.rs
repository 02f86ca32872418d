//! Access to a writer's chunk: by its thread within a message, and by a reclaimer when the thread
//! leaves it idle.
//!
//! ```text
//! thread, message      busy = 1, [light], limit? write … busy = 0
//! thread, out of line  recall: cell -> empty; then the chunk is the thread's alone, until it offers it again
//! reclaimer            request: cell -> requested, limit = 0, [heavy], busy? then requested -> offered, else -> empty
//! ```
//!
//! The heavy barrier is `membarrier`, which makes every running thread of the process pass a full
//! barrier; the light one only keeps the compiler from reordering. So a message costs no barrier:
//! either the reclaimer sees the thread's `busy`, or the thread sees the reclaimer's limit of 0 and
//! goes out of line, where the cell says who was first.
//!
//! Invariants
//! - *offered*: from [`Gate::offer`] on the chunk is in the cell, and belongs to the thread that
//!   takes it out. Meanwhile its thread writes to it only between the light barrier and the end of
//!   `busy`, below the limit that it saw there.
//! - One reclaimer at a time: the one that holds the lock on the session's writers.
#![allow(unsafe_code)] // A look at a chunk that may be another one by now.

use crate::sync::{AtomicBool, AtomicUsize, Ordering, fence, light_barrier};
use protolog_shmem::{Buffer, ChunkCell, Request, WriteChunk};

/// See the module.
#[derive(Debug)]
pub(crate) struct Gate {
    /// The address up to which packets may go; 0 where there is no chunk, or the thread is to come
    /// out of line.
    limit: AtomicUsize,
    busy: AtomicBool,
    cell: ChunkCell,
}

impl Gate {
    /// A gate without a chunk.
    pub(crate) fn new() -> Self {
        Self { limit: AtomicUsize::new(0), busy: AtomicBool::new(false), cell: ChunkCell::new() }
    }

    /// Begins a message.
    #[inline]
    pub(crate) fn enter(&self) {
        self.busy.store(true, Ordering::Relaxed);
        light_barrier();
    }

    /// Ends it. A thread that sees the end sees the bytes written.
    #[inline]
    pub(crate) fn exit(&self) {
        self.busy.store(false, Ordering::Release);
    }

    /// Returns true while the thread is within a message.
    pub(crate) fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Acquire)
    }

    /// The address up to which packets may go.
    #[inline]
    pub(crate) fn limit(&self) -> usize {
        self.limit.load(Ordering::Relaxed)
    }

    /// Sends the thread's next message out of line.
    pub(crate) fn close(&self) {
        self.limit.store(0, Ordering::Relaxed);
    }

    /// Lets messages into the chunk, up to `limit`, and reclaimers at it; then a full fence, so
    /// that the steps after it see a thread that closed the gate before, or that thread sees the
    /// limit.
    pub(crate) fn offer(&self, chunk: WriteChunk, limit: usize) {
        // The limit first: a request for the offered chunk takes back this limit, and none that
        // comes after.
        self.limit.store(limit, Ordering::Relaxed);
        self.cell.offer(chunk);
        fence(Ordering::SeqCst);
    }

    /// Takes the offered chunk back; none where a reclaimer has it.
    pub(crate) fn recall(&self) -> Option<WriteChunk> {
        self.cell.recall()
    }

    /// Returns a mark of the offered chunk, which differs once something was written to it; none
    /// where there is none.
    pub(super) fn mark(&self, buffer: &Buffer) -> Option<u32> {
        // SAFETY: the result becomes a mark, which is good for comparing and for nothing else.
        let (id, packets) = unsafe { buffer.peek(&self.cell) }?;
        Some(id << 16 | packets.0 as u32)
    }

    /// First half of reclaiming the chunk: asks for it and closes the gate. The heavy barrier has
    /// to follow. False where there is no chunk.
    pub(crate) fn request(&self) -> bool {
        let is_requested = self.cell.request().is_some();
        if is_requested {
            self.close();
        }
        is_requested
    }

    /// The request that was made, if the thread has not recalled the chunk since.
    pub(crate) fn requested(&self) -> Option<Request> {
        self.cell.requested()
    }

    /// Second half: takes the chunk, and returns it with `read`'s result. The chunk stays offered
    /// where the thread is within a message, or where there was no barrier. `read` sees the state
    /// after the thread's last message.
    pub(crate) fn take<T>(
        &self,
        request: Request,
        is_after_barrier: bool,
        read: impl FnOnce() -> T,
    ) -> Option<(WriteChunk, T)> {
        let is_idle = is_after_barrier && !self.is_busy();
        let seen = read();
        Some((self.cell.take(request, is_idle)?, seen))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use protolog_core::FillPolicy;
    use protolog_core::chunk::PageLayout;
    use protolog_shmem::{Heap, Memory, PAGE};

    #[test]
    fn the_first_has_it() {
        let buffer = Buffer::new(Memory::new(Heap::new(PAGE)), FillPolicy::Stream);
        let gate = Gate::new();
        let take = |is_after_barrier| {
            let taken = gate.take(gate.requested()?, is_after_barrier, || 7);
            taken.map(|(chunk, seen)| {
                assert_eq!(seen, 7);
                chunk
            })
        };
        assert!(!gate.request(), "nothing to take");
        gate.offer(buffer.acquire(PageLayout::Four, 1).expect("a chunk"), 4096);
        assert!(gate.request());
        assert_eq!(gate.limit(), 0);
        assert!(!gate.request(), "requested already");
        let chunk = take(true).expect("the chunk");
        assert_eq!(gate.recall(), None, "reclaimed");
        gate.offer(chunk, 4096);
        assert!(gate.request());
        let request = gate.requested().expect("a request");
        let chunk = gate.recall().expect("the thread was faster");
        assert!(gate.take(request, true, || ()).is_none());
        gate.offer(chunk, 4096);
        assert!(gate.request());
        gate.enter();
        assert_eq!(take(true), None, "it is in a message");
        gate.exit();
        assert!(gate.request(), "and keeps it");
        assert_eq!(take(false), None, "not without a barrier");
        assert_eq!(gate.requested(), None);
        assert!(gate.recall().is_some());
    }
}
