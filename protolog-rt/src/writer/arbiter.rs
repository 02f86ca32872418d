//! A buffer shared among trace writers: sequences and chunks are given out here, and taken back.
//!
//! ```text
//! owner (session) ──┐                       ┌── Writer of thread 1
//!                   ├── Arbiter { buffer } ──┼── Writer of thread 2
//! reader (drain)  ──┘                       └── …
//! ```
//!
//! Invariants
//! - *stop*: once `stopped` is set or the epoch changed, every registered writer's limit is 0 or
//!   becomes 0 before its next message. The thread that changes them clears the limits afterwards.
//!   A writer that sets its limit looks at both afterwards. Both sides have a full fence in
//!   between.
//! - *arrivals*: a writer that registers goes to the head of `arrivals`, without a lock. Only the
//!   holder of the lock on the writers takes arrivals off, all at once. The list ends with null, or
//!   with [`closed`] once no more may come.
//! - A sequence belongs to one writer at a time. Beyond [`FEW_SEQUENCES`], those whose writers have
//!   ended are used again before new ones, and go on from their last chunk id, time and number of
//!   messages. Each chunk names its sequence.
#![allow(unsafe_code)] // Arrivals are counted references in an atomic pointer.

mod alone;
pub(super) mod byte_bucket;
mod pinned;

use self::byte_bucket::ByteBucket;
use self::pinned::Ring;
use super::level_cache::LevelCache;
use super::owner::Owner;
use super::reclaim::{POLL_NANOS, reclaim};
use super::{ReentrancyGuard, Writer};
use crate::clock;
use crate::level::GroupInfo;
use crate::loss::{LossCause, LossCount, LossCounters};
use crate::sync::{AtomicBool, AtomicPtr, AtomicU16, Ordering, fence, light_barrier};
use crate::sys::{barrier, process::asked_id};
use crate::value::allow_strings_of;
use protolog_core::chunk::PageLayout;
use protolog_core::{FillPolicy, Level};
use protolog_shmem::{Buffer, WriteChunk};
use std::collections::{HashSet, VecDeque};
use std::ops::{Deref, DerefMut};
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// So many sequences are given to one thread only; beyond that, those that threads left behind are
/// used again, so that their number costs no memory.
pub(super) const FEW_SEQUENCES: u16 = 512;

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
    is_scoped: bool,
    levels: LevelCache,
    stopped: AtomicBool,
    /// A buffer that discards new messages has discarded one.
    is_full: AtomicBool,
    /// The thread that reads the buffer sleeps until somebody takes a chunk.
    is_asleep: AtomicBool,
    writers: Mutex<Writers>,
    /// Writers that are not in the list yet, the newest first.
    arrivals: AtomicPtr<Writer>,
    /// The last sequence that was used for the first time.
    last_id: AtomicU16,
    /// Its part in its session.
    ring: Ring,
    /// The limit of its bytes, if it has one.
    pub(super) byte_limit: Option<ByteBucket>,
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
    /// The number of writers, in multiples of [`FEW_SEQUENCES`], when the last sequence was given
    /// out.
    woken_at: usize,
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
        allow_strings_of(max_string_bytes);
        Self {
            buffer,
            max_string_bytes,
            pid: asked_id(),
            reported: LossCounters::new(),
            unattributed: LossCounters::mirrored(owner.mirror()),
            collects_stacks: owner.collects_stacks(),
            is_scoped: owner.is_scoped(),
            levels: LevelCache::new(),
            stopped: AtomicBool::new(false),
            is_full: AtomicBool::new(false),
            is_asleep: AtomicBool::new(false),
            writers: Mutex::default(),
            arrivals: AtomicPtr::new(ptr::null_mut()),
            last_id: AtomicU16::new(0),
            ring: Ring::Whole,
            byte_limit: owner.may_be_limited().then(|| ByteBucket::new(owner.byte_limit())),
            owner,
        }
    }

    /// Returns the limit of the bytes of its writers, if there can be one.
    pub(crate) fn byte_limit(&self) -> Option<&ByteBucket> {
        self.byte_limit.as_ref()
    }

    /// Returns drop counters for a writer.
    pub(crate) fn drop_counters(&self) -> LossCounters {
        LossCounters::mirrored(self.owner.mirror_of_writers())
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

    /// Returns whether only threads that have entered are recorded.
    pub(crate) fn is_scoped(&self) -> bool {
        self.is_scoped
    }

    /// Returns whether messages of a group are recorded with a stack trace.
    pub(crate) fn collects_stack(&self, group: &GroupInfo) -> bool {
        self.collects_stacks && self.owner.collects_stack(group.name)
    }

    /// Returns whether any messages are recorded with a stack trace.
    pub(crate) fn collects_stacks(&self) -> bool {
        self.collects_stacks
    }

    /// Returns a sequence for a writer; none where there are as many as can be told apart. It may
    /// wait and allocate.
    pub(super) fn new_identity(&self) -> Option<Identity> {
        let mut writers = self.writers();
        if self.buffer.fill_policy() == FillPolicy::Stream {
            // Its thread takes those that ended off the list, and would otherwise sleep until there
            // is enough to write.
            let many = writers.live.len() / usize::from(FEW_SEQUENCES);
            if many > writers.woken_at {
                self.wake();
            }
            writers.woken_at = many;
        } else if writers.live.len() >= writers.forget_at.max(64) {
            self.forget_overwritten(&mut writers);
        }
        let used = self.used_identity(&mut writers).or_else(|| self.take_over(&mut writers));
        let identity = used.or_else(|| self.unused_identity());
        if identity.is_none() {
            // The threads of some may have ended.
            self.wake();
        }
        identity
    }

    /// Returns a sequence that was used before, where there are more than a few.
    fn used_identity(&self, writers: &mut Writers) -> Option<Identity> {
        let is_beyond = self.sequences() >= FEW_SEQUENCES;
        is_beyond.then(|| writers.free.pop_front())?
    }

    /// Returns the sequence of a writer whose thread has ended, though its chunks are in the
    /// buffer, where there are more than a few; none in a stream, whose reader is not done with it.
    fn take_over(&self, writers: &mut Writers) -> Option<Identity> {
        let is_beyond = self.sequences() >= FEW_SEQUENCES;
        if !is_beyond || self.buffer.fill_policy() == FillPolicy::Stream {
            return None;
        }
        let at = writers.live.iter().position(|writer| writer.has_ended())?;
        let writer = writers.live.remove(at);
        self.take_losses(&writer);
        writer.identity()
    }

    /// Counts the drops of a writer that is forgotten as those of threads without a sequence.
    fn take_losses(&self, writer: &Writer) {
        let mirror = self.unattributed.mirror().filter(|_| writer.losses.mirror().is_none());
        writer.losses.take(|lost| {
            self.unattributed.restore(lost);
            if let Some(mirror) = mirror {
                mirror.add(lost.group, lost.cause, lost.count);
            }
            true
        });
        self.owner.note_counters(writer.id, None);
    }

    /// As [`Self::new_identity`], but waits for nobody, and none as well where all were used before
    /// and others keep asking.
    pub(super) fn new_identity_at_once(&self) -> Option<Identity> {
        const TRIES: usize = 100;
        let used = || self.used_identity(&mut *self.writers.try_lock().ok()?);
        let identity = used().or_else(|| self.unused_identity());
        identity.or_else(|| (0..TRIES).find_map(|_| used()))
    }

    fn unused_identity(&self) -> Option<Identity> {
        let most = self.max_writer_id();
        let next = |id| (id < most).then_some(id + 1);
        let last = self.last_id.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).ok()?;
        Some(Identity { id: last + 1, next_chunk: 0, floor: 0, messages: 0 })
    }

    /// Puts a writer on the list, unless the session is over: each writer holds the arbiter. Takes
    /// no lock, allocates nothing.
    pub(super) fn enlist(&self, writer: &Arc<Writer>) {
        let counters = (&writer.losses, &writer.completed_messages);
        self.owner.note_counters(writer.id, Some(counters));
        let new = Arc::into_raw(Arc::clone(writer)).cast_mut();
        let mut head = self.arrivals.load(Ordering::Acquire);
        while !self.is_stopped() && head != closed() {
            writer.below.store(head, Ordering::Relaxed);
            match self.arrivals.compare_exchange(head, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
        self.owner.note_counters(writer.id, None);
        // SAFETY: the pointer is that of the reference that was made here, which is not in the
        // list.
        drop(unsafe { Arc::from_raw(new) });
    }

    /// Moves arrivals to the list. After `end` none come any more.
    fn absorb(&self, writers: &mut Writers, end: *mut Writer) {
        let mut head = self.arrivals.load(Ordering::Relaxed);
        if head == closed() || head.is_null() && end.is_null() {
            return;
        }
        head = self.arrivals.swap(end, Ordering::AcqRel);
        let old = writers.live.len();
        while !head.is_null() {
            // SAFETY: *arrivals*: the caller holds the lock, and the list has a reference to each,
            // which is now this one.
            let writer = unsafe { Arc::from_raw(head) };
            head = writer.below.load(Ordering::Relaxed);
            writers.live.push(writer);
        }
        writers.live[old..].reverse();
    }

    /// Iterates over all writers of the locked list, those that have just arrived included.
    fn all<'a>(&self, writers: &'a Writers) -> impl Iterator<Item = &'a Writer> + use<'a> {
        let head = self.arrivals.load(Ordering::Acquire);
        let get = |at: *mut Writer| {
            let is_writer = !at.is_null() && at != closed();
            // SAFETY: *arrivals*: the list refers to the writer, and who borrows `writers` holds
            // the lock that it takes to end that.
            is_writer.then(|| unsafe { &*at })
        };
        let below = move |writer: &&'a Writer| get(writer.below.load(Ordering::Relaxed));
        writers.live.iter().map(|writer| &**writer).chain(std::iter::successors(get(head), below))
    }

    /// Takes the writers whose threads have ended off the list.
    pub(crate) fn take_ended(&self) -> Vec<Arc<Writer>> {
        let mut writers = self.writers();
        let all = std::mem::take(&mut writers.live);
        let (ended, live) = all.into_iter().partition(|writer| writer.has_ended());
        writers.live = live;
        ended
    }

    /// Forgets the writers whose threads have ended and whose chunks were all overwritten. A copy
    /// of the ring that somebody is about to write has chunks that are there no more, and refers to
    /// their writers.
    fn forget_overwritten(&self, writers: &mut Writers) {
        let Some(mut reader) = self.buffer.try_reader() else { return };
        // First, so that the search sees the last chunk of each of them.
        let ended = writers.live.iter().filter(|writer| writer.has_ended());
        let ended: HashSet<u16> = ended.map(|writer| writer.id).collect();
        let found: HashSet<u16> = reader.find(true).iter().map(|chunk| chunk.writer_id).collect();
        drop(reader);
        let free = &mut writers.free;
        writers.live.retain(|writer| {
            let is_overwritten = ended.contains(&writer.id)
                && !found.contains(&writer.id)
                && Arc::strong_count(writer) == 1;
            let Some(identity) = writer.identity().filter(|_| is_overwritten) else { return true };
            let count = identity.messages;
            self.unattributed.restore(LossCount::new(0, LossCause::Overwritten, count));
            self.owner.count_forgotten(writer.id, count);
            self.take_losses(writer);
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
        // In a forked child nobody frees anything.
        if self.pid != asked_id() {
            return None;
        }
        self.owner.wait_for_chunk(&self.buffer, &mut || self.buffer.acquire(layout, payload))
    }

    /// Takes back the chunks of idle threads, unless somebody else is at it or has looked a moment
    /// ago. Returns their number.
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
        let all = || self.all(&writers);
        reclaim(&self.buffer, all, |id, new, all| self.owner.count_messages(id, new, all))
    }

    /// Returns all writers.
    pub(crate) fn all_writers(&self) -> Vec<Arc<Writer>> {
        self.writers().live.clone()
    }

    /// Takes all writers off the list, to which none come any more.
    pub(crate) fn take_writers(&self) -> Vec<Arc<Writer>> {
        let mut writers = self.writers();
        self.absorb(&mut writers, closed());
        std::mem::take(&mut writers.live)
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

    /// Ends the recording for the writers: their next messages come out of line, and find that it
    /// is over.
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

    /// Marks the thread that reads the buffer as one that sleeps until somebody takes a chunk, or
    /// has a message suppressed or passed over. Returns false where somebody has one, might take
    /// one unnoticed, or there are such messages to report.
    pub(crate) fn begin_sleep(&self) -> bool {
        self.is_asleep.store(true, Ordering::Relaxed);
        // A thread that takes a chunk from now on sees the mark; an earlier taker is seen here.
        let is_asleep = !self.has_held_back()
            && barrier::heavy()
            && self.buffer.is_free()
            && !self.has_held_back();
        if !is_asleep {
            self.end_sleep();
        }
        is_asleep
    }

    /// Returns whether a writer has such messages that nobody has reported.
    fn has_held_back(&self) -> bool {
        self.writers().live.iter().any(|writer| writer.losses.has_held_back())
    }

    /// Takes the mark of [`Self::begin_sleep`] away.
    pub(crate) fn end_sleep(&self) {
        self.is_asleep.store(false, Ordering::Relaxed);
    }

    /// Wakes the thread that reads the buffer if it sleeps until somebody takes a chunk, as the
    /// caller just did.
    #[inline]
    pub(crate) fn wake_sleeper(&self) {
        // The barrier of `begin_sleep` keeps this load behind the step that took the chunk.
        light_barrier();
        if self.is_asleep.load(Ordering::Relaxed) {
            self.owner.wake();
        }
    }

    /// Wakes the thread that reads the buffer. Neither blocks nor allocates.
    pub(crate) fn wake(&self) {
        self.owner.wake();
    }

    fn writers(&self) -> LockedWriters<'_> {
        let guard = ReentrancyGuard::new();
        let mut writers = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        self.absorb(&mut writers, ptr::null_mut());
        LockedWriters { writers, _guard: guard }
    }
}

/// The end of a list of arrivals to which none may come. No writer has this address.
fn closed() -> *mut Writer {
    ptr::NonNull::dangling().as_ptr()
}
