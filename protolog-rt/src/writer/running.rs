//! The arbiters of this process that record.
//!
//! Threads look here only when the epoch says that something changed since they last looked.
//!
//! Invariants
//! - *epoch*: it changes with each start and stop, before any group's word tells of the start and after all words tell of
//!   the stop; then the limits of the other arbiters' writers are cleared, so that every thread looks again before it
//!   writes with what it knew.
//! - Messages that a signal handler logs on the thread that holds the lock do not wait for it: they count as nested.

use super::arbiter::Arbiter;
use super::{Writer, guarded};
use crate::level::{self, GroupInfo, set_session_levels};
use crate::loss::LossCause;
use crate::sync::{AtomicU32, Ordering, fence};
use crate::sys::barrier;
use crate::sys::fork::{ForkLock, Order};
use protolog_core::Level;
use std::sync::Arc;

/// All that record.
type Arbiters = Vec<Arc<Arbiter>>;

static RUNNING: ForkLock<Arbiters> = ForkLock::with_child(Order::Running, Vec::new(), abandon);
static EPOCH: AtomicU32 = AtomicU32::new(1);

/// Those with drop counters that outlive the process, for drops of threads without a sequence. Signal handlers only try the
/// lock.
static MIRRORED: ForkLock<Arbiters> = ForkLock::with_child(Order::Mirrored, Vec::new(), forget);

/// Returns a number that changes whenever a session starts or stops.
pub(crate) fn epoch() -> u32 {
    EPOCH.load(Ordering::Acquire)
}

/// Returns the epoch, and the arbiters that record since then.
pub(super) fn all() -> (u32, Vec<Arc<Arbiter>>) {
    let running = RUNNING.lock();
    (epoch(), running.clone())
}

/// Starts recording, for all threads of the process.
pub(crate) fn add(arbiter: Arc<Arbiter>) {
    guarded(|| {
        if arbiter.owner.mirror().is_some() {
            MIRRORED.lock().push(Arc::clone(&arbiter));
        }
        level::register_lock();
        let mut running = RUNNING.lock();
        running.push(arbiter);
        announce(&running);
        set_levels(&running);
    });
    level::notify_change();
}

/// Stops recording, for all threads of the process; those that are within a message may finish it.
pub(crate) fn remove(arbiter: &Arc<Arbiter>) {
    guarded(|| {
        let mut running = RUNNING.lock();
        running.retain(|other| !Arc::ptr_eq(other, arbiter));
        set_levels(&running);
        announce(&running);
    });
    level::notify_change();
}

/// Stops counting drops of threads without a sequence in the arbiter's mirror.
pub(crate) fn end_mirror(arbiter: &Arc<Arbiter>) {
    MIRRORED.lock().retain(|other| !Arc::ptr_eq(other, arbiter));
}

/// Counts a message of a thread without a sequence as dropped, in the mirrors of those that record it. Safe in signal
/// handlers.
pub(super) fn count_in_mirrors(group: &'static GroupInfo, level: Level, cause: LossCause) {
    let Some(mirrored) = MIRRORED.try_read() else { return };
    for arbiter in mirrored.iter().filter(|arbiter| arbiter.is_enabled(group, level)) {
        if let Some(mirror) = arbiter.unattributed.mirror() {
            mirror.add(group.id, cause, 1);
        }
    }
}

/// Returns the levels (bit = severity) that may be recorded of a group that is not known yet.
#[cfg(feature = "log")]
pub(crate) fn levels_of_any_group() -> u8 {
    let levels = |arbiter: &Arc<Arbiter>| arbiter.owner.levels_of_any_group();
    guarded(|| RUNNING.lock().iter().map(levels).fold(0, |all, levels| all | levels))
}

/// Returns whether no writer but `writer` is within a message, after a barrier on all threads. False where that can't be told
/// at once; allocates nothing, waits for nobody. Writers of a session that has ended are not asked: what they still finish is
/// in another trace than what `writer` writes.
pub(super) fn is_alone(writer: &Writer) -> bool {
    guarded(|| {
        let Some(running) = RUNNING.try_lock() else { return false };
        barrier::is_ready()
            && running.iter().all(|arbiter| arbiter.has_few_writers())
            && barrier::heavy()
            && running.iter().all(|arbiter| arbiter.is_quiet_but_for(writer))
    })
}

/// Runs `f` while `arbiter` is among those that record, without reporting the change to threads.
#[cfg(test)]
pub(super) fn beside<R>(arbiter: &Arc<Arbiter>, f: impl FnOnce() -> R) -> R {
    struct Remove<'a>(&'a Arc<Arbiter>);
    impl Drop for Remove<'_> {
        fn drop(&mut self) {
            guarded(|| RUNNING.lock().retain(|other| !Arc::ptr_eq(other, self.0)));
        }
    }
    guarded(|| RUNNING.lock().push(Arc::clone(arbiter)));
    let _remove = Remove(arbiter);
    f()
}

/// Makes every thread look again.
fn announce(running: &Arbiters) {
    EPOCH.fetch_add(1, Ordering::AcqRel);
    fence(Ordering::SeqCst);
    for arbiter in running {
        arbiter.close_writers();
    }
}

/// Makes the groups' words say which levels anybody records.
fn set_levels(running: &Arbiters) {
    let running = running.clone();
    set_session_levels(move |group: &'static GroupInfo| {
        running.iter().fold(0, |levels, arbiter| {
            arbiter.owner.add_group();
            levels | arbiter.enabled_levels(group)
        })
    });
}

/// In a forked child recording is the parent's, and over.
fn abandon(running: &mut Arbiters) {
    let running = std::mem::take(running);
    for arbiter in &running {
        arbiter.abandon();
    }
    // Dropping them might wait for somebody.
    std::mem::forget(running);
    EPOCH.fetch_add(1, Ordering::AcqRel);
}

/// In a forked child the mirrors are the parent's.
fn forget(mirrored: &mut Arbiters) {
    std::mem::forget(std::mem::take(mirrored));
}
