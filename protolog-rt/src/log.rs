//! The entrance to the write path for the rest of the crate.

use crate::level::rules::SiteState;
use crate::level::{self, GroupInfo};
use crate::site::GroupLevel;
use crate::writer::{self, Head};
use protolog_core::Level;

pub(crate) use crate::writer::args::Args;
pub use crate::writer::fast::FastArgs;

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
            report(id, level, group);
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
