//! Taking chunks back from threads that leave them idle, so that those that write find room.
//!
//! A chunk is idle if nothing was written to it between two looks that are [`LOOK_NANOS`] apart. Its thread finds out at its
//! next message, which takes a new chunk. Where the system has no `membarrier` nothing is taken back: a thread then
//! keeps its chunk until it writes again or ends.
//!
//! Invariant: as of [`super::gate`]: one reclaimer of a writer at a time.

use super::Writer;
use crate::shmem::buffer::Buffer;
use crate::sync::Ordering;
use crate::sys::barrier;
use protolog_core::chunk::Packets;
use std::sync::Arc;

/// How long a chunk must be idle, in nanoseconds.
pub(crate) const LOOK_NANOS: u64 = 2_000_000;

/// Takes back the idle chunks of `writers`, whose list the caller has locked, and gives them to the reader as complete.
/// `tell` hears how many messages each has, before anybody can take it. How many chunks they are.
pub(crate) fn reclaim(
    buffer: &Buffer,
    writers: &[Arc<Writer>],
    tell: impl Fn(u16, u64, u64),
) -> usize {
    let mut wanted = 0;
    for writer in writers {
        wanted += (writer.is_idle(buffer) && writer.gate.want().is_some()) as usize;
    }
    if wanted == 0 {
        return 0;
    }
    let settled = barrier::heavy();
    writers.iter().filter(|writer| writer.give_back(buffer, settled, &tell)).count()
}

impl Writer {
    /// Whether its chunk, if it has one, is as it was when this was last asked.
    fn is_idle(&self, buffer: &Buffer) -> bool {
        let Some(chunk) = self.gate.held() else { return false };
        // The chunk may be another one by now; then it is not idle, whatever is read here.
        let id = buffer.chunk_id(chunk).load(Ordering::Relaxed);
        let packets = buffer.packets(chunk).load(Ordering::Relaxed);
        let mark = id << 16 | packets as u32;
        self.looked.swap(mark, Ordering::Relaxed) == mark
    }

    /// Completes its chunk, if it was wanted and its thread is not within a message; without the barrier not at all.
    fn give_back(&self, buffer: &Buffer, settled: bool, tell: &impl Fn(u16, u64, u64)) -> bool {
        let Some(chunk) = self.gate.wanted() else { return false };
        let look = || {
            let packets = Packets(buffer.packets(chunk).load(Ordering::Acquire));
            let others = self.others.load(Ordering::Relaxed);
            let messages = packets.count().saturating_sub(1 + others) as u64;
            (self.told.load(Ordering::Acquire), messages)
        };
        let Some((told, messages)) = self.gate.take(chunk, settled, look) else { return false };
        // Before anybody can take the chunk. Its thread may be further by now.
        tell(self.id, messages, told + messages);
        self.told.fetch_max(told + messages, Ordering::Release);
        buffer.complete(chunk);
        true
    }
}
