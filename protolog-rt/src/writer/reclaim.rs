//! Reclaiming chunks from threads that leave them idle, so that threads that write find room.
//!
//! A chunk is idle if nothing was written to it between two polls, which are [`POLL_NANOS`] apart.
//! Its thread finds out at its next message, which takes a new chunk. Where the system has no
//! `membarrier` nothing is reclaimed: a thread then keeps its chunk until it writes again or ends.
//!
//! Invariant: one reclaimer of a writer at a time, as [`super::gate`] asks for.

use super::Writer;
use crate::sync::Ordering;
use crate::sys::barrier;
use protolog_shmem::Buffer;

/// The time for which a chunk must be idle, in nanoseconds.
pub(crate) const POLL_NANOS: u64 = 2_000_000;

/// Takes back the idle chunks of the writers in `writers`, a list that the caller has locked, and
/// completes them for the reader. Returns their number. `count` gets the messages of each before
/// anybody can take it: those in it, and all of its sequence until then.
pub(crate) fn reclaim<'a, I: Iterator<Item = &'a Writer>>(
    buffer: &Buffer,
    writers: impl Fn() -> I,
    count: impl Fn(u16, u64, u64),
) -> usize {
    let mut requested = 0;
    for writer in writers() {
        requested += (writer.is_idle(buffer) && writer.gate.request()) as usize;
    }
    if requested == 0 {
        return 0;
    }
    let is_after_barrier = barrier::heavy();
    writers().filter(|writer| writer.reclaim_chunk(buffer, is_after_barrier, &count)).count()
}

impl Writer {
    /// Returns whether its chunk, if it has one, is as it was at the last call.
    fn is_idle(&self, buffer: &Buffer) -> bool {
        // The chunk may be another one by now; then it is not idle, no matter what this finds.
        let Some(mark) = self.gate.mark(buffer) else { return false };
        self.polled.swap(mark, Ordering::Relaxed) == mark
    }

    /// Completes its chunk, if it was requested and its thread is not within a message; without the
    /// barrier not at all.
    fn reclaim_chunk(
        &self,
        buffer: &Buffer,
        is_after_barrier: bool,
        count: &impl Fn(u16, u64, u64),
    ) -> bool {
        let Some(request) = self.gate.requested() else { return false };
        // Before the chunk is taken: then its thread may begin the next one.
        let read = || {
            (self.others.load(Ordering::Relaxed), self.completed_messages.load(Ordering::Acquire))
        };
        let Some((chunk, (others, completed))) = self.gate.take(request, is_after_barrier, read)
        else {
            return false;
        };
        let messages = buffer.published(&chunk).count().saturating_sub(1 + others) as u64;
        // Before anybody can take the chunk. Its thread may be further by now.
        count(self.id, messages, completed + messages);
        self.completed_messages.fetch_max(completed + messages, Ordering::Release);
        buffer.complete(chunk);
        true
    }
}
