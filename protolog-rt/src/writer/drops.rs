//! Counting messages that are dropped on their way: on the thread's sequence where it has the one,
//! else as unattributed.

use super::thread_state::{READY, ThreadState, UNATTRIBUTED, WRITING};
use super::{running, scope};
use crate::level::GroupInfo;
use crate::loss::LossCause;
use protolog_core::Level;

/// Counts a message as dropped, on this thread's sequence where it has the one.
#[cold]
pub(crate) fn drop_message(group: &'static GroupInfo, level: Level, cause: LossCause) {
    let ready = ThreadState::with(|state| {
        let ready = state.phase() == READY;
        if ready {
            state.begin();
        }
        ready
    });
    count_dropped(group, level, cause);
    if ready {
        ThreadState::with(ThreadState::end);
    }
}

/// Counts a message as dropped, on the sequence of the writer where the thread is within a message
/// to one.
pub(super) fn count_dropped(group: &'static GroupInfo, level: Level, cause: LossCause) {
    ThreadState::with(|state| {
        let writer = if state.phase() == WRITING { state.writer() } else { None };
        match writer.filter(|writer| !writer.is_stale()) {
            Some(writer) => writer.losses.add(group.id, cause, 1),
            None => count_unattributed(group, level, cause),
        }
    });
}

/// Counts a message as dropped that has no sequence.
pub(super) fn count_unattributed(group: &'static GroupInfo, level: Level, cause: LossCause) {
    if let Some(host) = group.at_host().filter(|host| host.is_trace_enabled(level)) {
        host.count_lost(level, cause);
    }
    UNATTRIBUTED.add(group.id, level, cause);
    scope::count_dropped(group, level, cause);
    running::count_in_mirrors(group, level, cause);
}
