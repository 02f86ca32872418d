//! Sessions of chosen threads: which of them the calling thread is in.
//!
//! A session of the process records every thread. A session of chosen threads
//! ([`Builder::this_thread`](crate::Builder::this_thread)) records those that have entered it: the
//! one that started it, and each that a handle adds ([`ThreadScope`]). Tests log like this, side by
//! side in one process.
//!
//! ```text
//! group's word      the union of what all sessions record, of any threads: a call tests it as ever
//! thread's routes   sessions of the process, and those that the thread has entered: the others get nothing from it
//! ```
//!
//! The list of entered sessions is the thread's own, and is read where a thread follows the list of
//! running sessions, out of line. So nothing is new on the way of a message, and nothing is shared
//! between threads. The consequences:
//!
//! - *one* of [`super::thread_state`] needs more than one route: while any other session runs, be
//!   it one of other threads, a group's word says more than the one writer's session records. So
//!   only a thread whose one route leads to the only running session writes to it directly; else
//!   each message is compared with the filter, as with several sessions.
//! - A start closes the writers of all sessions before any word tells of it, as ever, so no thread
//!   writes directly meanwhile.
//! - A thread enters before its session starts, or leaves the phase `READY` when it enters one that
//!   runs: then it looks again.
//! - Drops of threads without a sequence are counted in each session that the thread has entered.
//!   Those of a thread that has ended are no chosen session's: it has forgotten which it entered.
//!
//! Invariants: entering may allocate, like a thread's first message; nothing else here does, nor
//! takes a lock. An entry of a session that has ended is removed when the thread enters or ends
//! another one.

use super::arbiter::Arbiter;
use super::guarded;
use super::routes::{ThreadRoutes, look_again};
use super::thread_state::{EXITED, ThreadState};
use crate::level::GroupInfo;
use crate::loss::Unwritten;
use protolog_core::Level;
use std::cell::Cell;
use std::sync::{Arc, Weak};

thread_local! {
    /// True once the thread has entered a session. Without a destructor, so that signal handlers
    /// may ask it first.
    static HAS_ENTERED: Cell<bool> = const { Cell::new(false) };
}

/// Adds threads to a session of chosen threads
/// ([`Builder::this_thread`](crate::Builder::this_thread)).
///
/// It does not keep the session from ending. For a session of the whole process it does nothing.
#[derive(Clone, Debug)]
pub struct ThreadScope(Weak<Arbiter>);

// As for a session.
impl std::panic::UnwindSafe for ThreadScope {}
impl std::panic::RefUnwindSafe for ThreadScope {}

impl ThreadScope {
    /// Makes the handle of a session.
    pub(crate) fn new(arbiter: &Arc<Arbiter>) -> Self {
        Self(Arc::downgrade(arbiter))
    }

    /// Adds the calling thread to the session, until one of them ends. Allocates, so a signal
    /// handler should not call it.
    ///
    /// ```
    /// # use protolog_rt::{ProtoLogGroup, Session};
    /// # #[derive(ProtoLogGroup)]
    /// # enum AppLog { Net }
    /// # let path = std::env::temp_dir().join(format!("protolog-enter-{}.pftrace", std::process::id()));
    /// let session = Session::builder().file(&path).enable_all().this_thread().start()?;
    /// let scope = session.thread_scope();
    /// std::thread::spawn(move || {
    ///     protolog_rt::d!(AppLog::Net, "not recorded");
    ///     scope.enter();
    ///     protolog_rt::d!(AppLog::Net, "recorded");
    /// })
    /// .join()
    /// .unwrap();
    /// assert_eq!(session.stop()?.messages, 1);
    /// # std::fs::remove_file(path).ok();
    /// # Ok::<(), protolog_rt::Error>(())
    /// ```
    pub fn enter(&self) {
        if let Some(arbiter) = self.0.upgrade().filter(|arbiter| !arbiter.is_stopped()) {
            enter(&arbiter);
        }
    }
}

/// Adds the calling thread to a session of chosen threads. Does nothing for other sessions, and in
/// a thread that has ended.
pub(crate) fn enter(arbiter: &Arc<Arbiter>) {
    if arbiter.is_scoped() && ThreadState::with(ThreadState::phase) != EXITED {
        HAS_ENTERED.set(true);
        change(Some(arbiter));
        look_again();
    }
}

/// Forgets sessions that have ended.
pub(crate) fn forget_ended() {
    if HAS_ENTERED.get() {
        change(None);
    }
}

fn change(new: Option<&Arc<Arbiter>>) {
    guarded(|| {
        let ended = ThreadRoutes::with(|thread| thread.entered.change(new));
        drop(ended);
    });
}

/// Counts a message as dropped that has no sequence, in the sessions that the thread has entered
/// and that record it. Safe in signal handlers.
pub(super) fn count_dropped(group: &'static GroupInfo, level: Level, cause: Unwritten) {
    if !HAS_ENTERED.get() {
        return;
    }
    ThreadRoutes::with_known(|thread| {
        let Ok(entered) = thread.entered.sessions.try_borrow() else { return };
        for arbiter in entered.iter().filter(|arbiter| arbiter.is_enabled(group, level)) {
            arbiter.unattributed.add(group.id, cause, 1);
        }
    });
}
