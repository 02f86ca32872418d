//! The arbiters of this process that record.
//!
//! Threads look here only when the epoch says that something changed since they last looked. A
//! known thread looks without a lock, at a list that each start or stop of a session publishes. A
//! lock could deadlock: the message may be a signal handler's, and the lock's holder may wait for
//! the allocator, which the handler's thread has.
//!
//! Invariants
//! - *published*: [`CURRENT`] is null or an `Arc`'s pointer. A list that was replaced is dropped
//!   when no thread that may have its address is left: [`READERS`] was 0 after the exchange.
//! - *epoch*: it changes with each start and stop, before any group's word tells of the start and
//!   after all words tell of the stop. Then the limits of the other arbiters' writers are cleared,
//!   so that every thread looks again before it writes with its old list. A change of the epoch is
//!   one of the generation of rules, too, after it.
//! - Messages that a signal handler logs on the thread that holds the lock do not wait for it: they
//!   count as nested.

use super::arbiter::Arbiter;
use super::owner::Event;
use super::spares::{self, Spares};
use super::{Writer, guarded};
use crate::level::{self, GroupInfo, SessionUse, rules, set_session_levels};
use crate::loss::Unwritten;
use crate::sync::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
use crate::sys::barrier;
use crate::sys::fork::{ForkLock, Order};
use crate::sys::once::ForkOnce;
use protolog_core::Level;
use std::ptr;
use std::sync::Arc;

/// An arbiter that records, and its spare routes for the threads that may come.
#[derive(Clone, Debug)]
pub(super) struct RunningArbiter {
    pub(super) arbiter: Arc<Arbiter>,
    pub(super) spares: Arc<Spares>,
}

/// All that record.
type RunningArbiters = Vec<RunningArbiter>;

/// The state that starts and stops change.
#[derive(Debug)]
struct Running {
    arbiters: RunningArbiters,
    /// Lists that were replaced while somebody may have read them.
    replaced: Vec<Arc<RunningArbiters>>,
}

static RUNNING: ForkLock<Running> = ForkLock::with_child(
    Order::Running,
    Running { arbiters: Vec::new(), replaced: Vec::new() },
    abandon,
);
static EPOCH: AtomicU32 = AtomicU32::new(1);

/// The list as threads read it; null before the first start.
static CURRENT: AtomicPtr<RunningArbiters> = AtomicPtr::new(ptr::null_mut());

/// The number of threads that read the list; in the upper half, the number of forks between this
/// process and the first.
static READERS: AtomicU64 = AtomicU64::new(0);
const FORKS_SHIFT: u32 = 32;

/// The number of known threads, or more.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// Those with drop counters that outlive the process, for drops of threads without a sequence.
/// Signal handlers only try the lock.
static MIRRORED: ForkLock<Vec<Arc<Arbiter>>> =
    ForkLock::with_child(Order::Mirrored, Vec::new(), forget);

/// True in a forked child whose parent records, until its first message that the parent's sessions
/// would record.
static IS_FORKED: AtomicBool = AtomicBool::new(false);

/// The function for that message. It returns whether the child's own sessions record now.
static ON_FORK: ForkOnce<fn() -> bool> = ForkOnce::new();

/// Sets the function that the first message of a forked child runs, which the parent's sessions
/// would record. There is one. Other threads may run it at the same time.
pub(crate) fn on_first_message_of_child(function: fn() -> bool) {
    let _ = ON_FORK.set(function);
}

/// Runs that function, if this was that message. Returns whether sessions may have started since
/// the thread looked at `epoch`, so that the message may be for them.
#[cold]
pub(super) fn find_out_fork(epoch_seen: u32) -> bool {
    if IS_FORKED.load(Ordering::Acquire) && ON_FORK.get().is_some_and(|function| function()) {
        return true;
    }
    epoch_seen != epoch()
}

/// Ends the search for the first message of a forked child. True for one caller in such a child.
pub(crate) fn end_search() -> bool {
    IS_FORKED.swap(false, Ordering::Relaxed)
}

/// Switches all levels off for sessions, if none runs.
pub(crate) fn switch_off() {
    guarded(|| {
        level::register_lock();
        let running = RUNNING.lock();
        if running.arbiters.is_empty() {
            set_levels(&running.arbiters);
        }
    });
    level::notify_change();
}

/// Returns a number that changes whenever a session starts or stops.
pub(crate) fn epoch() -> u32 {
    EPOCH.load(Ordering::Acquire)
}

/// Returns the number of forks between this process and the first one that recorded.
#[inline]
pub(crate) fn forks() -> u32 {
    (READERS.load(Ordering::Relaxed) >> FORKS_SHIFT) as u32
}

/// Calls `f` with an epoch, and with the arbiters that record since then or later. Takes no lock.
pub(super) fn with_current<R>(f: impl FnOnce(u32, &[RunningArbiter]) -> R) -> R {
    // Before the list, so that a thread that reads an old one looks again.
    let epoch = epoch();
    let _reading = ReadMark::enter();
    // SAFETY: *published*: whoever replaces the list sees the reader, or the reader sees the new
    // list.
    let current = unsafe { CURRENT.load(Ordering::SeqCst).as_ref() };
    f(epoch, current.map_or(&[], Vec::as_slice))
}

/// The mark of a thread that reads the list, made after so many forks.
struct ReadMark(u64);

impl ReadMark {
    fn enter() -> Self {
        Self(READERS.fetch_add(1, Ordering::SeqCst) >> FORKS_SHIFT)
    }
}

impl Drop for ReadMark {
    fn drop(&mut self) {
        // A child does not count the readers from before the fork.
        let left = |now: u64| (now >> FORKS_SHIFT == self.0).then(|| now - 1);
        let _ = READERS.fetch_update(Ordering::SeqCst, Ordering::Relaxed, left);
    }
}

/// Makes the calling thread known, so that sessions that start have a spare for it, and calls `f`
/// with the epoch and the arbiters that record.
pub(super) fn join(f: impl FnOnce(u32, &[RunningArbiter])) {
    spares::free_retired();
    let running = RUNNING.lock();
    THREADS.fetch_add(1, Ordering::Relaxed);
    f(epoch(), &running.arbiters);
}

/// Counts a known thread as gone.
pub(super) fn leave() {
    THREADS.fetch_sub(1, Ordering::Relaxed);
    spares::free_retired();
}

impl Running {
    /// Publishes the list.
    fn publish(&mut self) {
        let list = Arc::into_raw(Arc::new(self.arbiters.clone())).cast_mut();
        let before = CURRENT.swap(list, Ordering::SeqCst);
        if !before.is_null() {
            // SAFETY: *published*: it was an `Arc`'s, which is now this one.
            self.replaced.push(unsafe { Arc::from_raw(before) });
        }
    }

    /// Returns the replaced lists that nobody reads, to be dropped without a lock.
    fn take_unread(&mut self) -> Vec<Arc<RunningArbiters>> {
        let is_read = READERS.load(Ordering::SeqCst) as u32 != 0;
        if is_read { Vec::new() } else { std::mem::take(&mut self.replaced) }
    }
}

/// Starts recording, for all threads of the process, in all rings of the session.
pub(crate) fn add(arbiter: &Arc<Arbiter>) {
    guarded(|| {
        if arbiter.owner.mirror().is_some() {
            MIRRORED.lock().extend(arbiter.rings().cloned());
        }
        level::register_lock();
        let mut running = RUNNING.lock();
        // No thread becomes known meanwhile.
        for arbiter in arbiter.rings().cloned() {
            let spares = Arc::new(Spares::new(&arbiter, THREADS.load(Ordering::Relaxed)));
            running.arbiters.push(RunningArbiter { arbiter, spares });
        }
        announce(&mut running);
        // A thread that sees this sees the new epoch.
        IS_FORKED.store(false, Ordering::Release);
        set_levels(&running.arbiters);
        free(running.take_unread(), running);
    });
    level::notify_change();
}

/// Returns whether an arbiter records.
pub(crate) fn has(arbiter: &Arc<Arbiter>) -> bool {
    guarded(|| RUNNING.lock().arbiters.iter().any(|one| Arc::ptr_eq(&one.arbiter, arbiter)))
}

/// Stops recording, for all threads of the process; those that are within a message may finish it.
pub(crate) fn remove(arbiter: &Arc<Arbiter>) {
    guarded(|| {
        let mut running = RUNNING.lock();
        running.arbiters.retain(|other| !other.arbiter.is_of(arbiter));
        set_levels(&running.arbiters);
        announce(&mut running);
        free(running.take_unread(), running);
    });
    level::notify_change();
}

/// Starts recording with `new` in the place of `old`, for all threads of the process: a message
/// goes to one of the two. Those that are within a message may finish it.
pub(crate) fn replace(old: &Arc<Arbiter>, new: Arc<Arbiter>) {
    guarded(|| {
        level::register_lock();
        let mut running = RUNNING.lock();
        let spares = Arc::new(Spares::new(&new, THREADS.load(Ordering::Relaxed)));
        running.arbiters.retain(|other| !Arc::ptr_eq(&other.arbiter, old));
        running.arbiters.push(RunningArbiter { arbiter: new, spares });
        // First, so that `new` gets nothing that it does not enable.
        set_levels(&running.arbiters);
        announce(&mut running);
        // They look again, too, and find themselves gone.
        old.close_writers();
        free(running.take_unread(), running);
    });
    level::notify_change();
}

/// Frees lists, and routes that threads are done with, once `lock` is released.
fn free(lists: Vec<Arc<RunningArbiters>>, lock: impl Sized) {
    drop(lock);
    drop(lists);
    spares::free_retired();
}

/// Stops counting drops of threads without a sequence in the arbiter's mirror.
pub(crate) fn end_mirror(arbiter: &Arc<Arbiter>) {
    MIRRORED.lock().retain(|other| !other.is_of(arbiter));
}

/// Counts a message of a thread without a sequence as dropped, in the mirrors of those that record
/// it. Safe in signal handlers.
pub(super) fn count_in_mirrors(group: &'static GroupInfo, level: Level, cause: Unwritten) {
    let Some(mirrored) = MIRRORED.try_read() else { return };
    // Losses of a chosen session are counted by its threads.
    let of_process = mirrored.iter().filter(|arbiter| !arbiter.is_scoped());
    for arbiter in of_process.filter(|arbiter| arbiter.is_enabled(group, level)) {
        if let Some(mirror) = arbiter.unattributed.mirror() {
            mirror.add(group.id, cause, 1);
        }
    }
}

/// Returns the levels (bit = severity) that may be recorded of a group that is not known yet.
#[cfg(feature = "log")]
pub(crate) fn levels_of_any_group() -> u8 {
    let levels = |running: &RunningArbiter| running.arbiter.owner.levels_of_any_group();
    guarded(|| RUNNING.lock().arbiters.iter().map(levels).fold(0, |all, levels| all | levels))
}

/// Returns whether no writer but `writer` is within a message, after a barrier on all threads.
/// False where that can't be told at once; allocates nothing, waits for nobody. Writers of a
/// session that has ended are not asked: the messages that they still finish are in another trace
/// than those of `writer`.
pub(super) fn is_alone(writer: &Writer) -> bool {
    guarded(|| {
        let Some(running) = RUNNING.try_lock() else { return false };
        barrier::is_ready()
            && running.arbiters.iter().all(|running| running.arbiter.has_few_writers())
            && barrier::heavy()
            && running.arbiters.iter().all(|running| running.arbiter.is_quiet_but_for(writer))
    })
}

/// Runs `f` while `arbiter` is among those that record, without reporting the change to threads.
#[cfg(test)]
pub(super) fn beside<R>(arbiter: &Arc<Arbiter>, f: impl FnOnce() -> R) -> R {
    struct Remove<'a>(&'a Arc<Arbiter>);
    impl Drop for Remove<'_> {
        fn drop(&mut self) {
            guarded(|| {
                RUNNING.lock().arbiters.retain(|other| !Arc::ptr_eq(&other.arbiter, self.0));
            });
        }
    }
    let spares = Arc::new(Spares::new(arbiter, 0));
    let new = RunningArbiter { arbiter: Arc::clone(arbiter), spares };
    guarded(|| RUNNING.lock().arbiters.push(new));
    let _remove = Remove(arbiter);
    f()
}

/// Makes every thread look again.
fn announce(running: &mut Running) {
    running.publish();
    EPOCH.fetch_add(1, Ordering::AcqRel);
    rules::forget_calls();
    fence(Ordering::SeqCst);
    for RunningArbiter { arbiter, .. } in &running.arbiters {
        arbiter.close_writers();
    }
}

/// Reports a message of a watched level to those that record it. Takes no lock.
#[cold]
pub(crate) fn report_watched(id: u64, group: &'static GroupInfo, level: Level) {
    let event = Event::Message { id, group: group.name, level: 1 << level.severity() };
    with_current(|_, all| {
        let recording = sessions(all).filter(|one| one.arbiter.is_enabled_in_session(group, level));
        recording.for_each(|one| _ = one.arbiter.owner.note_event(event));
    });
}

/// Reports a message that a rule has all sessions record to all of them. Takes no lock.
#[cold]
pub(crate) fn report_to_all(id: u64, group: &'static GroupInfo, level: Level) {
    report_event(Event::Message { id, group: group.name, level: 1 << level.severity() });
}

/// Reports an event to all. Returns of how many something comes. Takes no lock.
pub(crate) fn report_event(event: Event<'_>) -> usize {
    with_current(|_, all| sessions(all).filter(|one| one.arbiter.owner.note_event(event)).count())
}

/// Iterates over sessions, each of which may have a pinned ring beside its arbiter.
fn sessions(all: &[RunningArbiter]) -> impl Iterator<Item = &RunningArbiter> {
    all.iter().filter(|one| !one.arbiter.is_pinned())
}

/// Makes the groups' words say which levels anybody records.
fn set_levels(running: &RunningArbiters) {
    level::set_recording(!running.is_empty());
    let running: Vec<_> = running.iter().map(|one| Arc::clone(&one.arbiter)).collect();
    set_session_levels(move |group: &'static GroupInfo| {
        running.iter().fold(SessionUse::default(), |all, arbiter| {
            // In a forked child it is the parent's, and so is its recording.
            if !arbiter.is_stopped() {
                arbiter.owner.add_group();
            }
            let enabled = arbiter.enabled_levels(group);
            let watched = arbiter.owner.watched_levels(group.name) & enabled;
            let pinned = arbiter.pinned_levels(group);
            SessionUse {
                recorded: all.recorded | enabled,
                watched: all.watched | watched | pinned,
                pinned: all.pinned | pinned,
            }
        })
    });
}

/// In a forked child recording is the parent's, and over.
fn abandon(running: &mut Running) {
    let arbiters = std::mem::take(&mut running.arbiters);
    // A child of a child that has said nothing yet has the same parent's levels.
    IS_FORKED.fetch_or(!arbiters.is_empty(), Ordering::Relaxed);
    for RunningArbiter { arbiter, .. } in &arbiters {
        arbiter.abandon();
    }
    // Dropping any of them might wait for somebody. So the levels of groups, which refer to them,
    // can be dropped.
    std::mem::forget(arbiters);
    std::mem::forget(std::mem::take(&mut running.replaced));
    CURRENT.store(ptr::null_mut(), Ordering::Relaxed);
    spares::forget_retired();
    let forks = (READERS.load(Ordering::Relaxed) >> FORKS_SHIFT) + 1;
    READERS.store(forks << FORKS_SHIFT, Ordering::Relaxed);
    // The child's one thread, if it is known.
    THREADS.store(1, Ordering::Relaxed);
    EPOCH.fetch_add(1, Ordering::AcqRel);
}

/// In a forked child the mirrors are the parent's.
fn forget(mirrored: &mut Vec<Arc<Arbiter>>) {
    std::mem::forget(std::mem::take(mirrored));
}
