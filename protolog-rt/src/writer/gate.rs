//! Who may touch a writer's chunk: its thread while it is in a message, and whoever takes the chunk back when the thread
//! leaves it idle.
//!
//! ```text
//! thread, message      busy = 1, [light], limit? write … busy = 0
//! thread, out of line  held: chunk -> 0; then the chunk is the thread's alone, until it offers it again
//! reclaimer            held: chunk -> wanted, limit = 0, [heavy], busy? then wanted -> chunk, else wanted -> 0
//! ```
//!
//! The heavy barrier is `membarrier`, which makes every running thread of the process pass a full barrier; the light one
//! only keeps the compiler from reordering. So a message costs no barrier: either the thread's `busy` is seen by the
//! reclaimer, or the reclaimer's limit of 0 by the thread, which then goes out of line, where `held` says who was first.
//!
//! Invariants
//! - *held*: from [`Gate::offer`] on the chunk belongs to whoever moves `held` to 0. Nobody else touches its header, and
//!   its thread writes to it only between the light barrier and the end of `busy`, below the limit that it saw there.
//! - One reclaimer at a time: whoever holds the lock on the session's writers.

use crate::shmem::buffer::Chunk;
use crate::sync::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence, light_barrier};
use protolog_core::chunk::PageLayout;

/// See the module.
#[derive(Debug)]
pub(crate) struct Gate {
    /// The address up to which packets may go; 0 where there is no chunk, or somebody wants the thread to come out of line.
    limit: AtomicUsize,
    busy: AtomicBool,
    /// A chunk as [`bits`], or 0.
    held: AtomicU64,
}

/// Set where there is a chunk.
const OPEN: u64 = 1 << 63;
/// Set besides while a reclaimer wants it.
const WANTED: u64 = 1 << 62;

impl Gate {
    /// No chunk.
    pub(crate) fn new() -> Self {
        Self { limit: AtomicUsize::new(0), busy: AtomicBool::new(false), held: AtomicU64::new(0) }
    }

    /// Begins a message.
    #[inline]
    pub(crate) fn enter(&self) {
        self.busy.store(true, Ordering::Relaxed);
        light_barrier();
    }

    /// Ends it. What was written is visible to who sees that it ended.
    #[inline]
    pub(crate) fn exit(&self) {
        self.busy.store(false, Ordering::Release);
    }

    /// Whether the thread is within a message.
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

    /// Lets messages into the chunk, up to `limit`, and reclaimers at it; then a full fence, so that who wanted the thread
    /// out of line before is seen by what follows, or sees the limit.
    pub(crate) fn offer(&self, chunk: Chunk, limit: usize) {
        // The limit first: who wants the chunk once it is held takes back this limit, and none that comes after.
        self.limit.store(limit, Ordering::Relaxed);
        self.held.store(bits(chunk), Ordering::Release);
        fence(Ordering::SeqCst);
    }

    /// Makes the offered chunk the thread's alone; false where a reclaimer has it.
    pub(crate) fn recall(&self) -> bool {
        self.held.swap(0, Ordering::AcqRel) != 0
    }

    /// The chunk that a reclaimer could take.
    pub(crate) fn held(&self) -> Option<Chunk> {
        chunk(self.held.load(Ordering::Acquire))
    }

    /// The chunk that a reclaimer wants, if its thread has not recalled it since.
    pub(crate) fn wanted(&self) -> Option<Chunk> {
        let bits = self.held.load(Ordering::Acquire);
        chunk(bits).filter(|_| bits & WANTED != 0)
    }

    /// First half of taking the chunk back; the heavy barrier has to follow.
    pub(crate) fn want(&self) -> Option<Chunk> {
        let chunk = self.held()?;
        let (open, wanted) = (bits(chunk), bits(chunk) | WANTED);
        let (success, failure) = (Ordering::Acquire, Ordering::Relaxed);
        self.held.compare_exchange(open, wanted, success, failure).ok()?;
        self.close();
        Some(chunk)
    }

    /// Second half: what `look` says, where the chunk is the reclaimer's now. It stays the thread's where that is within a
    /// message, or where there was no barrier. What `look` sees is what the thread left when it last was in a message.
    pub(crate) fn take<T>(
        &self,
        chunk: Chunk,
        after_barrier: bool,
        look: impl FnOnce() -> T,
    ) -> Option<T> {
        let idle = after_barrier && !self.is_busy();
        let seen = look();
        let (open, wanted) = (bits(chunk), bits(chunk) | WANTED);
        let next = if idle { 0 } else { open };
        let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
        // Fails where the thread has recalled it.
        let moved = self.held.compare_exchange(wanted, next, success, failure).is_ok();
        (idle && moved).then_some(seen)
    }
}

fn bits(chunk: Chunk) -> u64 {
    let Chunk { page, index, layout } = chunk;
    OPEN | (layout as u64) << 36 | (index as u64) << 32 | page as u64
}

fn chunk(bits: u64) -> Option<Chunk> {
    let layout = (bits >> 36 & 0xf) as usize;
    let layout = PageLayout::ALL.into_iter().find(|known| *known as usize == layout)?;
    Some(Chunk { page: bits as u32 as usize, index: (bits >> 32 & 0xf) as usize, layout })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn chunks_fit_a_word() {
        for layout in PageLayout::ALL {
            for (page, index) in [(0, 0), (8191, layout.chunks() - 1), (7, 0)] {
                let place = Chunk { page, index, layout };
                assert_eq!(chunk(bits(place)), Some(place));
                assert_eq!(chunk(bits(place) | WANTED), Some(place));
            }
        }
        assert_eq!(chunk(0), None);
    }

    #[test]
    fn the_first_has_it() {
        let gate = Gate::new();
        let chunk = Chunk { page: 3, index: 1, layout: PageLayout::Four };
        let take = |after_barrier| gate.take(chunk, after_barrier, || 7);
        assert_eq!(gate.want(), None, "nothing to take");
        gate.offer(chunk, 4096);
        assert_eq!((gate.want(), gate.limit()), (Some(chunk), 0));
        assert_eq!(gate.want(), None, "wanted already");
        assert_eq!(take(true), Some(7));
        assert!(!gate.recall(), "gone");
        gate.offer(chunk, 4096);
        assert_eq!(gate.want(), Some(chunk));
        assert!(gate.recall(), "the thread was faster");
        assert_eq!(take(true), None);
        gate.offer(chunk, 4096);
        gate.want();
        gate.enter();
        assert_eq!(take(true), None, "it is in a message");
        assert_eq!(gate.held(), Some(chunk), "and keeps it");
        gate.exit();
        gate.want();
        assert_eq!((gate.wanted(), take(false)), (Some(chunk), None));
        assert_eq!((gate.wanted(), gate.held()), (None, Some(chunk)), "not without a barrier");
        assert!(gate.recall());
    }
}
