//! What a running session and its writers share.
//!
//! Invariants
//! - *stop*: once `stopped` is set or the epoch changed, every registered writer's limit is 0 or becomes 0 before its next
//!   message, because who changes them clears the limits after it, and a writer that sets its limit looks at both after
//!   it, with a full fence between on both sides.
//! - A writer id belongs to one writer at a time; ids that were used before are used again last, and go on from their
//!   last chunk id and time.

use super::config::Wanted;
use super::counts::Counts;
use super::dictionary::Dictionary;
use super::kept;
use super::recorder::Recorder;
use super::room::Room;
use super::stream::Requests;
use crate::clock;
use crate::level::GroupInfo;
use crate::loss::{Counted, LossCause, Losses, Mark, Mirror};
use crate::shmem::buffer::{Buffer, Chunk};
use crate::stats::{self, Summary};
use crate::sync::{AtomicBool, AtomicU64, Ordering, fence};
use crate::sys::barrier;
use crate::writer::reclaim::{LOOK_NANOS, reclaim};
use crate::writer::{Aside, STRAYS, Writer};
use protolog_core::chunk::{MAX_WRITER_ID, PageLayout};
use protolog_core::{FillPolicy, Level};
use std::collections::{HashSet, VecDeque};
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Thread;
use std::time::Duration;

/// How long is waited for what was committed to be in the file, where that is only asked about.
const FLUSH: Duration = Duration::from_secs(1);

/// So many writers somebody who logs can look at: each may be a line that another processor has.
const FEW: usize = 64;

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
    /// What the trace is made of.
    pub(crate) fill_policy: FillPolicy,
    /// When the session started, in nanoseconds of BOOTTIME.
    pub(super) started: u64,
    /// Losses of before the session.
    pub(super) before: Mark,
    /// Who waits for a chunk.
    pub(super) room: Room,
    /// The file that the buffer is in, if it is in one.
    pub(crate) recorder: Option<Arc<Recorder>>,
    path: Option<PathBuf>,
    /// Held by whoever reads a buffer that keeps something.
    pub(super) reader: Mutex<()>,
    pub(super) wanted: Wanted,
    known: Known,
    stopped: AtomicBool,
    /// Whether a buffer that keeps the first messages is full.
    full: AtomicBool,
    writers: Mutex<Writers>,
    drain: OnceLock<Drain>,
}

/// What is wanted of the groups that were asked for first, so that most answers need no comparing of names.
#[derive(Debug)]
struct Known([AtomicU64; 128]);

#[derive(Debug, Default)]
struct Writers {
    live: Vec<Arc<Writer>>,
    /// With so many, those that ended and left nothing in a buffer that keeps something are forgotten.
    forget_at: usize,
    last_id: u16,
    free: VecDeque<Identity>,
    /// When somebody last looked for idle chunks, in nanoseconds of BOOTTIME.
    looked: u64,
}

/// The lock on the writers; a signal handler does not wait for the thread that it interrupted.
struct Locked<'a> {
    writers: MutexGuard<'a, Writers>,
    // After the lock, in this order.
    _aside: Aside,
}

impl Deref for Locked<'_> {
    type Target = Writers;

    fn deref(&self) -> &Writers {
        &self.writers
    }
}

impl DerefMut for Locked<'_> {
    fn deref_mut(&mut self) -> &mut Writers {
        &mut self.writers
    }
}

/// The thread that makes a file of the buffer.
#[derive(Debug)]
struct Drain {
    thread: Thread,
    requests: Arc<Requests>,
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
    /// Messages so far.
    pub(crate) messages: u64,
}

impl Core {
    /// The shared part of a session that runs.
    pub(crate) fn new(
        buffer: Buffer,
        max_text: usize,
        wanted: Wanted,
        fill_policy: FillPolicy,
    ) -> Self {
        Self {
            buffer,
            max_text,
            pid: std::process::id(),
            totals: Losses::new(),
            strays: Losses::new(),
            fill_policy,
            started: clock::boottime(),
            before: STRAYS.mark(),
            room: Room::new(None),
            recorder: None,
            path: None,
            reader: Mutex::new(()),
            wanted,
            known: Known([const { AtomicU64::new(0) }; 128]),
            stopped: AtomicBool::new(false),
            full: AtomicBool::new(false),
            writers: Mutex::default(),
            drain: OnceLock::new(),
        }
    }

    /// The same, with messages that wait for room.
    pub(super) fn with_patience(self, patience: Option<Duration>) -> Self {
        Self { room: Room::new(patience), ..self }
    }

    /// The same, with its buffer in the file of `recorder`.
    pub(super) fn recorded(self, recorder: Arc<Recorder>) -> Self {
        let strays = Losses::mirrored(Some(Arc::clone(&recorder) as Arc<dyn Mirror>));
        Self { strays, recorder: Some(recorder), ..self }
    }

    /// Counters for the losses of a writer.
    pub(crate) fn losses(&self) -> Losses {
        let mirror = self.recorder.as_ref().map(|recorder| Arc::clone(recorder) as Arc<dyn Mirror>);
        Losses::mirrored(mirror)
    }

    /// The levels (bit = severity) that the session wants of a group.
    pub(crate) fn levels(&self, group: &'static GroupInfo) -> u8 {
        self.known.levels(group, || self.wanted.levels(group.name))
    }

    /// Whether the session wants messages of a group at a level.
    pub(crate) fn wants(&self, group: &'static GroupInfo, level: Level) -> bool {
        self.levels(group) & 1 << level.severity() != 0
    }

    /// Whether the session wants stack traces with messages of a group.
    pub(crate) fn wants_stack(&self, group: &GroupInfo) -> bool {
        self.wants_stacks() && self.wanted.wants_stack(group.name)
    }

    /// Whether the session wants any stack traces.
    pub(crate) fn wants_stacks(&self) -> bool {
        self.wanted.wants_stacks()
    }

    /// Makes a writer known; none where there are as many as can be told apart.
    pub(crate) fn register(
        &self,
        make: impl FnOnce(Identity) -> Arc<Writer>,
    ) -> Option<Arc<Writer>> {
        let mut writers = self.writers();
        if self.fill_policy != FillPolicy::Stream && writers.live.len() >= writers.forget_at.max(64)
        {
            self.forget_gone(&mut writers);
        }
        let identity = if writers.last_id < MAX_WRITER_ID {
            writers.last_id += 1;
            Identity { id: writers.last_id, next_chunk: 0, floor: 0, messages: 0 }
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

    /// Forgets the writers whose threads have ended and whose chunks were all overwritten.
    fn forget_gone(&self, writers: &mut Writers) {
        let Ok(_reader) = self.reader.try_lock() else { return };
        let found: HashSet<u16> =
            self.buffer.find_pinned().iter().map(|found| found.writer_id).collect();
        let free = &mut writers.free;
        writers.live.retain(|writer| {
            let Some(identity) = writer.identity().filter(|_| !found.contains(&writer.id)) else {
                return true;
            };
            let (cause, count) = (LossCause::Overwritten, identity.messages);
            self.strays.put_back(Counted { group: 0, cause, count });
            if let Some(recorder) = &self.recorder {
                recorder.forget(writer.id, count);
            }
            writer.losses.take(|lost| {
                self.strays.put_back(lost);
                true
            });
            free.push_back(Identity { messages: 0, ..identity });
            false
        });
        writers.forget_at = 2 * writers.live.len();
    }

    /// What was written and lost so far; of a file that is written all the time, after what waits for it is in it.
    pub(crate) fn so_far(&self) -> Summary {
        let (mut summary, mut told) = (Summary::default(), Vec::new());
        let mut unwritten = Counts::default();
        if self.pid != std::process::id() {
            // A forked child: it is the parent's, whose locks may be held.
            return summary;
        }
        let counts = if let Some(drain) = self.drain.get() {
            drain.requests.flush_within(FLUSH, || self.wake());
            let so_far = drain.requests.so_far();
            (summary.messages, summary.bytes, told) = (so_far.messages, so_far.bytes, so_far.told);
            (summary.groups, unwritten) = (so_far.whole, so_far.lost);
            so_far.counts
        } else {
            let told = |writer: Arc<Writer>| writer.told.load(Ordering::Relaxed);
            summary.messages = self.all().into_iter().map(told).sum();
            kept::count(self)
        };
        let live = self.all();
        let own = live.iter().flat_map(|writer| writer.losses.standing());
        let losses = own.chain(self.totals.standing()).chain(self.strays.standing());
        let dictionary = Dictionary::known();
        summary.losses =
            dictionary.losses(losses.chain(told).chain(dictionary.unwritten(&unwritten)));
        // The losses of files before this one are among them.
        summary.groups.iter_mut().for_each(|group| group.losses.clear());
        summary.add_groups(dictionary.groups(&counts, &summary.losses));
        summary.buffer = stats::of_buffer(&self.buffer);
        summary
    }

    /// The file that the session writes, now or in the end; none where it only records.
    pub(crate) fn path(&self) -> Option<&Path> {
        let recording = || self.recorder.as_ref().map(|recorder| recorder.path());
        self.path.as_deref().or_else(recording)
    }

    /// The same, with this as the file that it writes.
    pub(super) fn with_path(self, path: Option<PathBuf>) -> Self {
        Self { path, ..self }
    }

    /// A chunk for a writer, until there was none for one.
    pub(crate) fn acquire_first(&self, layout: PageLayout, payload: usize) -> Option<Chunk> {
        if self.full.load(Ordering::Relaxed) {
            return None;
        }
        let chunk = self.buffer.acquire(layout, payload);
        if chunk.is_none() {
            self.full.store(true, Ordering::Relaxed);
        }
        chunk
    }

    /// A chunk for a writer, as soon as there is one, where the session lets it wait for one.
    pub(crate) fn acquire_late(&self, layout: PageLayout, payload: usize) -> Option<Chunk> {
        // A forked child has nobody who frees anything.
        if !self.room.is_patient() || self.pid != std::process::id() {
            return None;
        }
        self.wake();
        self.room.wait(&self.buffer, || self.buffer.acquire(layout, payload))
    }

    /// Tells those who wait for a chunk that some were freed.
    pub(crate) fn announce_freed(&self) {
        self.room.announce();
    }

    /// Takes back the chunks of idle threads, unless somebody else is at it, or has looked a moment ago. How many they are.
    pub(crate) fn reclaim(&self) -> usize {
        if !barrier::is_ready() {
            return 0;
        }
        let _aside = Aside::new();
        let Ok(mut writers) = self.writers.try_lock() else { return 0 };
        let now = clock::boottime();
        if now < writers.looked + LOOK_NANOS {
            return 0;
        }
        writers.looked = now;
        reclaim(&self.buffer, &writers.live, |id, new, all| {
            self.recorder.iter().for_each(|recorder| recorder.tell(id, new, all));
        })
    }

    /// Whether it takes no time to look at all writers; false where somebody has the list.
    pub(super) fn has_few_writers(&self) -> bool {
        self.writers.try_lock().is_ok_and(|writers| writers.live.len() <= FEW)
    }

    /// Whether no writer but this one is within a message; false where somebody has the list.
    pub(crate) fn is_quiet_but_for(&self, writer: &Writer) -> bool {
        let Ok(writers) = self.writers.try_lock() else { return false };
        writers.live.iter().all(|other| ptr::eq(&raw const **other, writer) || !other.is_busy())
    }

    /// All writers.
    pub(super) fn all(&self) -> Vec<Arc<Writer>> {
        self.writers().live.clone()
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

    /// In a forked child: the session is the parent's.
    pub(super) fn abandon(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    /// Ends the session for its writers, and gives them a moment to finish what they are at.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        fence(Ordering::SeqCst);
        let writers = self.close_writers();
        self.room.clear();
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

    /// Makes the session's thread write what is committed, and waits for it, unless this is that thread.
    pub(super) fn flush_within(&self, limit: Duration) {
        let Some(drain) = self.drain.get() else { return };
        if drain.thread.id() != std::thread::current().id() {
            drain.requests.flush_within(limit, || self.wake());
        }
    }

    /// Says which thread reads the buffer.
    pub(super) fn set_drain(&self, thread: Thread, requests: Arc<Requests>) {
        let _ = self.drain.set(Drain { thread, requests });
    }

    /// Wakes the thread that reads the buffer. Neither blocks nor allocates.
    pub(crate) fn wake(&self) {
        if let Some(drain) = self.drain.get() {
            drain.thread.unpark();
        }
    }

    fn writers(&self) -> Locked<'_> {
        let aside = Aside::new();
        let writers = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        Locked { writers, _aside: aside }
    }
}

impl Known {
    /// What was answered for this group before, or now is.
    fn levels(&self, group: &'static GroupInfo, answer: impl FnOnce() -> u8) -> u8 {
        // Addresses leave the upper byte of a word free.
        const ADDRESS: u64 = u64::MAX >> 8;
        let address = ptr::from_ref(group).addr() as u64 & ADDRESS;
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
