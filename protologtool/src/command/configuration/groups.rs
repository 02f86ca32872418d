//! `groups list` and `groups status`.

use super::programs::Programs;
use crate::system::System;
use protolog_control::{Group, Program};
use protolog_core::Level;
use protolog_core::control::{self, switch};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

const NONE: &str = "No ProtoLog groups registered with ProtoLog service.\n";

/// A group of a program, as JSON.
#[derive(Serialize)]
struct GroupLine<'a> {
    program: &'a str,
    pid: u32,
    group: &'a str,
    tag: &'a str,
    /// False where its calls are not compiled in.
    compiled: bool,
    /// The levels that are printed.
    text: Vec<&'static str>,
    /// The levels that sessions record.
    enabled: Vec<&'static str>,
    /// The levels that the operator allows them.
    allowed: Vec<&'static str>,
    /// True if the group is registered: one that was not called yet has no state.
    registered: bool,
}

/// All groups of a program.
type ProcessGroups = (String, u32, Vec<Group>);

/// `groups list`
pub(super) fn list(programs: &mut Programs, json: bool, system: &dyn System) {
    let found = programs.each(Program::groups, system);
    if json {
        return lines(&found, &[], system);
    }
    let names = all_names(&found);
    if names.is_empty() {
        return system.print(NONE);
    }
    let mut text = "ProtoLog groups registered with service:\n".to_owned();
    for name in names {
        let _ = writeln!(text, "- {name}");
    }
    system.print(&text);
}

/// `groups names`: for shells. The last segments, where they mean one group, since shells part words at colons.
pub(super) fn names(programs: &mut Programs, system: &dyn System) {
    let found = programs.each(Program::groups, system);
    let mut text = String::new();
    let all = all_names(&found);
    for name in &all {
        let short = name.rsplit("::").next().unwrap_or(name);
        let is_one = all.iter().filter(|other| control::matches_group(short, other)).count() == 1;
        let _ = writeln!(text, "{}", if is_one { short } else { name });
    }
    system.print(&text);
}

/// `groups status`
pub(super) fn status(programs: &mut Programs, groups: &[String], json: bool, system: &dyn System) {
    let found = programs.each(Program::groups, system);
    if json {
        return lines(&found, groups, system);
    }
    let states = states(&found);
    if groups.is_empty() {
        if states.is_empty() {
            return system.print(NONE);
        }
        let mut text = "Status for all ProtoLog groups:\n".to_owned();
        for (name, states) in &states {
            for line in state_lines(states) {
                let _ = writeln!(text, "  {name}: {line}");
            }
        }
        return system.print(&text);
    }
    for group in groups {
        let mut text = format!("ProtoLog group {group}'s status:\n");
        let named: Vec<_> =
            states.iter().filter(|(name, _)| control::matches_group(group, name)).collect();
        match &named[..] {
            [] => text.push_str("UNREGISTERED\n"),
            [(_, states)] => {
                for line in state_lines(states) {
                    let _ = writeln!(text, "{line}");
                }
            }
            several => {
                for (name, states) in several {
                    for line in state_lines(states) {
                        let _ = writeln!(text, "{name}: {line}");
                    }
                }
            }
        }
        system.print(&text);
    }
}

fn all_names(found: &[ProcessGroups]) -> BTreeSet<&str> {
    found.iter().flat_map(|(.., groups)| groups).map(|group| group.name.as_str()).collect()
}

/// By group: the state, and the program that has it.
fn states(found: &[ProcessGroups]) -> BTreeMap<&str, Vec<(String, String)>> {
    let mut states: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (program, pid, groups) in found {
        for group in groups {
            let whose = format!("{program} (pid {pid})");
            states.entry(group.name.as_str()).or_default().push((state(group), whose));
        }
    }
    states
}

/// One line where all programs agree, otherwise one for each.
fn state_lines(states: &[(String, String)]) -> Vec<String> {
    match states {
        [(first, _), rest @ ..] if rest.iter().all(|(state, _)| state == first) => {
            vec![first.clone()]
        }
        _ => states.iter().map(|(state, whose)| format!("{state} in {whose}")).collect(),
    }
}

/// A group's state in AOSP's words, with the rest of it where that is not the default.
fn state(group: &Group) -> String {
    let printed = switch::text_levels(group.word);
    let mut text = format!("LOG_TO_LOGCAT = {}", part(printed));
    let allowed = switch::allowed_levels(group.word);
    if !group.compiled {
        text.push_str(" (not compiled in)");
    } else if group.word & switch::UNREGISTERED != 0 {
        text.push_str(" (not called yet)");
    } else if u32::from(allowed) != switch::ALL_LEVELS {
        let _ = write!(text, ", TRACE = {}", part(allowed));
    }
    text
}

/// `true`, `false`, or `true` from which level on.
fn part(levels: u8) -> String {
    match Level::from_severity(levels.trailing_zeros() as u8) {
        None => "false".into(),
        Some(Level::Verbose) if u32::from(levels) == switch::ALL_LEVELS => "true".into(),
        Some(least) => format!("true (from {})", least.name()),
    }
}

fn lines(found: &[ProcessGroups], groups: &[String], system: &dyn System) {
    let set = |levels: u8| {
        let on = |level: &Level| levels & 1 << level.severity() != 0;
        Level::ALL.into_iter().filter(on).map(Level::name).collect()
    };
    for (program, pid, all) in found {
        let meant = |group: &&Group| {
            groups.is_empty()
                || groups.iter().any(|pattern| control::matches_group(pattern, &group.name))
        };
        for group in all.iter().filter(meant) {
            let Group { word, compiled, name, tag, .. } = group;
            let line = GroupLine {
                program,
                pid: *pid,
                group: name,
                tag,
                compiled: *compiled,
                text: set(switch::text_levels(*word)),
                enabled: set(switch::session_levels(*word)),
                allowed: set(switch::allowed_levels(*word)),
                registered: word & switch::UNREGISTERED == 0,
            };
            super::trace::print_json(&line, system);
        }
    }
}
