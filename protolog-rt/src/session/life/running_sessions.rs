//! The sessions of this process that run, or are being ended.
//!
//! Their writers are found in [`crate::writer::running`]. This list is for operators, who ask for
//! statistics, and for panics, which flush all files.

use crate::message_table;
use crate::session::arbiter::session_arbiter::Core;
use crate::session::life::forked;
use crate::sys::exit;
use crate::sys::fork::{ForkLock, Order};
use crate::writer;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest that the exit of the process waits for sessions.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);

/// A session that runs.
pub(in crate::session) trait RunningSession: Debug + Send + Sync {
    /// The shared part.
    fn core(&self) -> &Arc<Core>;

    /// Asks for the end of the session, which [`Self::end_within`] then waits for, for at most
    /// `limit`.
    fn request_end(&self, limit: Duration);

    /// Ends the session, as far as that takes at most `limit`.
    fn end_within(&self, limit: Duration);
}

static SESSIONS: ForkLock<Vec<Arc<dyn RunningSession>>> =
    ForkLock::with_child(Order::Sessions, Vec::new(), forget_sessions);

/// Returns the sessions that run, and none that is being ended.
pub(crate) fn all() -> Vec<Arc<Core>> {
    let core = |session: &Arc<dyn RunningSession>| Arc::clone(session.core());
    let runs = |core: &Arc<Core>| !core.arbiter.is_stopped();
    writer::guarded(|| SESSIONS.lock().iter().map(core).filter(runs).collect())
}

/// As [`all`]; none while another thread has the lock, which may wait for this one.
pub(in crate::session) fn running_now() -> Vec<Arc<Core>> {
    let core = |session: &Arc<dyn RunningSession>| Arc::clone(session.core());
    let all = writer::guarded(|| {
        SESSIONS.try_lock().map(|sessions| sessions.iter().map(core).collect::<Vec<_>>())
    });
    let all = all.unwrap_or_default().into_iter();
    all.filter(|core| !core.arbiter.is_stopped()).collect()
}

/// Starts a session for the threads of the process.
pub(in crate::session) fn add(session: Arc<dyn RunningSession>) {
    exit::at_exit(exit::Step::Sessions, end_at_exit);
    forked::add();
    let arbiter = Arc::clone(&session.core().arbiter);
    writer::guarded(|| SESSIONS.lock().push(session));
    writer::running::add(&arbiter);
}

/// Starts a session for the threads of the process in the place of another one, which stays in the
/// list until it is [removed](remove).
pub(in crate::session) fn replace(old: &Core, session: Arc<dyn RunningSession>) {
    let arbiter = Arc::clone(&session.core().arbiter);
    writer::guarded(|| SESSIONS.lock().push(session));
    writer::running::replace(&old.arbiter, arbiter);
}

/// Lets a session go on whose place another one has taken, or was about to.
pub(in crate::session) fn resume(core: &Core) {
    if !writer::running::has(&core.arbiter) {
        writer::running::add(&core.arbiter);
    }
}

/// Ends all sessions, for which no thread can be expected to wait long: at most `limit` for all of
/// them together.
pub(crate) fn end_all(limit: Duration) {
    let sessions: Vec<Arc<dyn RunningSession>> = writer::guarded(|| SESSIONS.lock().clone());
    let by = Instant::now() + limit;
    // First all at once, so that none that is stuck takes the time of another.
    for session in &sessions {
        session.request_end(limit);
    }
    for session in sessions {
        session.end_within(by.saturating_duration_since(Instant::now()));
    }
}

/// Ends all sessions when the process exits, those in statics included, since nothing drops these.
fn end_at_exit() {
    end_all(EXIT_TIMEOUT);
}

/// Gives the session's recording the messages interned at run time, those known and those to come.
pub(in crate::session) fn attach_recording(core: &Core) {
    if let Some(recording) = &core.owner.recording {
        let listener = Arc::clone(recording) as Arc<dyn message_table::MessageListener>;
        message_table::add_listener(listener);
    }
}

/// Undoes [`attach_recording`] and [`add`] for the session's recording.
pub(in crate::session) fn detach_recording(core: &Core) {
    if let Some(recording) = &core.owner.recording {
        message_table::remove_listener(
            &(Arc::clone(recording) as Arc<dyn message_table::MessageListener>),
        );
        writer::running::end_mirror(&core.arbiter);
    }
}

/// Stops a session for the threads of the process; those that are within a message may finish it.
/// It stays in the list until it is [removed](remove), so that an exit or a signal waits for its
/// file.
pub(in crate::session) fn begin_end(core: &Core) {
    writer::running::remove(&core.arbiter);
}

/// Takes a session that has ended off the list.
pub(in crate::session) fn remove(core: &Arc<Core>) {
    writer::guarded(|| SESSIONS.lock().retain(|other| !Arc::ptr_eq(other.core(), core)));
}

/// Writes the messages logged until now to the files of all sessions, as far as that takes at most
/// `limit` each.
pub(crate) fn flush(limit: Duration) {
    // Not while another thread has the lock: it may wait for this one.
    let sessions =
        writer::guarded(|| SESSIONS.try_lock().map_or(Vec::new(), |sessions| sessions.clone()));
    for session in sessions {
        session.core().flush_within(limit);
    }
}

/// In a forked child the sessions are its parent's.
fn forget_sessions(sessions: &mut Vec<Arc<dyn RunningSession>>) {
    forked::inherit(sessions.iter().map(|session| &**session.core()));
    // Dropping them might wait for a thread that the child does not have.
    std::mem::forget(std::mem::take(sessions));
}
