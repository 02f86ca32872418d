//! The sessions of this process that run.
//!
//! Their writers are found in [`crate::writer::running`]. This list is for operators, who ask for statistics, and for panics,
//! which flush all files.

use super::core::Core;
use crate::message_table;
use crate::sys::fork::{ForkLock, Order};
use crate::writer;
use std::sync::Arc;
use std::time::Duration;

static SESSIONS: ForkLock<Vec<Arc<Core>>> =
    ForkLock::with_child(Order::Sessions, Vec::new(), forget_sessions);

/// Returns the sessions that run.
pub(crate) fn all() -> Vec<Arc<Core>> {
    writer::guarded(|| SESSIONS.lock().clone())
}

/// Starts a session for the threads of the process.
pub(super) fn add(core: &Arc<Core>) {
    writer::guarded(|| SESSIONS.lock().push(Arc::clone(core)));
    writer::running::add(Arc::clone(&core.arbiter));
}

/// Gives the session's recording the messages interned at run time, those known and those to come.
pub(super) fn attach_recorder(core: &Core) {
    if let Some(recorder) = &core.owner.recorder {
        message_table::add_listener(Arc::clone(recorder) as Arc<dyn message_table::MessageListener>);
    }
}

/// Ends what [`attach_recorder`] and [`add`] began for the session's recording.
pub(super) fn detach_recorder(core: &Core) {
    if let Some(recorder) = &core.owner.recorder {
        message_table::remove_listener(
            &(Arc::clone(recorder) as Arc<dyn message_table::MessageListener>),
        );
        writer::running::end_mirror(&core.arbiter);
    }
}

/// Stops a session for the threads of the process; those that are within a message may finish it.
pub(super) fn remove(core: &Arc<Core>) {
    writer::running::remove(&core.arbiter);
    writer::guarded(|| SESSIONS.lock().retain(|other| !Arc::ptr_eq(other, core)));
}

/// Writes what was logged until now to the files of all sessions, as far as that takes at most `limit` each.
pub(crate) fn flush(limit: Duration) {
    // Not while another thread has the lock: it may wait for this one.
    let sessions =
        writer::guarded(|| SESSIONS.try_lock().map_or(Vec::new(), |sessions| sessions.clone()));
    for session in sessions {
        session.flush_within(limit);
    }
}

/// In a forked child the sessions are its parent's.
fn forget_sessions(sessions: &mut Vec<Arc<Core>>) {
    // Dropping them might wait for a thread that the child does not have.
    std::mem::forget(std::mem::take(sessions));
}
