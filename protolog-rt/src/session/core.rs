//! What a running session and its writers share.
//!
//! Invariants
//! - *stop*: once `stopped` is set or the epoch changed, every registered writer's limit is 0 or becomes 0 before its next
//!   message, because who changes them clears the limits after it, and a writer that sets its limit looks at both after
//!   it, with a full fence between on both sides.
//! - A writer id belongs to one writer at a time; ids that were used before are used again last, and go on from their
//!   last chunk id and time.

use super::config::Wanted;
use crate::level::GroupInfo;
use crate::loss::Losses;
use crate::shmem::buffer::Buffer;
use crate::sync::{AtomicBool, AtomicU64, Ordering, fence};
use crate::writer::Writer;
use protolog_core::Level;
use protolog_core::chunk::MAX_WRITER_ID;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Thread;

/// The shared part of a session.
#[derive(Debug)]
pub(crate) struct Core {
    /// Where the writers write.
    pub(crate) buffer: Buffer,
    /// The most bytes of a text argument.
    pub(crate) max_text: usize,
    /// The process.
    pub(crate) pid: u32,
    /// All losses of the session that are in the trace already.
    pub(crate) totals: Losses,
    /// Losses of threads that got no sequence.
    pub(crate) strays: Losses,
    pub(super) wanted: Wanted,
    known: Known,
    stopped: AtomicBool,
    writers: Mutex<Writers>,
    drain: OnceLock<Thread>,
}

/// What is wanted of the groups that were asked for first, so that most answers need no comparing of names.
#[derive(Debug)]
struct Known([AtomicU64; 128]);

#[derive(Debug, Default)]
struct Writers {
    live: Vec<Arc<Writer>>,
    last_id: u16,
    free: VecDeque<Identity>,
}

/// A sequence of the session, for one writer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    /// From 1.
    pub(crate) id: u16,
    /// The number of its next chunk.
    pub(crate) next_chunk: u32,
    /// Its clock never shows less, in nanoseconds.
    pub(crate) floor: u64,
}

impl Core {
    /// The shared part of a session that runs.
    pub(crate) fn new(buffer: Buffer, max_text: usize, wanted: Wanted) -> Self {
        Self {
            buffer,
            max_text,
            pid: std::process::id(),
            totals: Losses::new(),
            strays: Losses::new(),
            wanted,
            known: Known([const { AtomicU64::new(0) }; 128]),
            stopped: AtomicBool::new(false),
            writers: Mutex::default(),
            drain: OnceLock::new(),
        }
    }

    /// The levels (bit = severity) that the session wants of a group.
    pub(crate) fn levels(&self, group: &'static GroupInfo) -> u8 {
        self.known.levels(group, || self.wanted.levels(group.name))
    }

    /// Whether the session wants messages of a group at a level.
    pub(crate) fn wants(&self, group: &'static GroupInfo, level: Level) -> bool {
        self.levels(group) & 1 << level.severity() != 0
    }

    /// Makes a writer known; none where there are as many as can be told apart.
    pub(crate) fn register(
        &self,
        make: impl FnOnce(Identity) -> Arc<Writer>,
    ) -> Option<Arc<Writer>> {
        let mut writers = self.writers();
        let identity = if writers.last_id < MAX_WRITER_ID {
            writers.last_id += 1;
            Identity { id: writers.last_id, next_chunk: 0, floor: 0 }
        } else {
            writers.free.pop_front()?
        };
        let writer = make(identity);
        // After the end nobody takes writers from the list any more, and each holds the core.
        if !self.is_stopped() {
            writers.live.push(Arc::clone(&writer));
        }
        Some(writer)
    }

    /// Forgets the writers whose threads have ended, and gives them.
    pub(crate) fn take_ended(&self) -> Vec<Arc<Writer>> {
        let mut writers = self.writers();
        let all = std::mem::take(&mut writers.live);
        let (ended, live) = all.into_iter().partition(|writer| writer.has_ended());
        writers.live = live;
        ended
    }

    /// Forgets all writers, and gives them.
    pub(crate) fn take_all(&self) -> Vec<Arc<Writer>> {
        std::mem::take(&mut self.writers().live)
    }

    /// Lets an id be used again.
    pub(crate) fn retire(&self, identity: Identity) {
        self.writers().free.push_back(identity);
    }

    /// Whether the session is over.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// Ends the session for its writers, and gives them a moment to finish what they are at.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        fence(Ordering::SeqCst);
        let writers = self.close_writers();
        // A message is a matter of nanoseconds, unless its thread was preempted; what comes later is after the stop.
        for _ in 0..100 {
            if !writers.iter().any(|writer| writer.is_busy()) {
                break;
            }
            std::thread::yield_now();
        }
    }

    /// Sends every writer's next message out of line.
    pub(super) fn close_writers(&self) -> Vec<Arc<Writer>> {
        let writers = self.writers().live.clone();
        for writer in &writers {
            writer.close();
        }
        writers
    }

    /// Says which thread reads the buffer.
    pub(crate) fn set_drain(&self, drain: Thread) {
        let _ = self.drain.set(drain);
    }

    /// Wakes the thread that reads the buffer. Neither blocks nor allocates.
    pub(crate) fn wake(&self) {
        if let Some(drain) = self.drain.get() {
            drain.unpark();
        }
    }

    fn writers(&self) -> MutexGuard<'_, Writers> {
        self.writers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// What was answered for this group before, or now is.
    fn levels(&self, group: &'static GroupInfo, answer: impl FnOnce() -> u8) -> u8 {
        // Addresses leave the upper byte of a word free.
        const ADDRESS: u64 = u64::MAX >> 8;
        let address = std::ptr::from_ref(group).addr() as u64 & ADDRESS;
        let start = (address / size_of::<GroupInfo>() as u64) as usize;
        let slots = || (start..start + 4).map(|slot| &self.0[slot % self.0.len()]);
        for slot in slots() {
            let word = slot.load(Ordering::Relaxed);
            if word & ADDRESS == address {
                return (word >> 56) as u8;
            }
        }
        let levels = answer();
        let word = address | (levels as u64) << 56;
        let free = |slot: &AtomicU64| {
            slot.compare_exchange(0, word, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        };
        let _ = slots().any(free);
        levels
    }
}
