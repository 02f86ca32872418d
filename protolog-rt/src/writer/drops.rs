//! Counting messages that are dropped on their way: on the thread's sequence where it has the one,
//! else as unattributed.

use super::held_back::{EndedRepeats, HeldBack};
use super::routes::ThreadRoutes;
use super::thread_state::{GUARDED, READY, ThreadState, UNATTRIBUTED, UNROUTED, WRITING};
use super::{Head, running, scope};
use crate::level::GroupInfo;
use crate::loss::{LossCause, Unwritten};
use crate::site::GroupLevel;
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

/// Counts a message that a rule held back: on the thread's sequences in the sessions that would
/// have recorded it, all of them if it is `for_all`.
#[cold]
pub(crate) fn count_held_back(group_level: GroupLevel, for_all: bool, reason: HeldBack) {
    let head = Head { id: 0, group_level };
    match ThreadState::with(ThreadState::phase) {
        READY => {
            ThreadState::with(ThreadState::begin);
            let is_counted = ThreadState::with(|state| {
                let writer = state.writer().filter(|writer| !writer.is_stale());
                writer.map(|writer| writer.count_held_back(head, reason)).is_some()
            });
            ThreadState::with(ThreadState::end);
            if !is_counted {
                count_held_back_in_each(head, for_all, reason);
            }
        }
        UNROUTED => count_held_back_in_each(head, for_all, reason),
        _ => count_unattributed(head.group(), head.level(), reason.of_level(head.level())),
    }
}

/// Has the thread's sequences say how often a message was repeated, before another one of its call.
#[cold]
pub(crate) fn report_repeats(ended: EndedRepeats) {
    match ThreadState::with(ThreadState::phase) {
        READY => {
            ThreadState::with(ThreadState::begin);
            ThreadState::with(|state| {
                if let Some(writer) = state.writer() {
                    writer.report_repeats(ended, None);
                }
            });
            ThreadState::with(ThreadState::end);
        }
        UNROUTED => {
            ThreadState::with(|state| state.route(GUARDED, std::ptr::null()));
            ThreadRoutes::within_message(|thread| {
                thread.routes.borrow_mut().report_repeats(ended);
            });
            ThreadState::with(|state| state.route(UNROUTED, std::ptr::null()));
        }
        // What was counted is reported with the next chunk, or by the session.
        _ => {}
    }
}

/// As [`count_held_back`], for a thread that looks which sessions there are.
#[cold]
#[inline(never)]
fn count_held_back_in_each(head: Head, for_all: bool, reason: HeldBack) {
    let cause = reason.of_level(head.level()).lost();
    let host = head.group().at_host().filter(|host| host.is_trace_enabled(head.level()));
    if let Some((host, cause)) = host.zip(cause) {
        host.count_lost(head.level(), cause);
    }
    count_held_back_in_own(head, for_all, reason);
}

/// The same without the host.
fn count_held_back_in_own(head: Head, for_all: bool, reason: HeldBack) {
    ThreadState::with(|state| state.route(GUARDED, std::ptr::null()));
    let (writer, seen) = ThreadRoutes::within_message(|thread| {
        let mut routes = thread.routes.borrow_mut();
        let is_new = routes.refresh(&thread.entered);
        routes.count_held_back(head, for_all, reason, is_new);
        (routes.sole_writer(), routes.are_none().then(|| routes.epoch()))
    });
    let next = if writer.is_null() { UNROUTED } else { READY };
    ThreadState::with(|state| state.route(next, writer));
    // It may be the first message of a forked child, with which the child's sessions start.
    if seen.is_some_and(running::find_out_fork) {
        count_held_back_in_own(head, for_all, reason);
    }
}

/// Counts a message as dropped, on the sequence of the writer where the thread is within a message
/// to one.
pub(super) fn count_dropped(group: &'static GroupInfo, level: Level, cause: LossCause) {
    ThreadState::with(|state| {
        let writer = if state.phase() == WRITING { state.writer() } else { None };
        match writer.filter(|writer| !writer.is_stale()) {
            Some(writer) => writer.losses.add(group.id, cause, 1),
            None => count_unattributed(group, level, cause.into()),
        }
    });
}

/// Counts a message as dropped that has no sequence.
pub(super) fn count_unattributed(group: &'static GroupInfo, level: Level, cause: Unwritten) {
    let host = group.at_host().filter(|host| host.is_trace_enabled(level));
    if let Some((host, cause)) = host.zip(cause.lost()) {
        host.count_lost(level, cause);
    }
    UNATTRIBUTED.add(group.id, level, cause);
    scope::count_dropped(group, level, cause);
    running::count_in_mirrors(group, level, cause);
}
