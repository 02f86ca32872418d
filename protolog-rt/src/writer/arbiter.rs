//! A buffer shared among trace writers: sequences and chunks are given out here, and taken back.
//!
//! ```text
//! owner (session) ──┐                       ┌── Writer of thread 1
//!                   ├── Arbiter { buffer } ──┼── Writer of thread 2
//! reader (drain)  ──┘                       └── …
//! ```
//!
//! Invariants
//! - *stop*: once `stopped` is set or the epoch changed, every registered writer's limit is 0 or becomes 0 before its next
//!   message, because who changes them clears the limits after it, and a writer that sets its limit looks at both after
//!   it, with a full fence between on both sides.
//! - A sequence belongs to one writer at a time; those that were used before are used again last, and go on from their
//!   last chunk id and time.

use super::level_cache::LevelCache;
use super::owner::Owner;
use super::reclaim::{POLL_NANOS, reclaim};
use super::{ReentrancyGuard, Writer};
use crate::clock;
use crate::level::GroupInfo;
use crate::loss::{LossCause, LossCount, LossCounters};
use crate::sync::{AtomicBool, Ordering, fence};
use crate::sys::barrier;
use protolog_core::chunk::{MAX_WRITER_ID, PageLayout};
use protolog_core::{FillPolicy, Level};
use protolog_shmem::{Buffer, WriteChunk};
use std::collections::{HashSet, VecDeque};
use std::ops::{Deref, DerefMut};
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// So many writers a thread that logs can look at: each may be a line that another processor has.
const FEW: usize = 64;

/// See the module.
#[derive(Debug)]
pub(crate) struct Arbiter {
    /// Where the writers write.
    pub(crate) buffer: Buffer,
    /// The most bytes of a text argument.
    pub(crate) max_string_bytes: usize,
    /// The process.
    pub(crate) pid: u32,
    /// Drops of the writers that the trace reports already.
    pub(crate) reported: LossCounters,
    /// Drops of threads that got no sequence.
    pub(crate) unattributed: LossCounters,
    collects_stacks: bool,
    levels: LevelCache,
    stopped: AtomicBool,
    /// A buffer that discards new messages has discarded one.
    is_full: AtomicBool,
    writers: Mutex<Writers>,
    /// The rest of what the writers need.
    pub(super) owner: Arc<dyn Owner>,
}

/// A packet sequence, for one writer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    /// From 1.
    pub(crate) id: u16,
    /// The number of its next chunk.
    pub(crate) next_chunk: u32,
    /// Its clock never shows less, in nanoseconds.
    pub(crate) floor: u64,
    /// Messages so far.
    pub(crate) messages: u64,
}

#[derive(Debug, Default)]
struct Writers {
    live: Vec<Arc<Writer>>,
    /// With so many, those that ended and left nothing in the buffer are forgotten.
    forget_at: usize,
    last_id: u16,
    free: VecDeque<Identity>,
    /// The time of the last poll for idle chunks, in nanoseconds of BOOTTIME.
    polled: u64,
}

/// The lock on the writers; a signal handler does not wait for the thread that it interrupted.
struct LockedWriters<'a> {
    writers: MutexGuard<'a, Writers>,
    // After the lock, in this order.
    _guard: ReentrancyGuard,
}

impl Deref for LockedWriters<'_> {
    type Target = Writers;

    fn deref(&self) -> &Writers {
        &self.writers
    }
}

impl DerefMut for LockedWriters<'_> {
    fn deref_mut(&mut self) -> &mut Writers {
        &mut self.writers
    }
}

impl Arbiter {
    /// Shares `buffer` on behalf of `owner`.
    pub(crate) fn new(buffer: Buffer, max_string_bytes: usize, owner: Arc<dyn Owner>) -> Self {
        Self {
            buffer,
            max_string_bytes,
            pid: std::process::id(),
            reported: LossCounters::new(),
            unattributed: LossCounters::mirrored(owner.mirror()),
            collects_stacks: owner.collects_stacks(),
            levels: LevelCache::new(),
            stopped: AtomicBool::new(false),
            is_full: AtomicBool::new(false),
            writers: Mutex::default(),
            owner,
        }
    }

    /// Returns drop counters for a writer.
    pub(crate) fn drop_counters(&self) -> LossCounters {
        LossCounters::mirrored(self.owner.mirror())
    }

    /// Returns the levels (bit = severity) that are recorded of a group.
    pub(crate) fn enabled_levels(&self, group: &'static GroupInfo) -> u8 {
        self.levels.get(group).unwrap_or_else(|| self.ask_owner(group))
    }

    #[cold]
    #[inline(never)]
    fn ask_owner(&self, group: &'static GroupInfo) -> u8 {
        let levels = self.owner.enabled_levels(group.name);
        self.levels.insert(group, levels);
        levels
    }

    /// Returns whether messages of a group at a level are recorded.
    pub(crate) fn is_enabled(&self, group: &'static GroupInfo, level: Level) -> bool {
        self.enabled_levels(group) & 1 << level.severity() != 0
    }

    /// Returns whether messages of a group are recorded with a stack trace.
    pub(crate) fn collects_stack(&self, group: &GroupInfo) -> bool {
        self.collects_stacks && self.owner.collects_stack(group.name)
    }

    /// Returns whether any messages are recorded with a stack trace.
    pub(crate) fn collects_stacks(&self) -> bool {
        self.collects_stacks
    }

    /// Registers the writer that `make` makes of a sequence; none where there are as many as can be told apart.
    pub(crate) fn register(
        &self,
        make: impl FnOnce(Identity) -> Arc<Writer>,
    ) -> Option<Arc<Writer>> {
        let mut writers = self.writers();
        if self.buffer.fill_policy() != FillPolicy::Stream
            && writers.live.len() >= writers.forget_at.max(64)
        {
            self.forget_overwritten(&mut writers);
        }
        let identity = if writers.last_id < MAX_WRITER_ID {
            writers.last_id += 1;
            Identity { id: writers.last_id, next_chunk: 0, floor: 0, messages: 0 }
        } else {
            writers.free.pop_front()?
        };
        let writer = make(identity);
        // After the end nobody takes writers from the list any more, and each holds the arbiter.
        if !self.is_stopped() {
            writers.live.push(Arc::clone(&writer));
        }
        Some(writer)
    }

    /// Takes the writers whose threads have ended off the list.
    pub(crate) fn take_ended(&self) -> Vec<Arc<Writer>> {
        let mut writers = self.writers();
        let all = std::mem::take(&mut writers.live);
        let (ended, live) = all.into_iter().partition(|writer| writer.has_ended());
        writers.live = live;
        ended
    }

    /// Forgets the writers whose threads have ended and whose chunks were all overwritten.
    fn forget_overwritten(&self, writers: &mut Writers) {
        let Some(mut reader) = self.buffer.try_reader() else { return };
        // First, so that the search sees the last chunk of each of them.
        let ended = writers.live.iter().filter(|writer| writer.has_ended());
        let ended: HashSet<u16> = ended.map(|writer| writer.id).collect();
        let found: HashSet<u16> = reader.find(true).iter().map(|chunk| chunk.writer_id).collect();
        drop(reader);
        let free = &mut writers.free;
        writers.live.retain(|writer| {
            let is_overwritten = ended.contains(&writer.id) && !found.contains(&writer.id);
            let Some(identity) = writer.identity().filter(|_| is_overwritten) else { return true };
            let (cause, count) = (LossCause::Overwritten, identity.messages);
            self.unattributed.restore(LossCount { group: 0, cause, count });
            self.owner.count_forgotten(writer.id, count);
            writer.losses.take(|lost| {
                self.unattributed.restore(lost);
                true
            });
            free.push_back(Identity { messages: 0, ..identity });
            false
        });
        writers.forget_at = 2 * writers.live.len();
    }

    /// Takes a chunk for a writer of a buffer that discards new messages once it is full.
    pub(crate) fn acquire_until_full(
        &self,
        layout: PageLayout,
        payload: usize,
    ) -> Option<WriteChunk> {
        if self.is_full.load(Ordering::Relaxed) {
            return None;
        }
        let chunk = self.buffer.acquire(layout, payload);
        if chunk.is_none() {
            self.is_full.store(true, Ordering::Relaxed);
        }
        chunk
    }

    /// Waits for a chunk, as long as the owner's buffer-exhausted policy allows.
    pub(crate) fn acquire_late(&self, layout: PageLayout, payload: usize) -> Option<WriteChunk> {
        // In a forked child there is nobody who frees anything.
        if self.pid != std::process::id() {
            return None;
        }
        self.owner.wait_for_chunk(&self.buffer, &mut || self.buffer.acquire(layout, payload))
    }

    /// Takes back the chunks of idle threads, unless somebody else is at it or has looked a moment ago. Returns their number.
    pub(crate) fn reclaim(&self) -> usize {
        if !barrier::is_ready() {
            return 0;
        }
        let _guard = ReentrancyGuard::new();
        let Ok(mut writers) = self.writers.try_lock() else { return 0 };
        let now = clock::boottime();
        if now < writers.polled + POLL_NANOS {
            return 0;
        }
        writers.polled = now;
        reclaim(&self.buffer, &writers.live, |id, new, all| {
            self.owner.count_messages(id, new, all);
        })
    }

    /// Returns whether it takes no time to look at all writers; false where somebody has the list.
    pub(super) fn has_few_writers(&self) -> bool {
        self.writers.try_lock().is_ok_and(|writers| writers.live.len() <= FEW)
    }

    /// Returns whether no writer but this one is within a message; false where somebody has the list.
    pub(super) fn is_quiet_but_for(&self, writer: &Writer) -> bool {
        let Ok(writers) = self.writers.try_lock() else { return false };
        writers.live.iter().all(|other| ptr::eq(&raw const **other, writer) || !other.is_busy())
    }

    /// Returns all writers.
    pub(crate) fn all_writers(&self) -> Vec<Arc<Writer>> {
        self.writers().live.clone()
    }

    /// Takes all writers off the list.
    pub(crate) fn take_writers(&self) -> Vec<Arc<Writer>> {
        std::mem::take(&mut self.writers().live)
    }

    /// Lets a sequence be used again.
    pub(crate) fn retire(&self, identity: Identity) {
        self.writers().free.push_back(identity);
    }

    /// Returns whether nothing is recorded any more.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// In a forked child: the buffer is the parent's.
    pub(super) fn abandon(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    /// Ends the recording for the writers: their next messages come out of line, and find that it is over.
    pub(crate) fn stop_writers(&self) -> Vec<Arc<Writer>> {
        self.stopped.store(true, Ordering::Release);
        fence(Ordering::SeqCst);
        self.close_writers()
    }

    /// Sends every writer's next message out of line.
    pub(super) fn close_writers(&self) -> Vec<Arc<Writer>> {
        let writers = self.writers().live.clone();
        for writer in &writers {
            writer.close();
        }
        writers
    }

    /// Wakes the thread that reads the buffer. Neither blocks nor allocates.
    pub(crate) fn wake(&self) {
        self.owner.wake();
    }

    fn writers(&self) -> LockedWriters<'_> {
        let guard = ReentrancyGuard::new();
        let writers = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        LockedWriters { writers, _guard: guard }
    }
}
