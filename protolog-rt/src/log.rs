//! The entrance to the write path for the rest of the crate.

use crate::level::rules::{RuledCall, SiteState};
use crate::level::{self, GroupInfo};
use crate::note::NoteRef;
use crate::site::{GroupLevel, key};
use crate::writer::{self, Head};
use protolog_core::Level;

pub(crate) use crate::writer::args::Args;
pub use crate::writer::fast::FastArgs;

/// Asks for a call whose group has not registered, or has calls with rules. One function for all
/// calls, which pass two addresses.
#[cold]
#[inline(never)]
pub(crate) fn ask(group_level: GroupLevel, note: NoteRef) -> bool {
    ask_by_key(group_level, key(note, 0))
}

/// As [`ask`], for a call without a note.
#[cold]
#[inline(never)]
pub(crate) fn ask_id(group_level: GroupLevel, id: u64) -> bool {
    ask_by_key(group_level, id)
}

fn ask_by_key(group_level: GroupLevel, key: u64) -> bool {
    let (group, level) = group_level.parts();
    group.ask_call(level, key).is_some_and(|call| passes(call, level, group))
}

/// Returns whether a message passes the limits that rules set; one that does not is counted.
pub(crate) fn passes(call: RuledCall, level: Level, group: &'static GroupInfo) -> bool {
    let passed = call.pass_limits();
    if let Err(now) = passed {
        let is_traced = group.is_trace_enabled(level) && !call.state.is_untraced();
        if call.state.is_traced() || is_traced {
            writer::count_limited(GroupLevel::new(group, level), call.state.is_traced(), now);
        }
    }
    passed.is_ok()
}

/// Writes a message with `args` to the sessions that record its level.
#[inline]
pub(crate) fn trace<A: Args>(id: u64, level: Level, group: &'static GroupInfo, args: &A) {
    if group.is_trace_enabled(level) {
        writer::write_packet(Head { id, group_level: GroupLevel::new(group, level) }, args);
        report(id, level, group);
    }
}

/// As [`trace`], for a call of which a rule may decide.
pub(crate) fn trace_by_rule<A: Args>(
    id: u64,
    level: Level,
    group: &'static GroupInfo,
    args: &A,
    rule: SiteState,
) {
    if rule.is_traced() {
        if level::is_recording() {
            writer::write_to_all(Head { id, group_level: GroupLevel::new(group, level) }, args);
            // Sessions need not watch the group, nor record it.
            writer::running::report_to_all(id, group, level);
        }
    } else if !rule.is_untraced() {
        trace(id, level, group, args);
    }
}

/// As [`trace`], with the thread's stack trace, whether or not a session asks for those.
pub(crate) fn trace_with_stack<A: Args>(
    id: u64,
    level: Level,
    group: &'static GroupInfo,
    args: &A,
) {
    if group.is_trace_enabled(level) {
        writer::write_with_stack(Head { id, group_level: GroupLevel::new(group, level) }, args);
        report(id, level, group);
    }
}

/// Reports a message that was written to the triggers that wait for it.
#[inline]
fn report(id: u64, level: Level, group: &'static GroupInfo) {
    if group.is_watched(level) {
        writer::running::report_watched(id, group, level);
    }
}
