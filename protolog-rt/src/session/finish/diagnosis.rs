//! The reason for a trace without messages, and names in the configuration that no group has.
//!
//! Both are found when a summary is made: groups may come as long as the session runs. A reader of
//! the trace comes to the same reason, from the filter and the dictionary that the trace has.

use crate::clock;
use crate::session::arbiter::session_arbiter::Core;
use crate::session::filter::Filter;
use crate::session::packets::dictionary::all_groups;
use crate::session::packets::process_packet::IS_OPEN;
use crate::stats::Summary;
use protolog_core::filter::{NoMessages, UnknownGroup};

/// Completes a summary of this session. `is_whole`: it counts every message up to now.
pub(in crate::session) fn complete(core: &Core, summary: &mut Summary, is_whole: bool) {
    let filter = &core.owner.filter;
    let has_names = filter.written().next().is_some() || filter.collects_stacks();
    let groups = if has_names { all_groups() } else { None };
    let groups: Option<Vec<&str>> =
        groups.as_ref().map(|groups| groups.iter().map(String::as_str).collect());
    let unknown = groups.as_ref().map(|groups| filter.unknown(groups));
    let unknown = unknown.unwrap_or_default();
    summary.unknown_groups = unknown.iter().map(|name| (*name).to_owned()).collect();
    let is_empty = summary.messages == 0 && summary.lost() == 0 && !summary.has_spans;
    if is_whole && is_empty {
        let ran = clock::boottime().saturating_sub(core.owner.started);
        let groups = groups.as_deref().unwrap_or_default();
        summary.why_empty = Some(reason(filter, unknown.first(), groups, ran));
    }
}

/// Returns a line for each name that no group has.
pub(in crate::session) fn unknown(summary: &Summary) -> Vec<String> {
    if summary.unknown_groups.is_empty() {
        return Vec::new();
    }
    let groups = all_groups().unwrap_or_default();
    let groups: Vec<&str> = groups.iter().map(String::as_str).collect();
    let line = |name: &String| UnknownGroup { name, groups: &groups, is_open: IS_OPEN }.to_string();
    summary.unknown_groups.iter().map(line).collect()
}

fn reason(filter: &Filter, unknown: Option<&&str>, groups: &[&str], ran: u64) -> String {
    let reason = match unknown {
        Some(name) => NoMessages::UnknownGroup(UnknownGroup { name, groups, is_open: IS_OPEN }),
        None => {
            let named = filter.written().map(|(_, levels)| levels);
            NoMessages::without_unknown(filter.default_levels(), named, Some(ran))
        }
    };
    reason.to_string()
}
