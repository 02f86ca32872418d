//! `logcat` and `level`: groups are switched in the memory of target processes; groups without a
//! word there, by request.

use super::args::Choice;
use super::process::ProcessName;
use super::programs::Programs;
use super::state::{self, Kept};
use super::trace::print_json;
use super::unknown;
use crate::exit::Failure;
use crate::suggest::{did_you_mean_group, name_forms};
use crate::system::System;
use protolog_control::{Error, Group, Program};
use protolog_core::Level;
use protolog_core::control::name::{Quoted, is_quoted};
use protolog_core::control::protocol::Request;
use protolog_core::control::setting::Setting;
use protolog_core::control::{levels_at_least, matches_group, switch};
use serde::Serialize;
use std::fmt::Write as _;

/// A change of the levels of some groups.
#[derive(Clone)]
pub(super) struct LevelChange {
    /// None for all.
    groups: Vec<String>,
    setting: Setting,
    /// True if printing changes only where something is printed now.
    only_printed: bool,
    /// True if the one group is meant that has this very name.
    is_exact: bool,
    /// `Toggling logcat logging`, and `to true`
    what: (&'static str, String),
}

/// The groups of a program that were switched, those that are not compiled in, and the first error.
pub(super) type Switched = (Vec<String>, Vec<String>, Result<(), Error>);

impl LevelChange {
    /// Prints from a level on, or not at all.
    pub(super) fn logcat(groups: &[String], from: Option<Level>) -> Self {
        let setting = Setting { trace: None, text: Some(levels_at_least(from)) };
        let what = ("Toggling logcat logging", format!("to {}", from.is_some()));
        let groups = groups.iter().map(|group| pattern(group)).collect();
        Self { groups, setting, only_printed: false, is_exact: false, what }
    }

    /// Traces, and prints where it prints already, from a level on.
    pub(super) fn level(group: &str, from: Option<Level>, text: bool, trace: bool) -> Self {
        let levels = levels_at_least(from);
        let setting =
            Setting { trace: (!text).then_some(levels), text: (!trace).then_some(levels) };
        let level = format!("to {}", from.map_or("OFF", Level::name));
        let what = match (text, trace) {
            (true, _) => ("Setting the level of logcat logging", level),
            (_, true) => ("Setting the level of tracing", level),
            _ => ("Setting the level of tracing and logcat logging", level),
        };
        let groups = vec![pattern(group)];
        Self { groups, setting, only_printed: !text, is_exact: false, what }
    }

    /// Traces the group of this full name from a level on, and no other one.
    pub(super) fn trace_of(group: &str, from: Option<Level>) -> Self {
        Self { is_exact: true, ..Self::level(&Quoted(group).to_string(), from, false, true) }
    }

    fn covers(&self, group: &str) -> bool {
        if self.is_exact {
            return self.groups == [Quoted(group).to_string()];
        }
        self.groups.is_empty() || self.names(group)
    }

    /// Returns whether a group is one of those that a program takes these words for.
    fn names(&self, group: &str) -> bool {
        self.groups.iter().any(|pattern| matches_group(pattern, group))
    }

    /// The names that match no group of any program.
    fn missing(&self, switched: &[(ProcessName, Switched)]) -> Vec<&str> {
        let is_known = |pattern: &&str| {
            let is_it = |name: &String| matches_group(pattern, name);
            switched.iter().any(|(.., (on, out, _))| on.iter().chain(out).any(is_it))
        };
        self.groups.iter().map(String::as_str).filter(|pattern| !is_known(pattern)).collect()
    }

    /// Applies it to a program.
    pub(super) fn apply(&self, program: &mut Program) -> Result<Switched, Error> {
        let mut groups = program.groups()?;
        let is_others = |it: &Group| !self.covers(&it.name) && self.names(&it.name);
        let names_others = self.is_exact && groups.iter().any(is_others);
        groups.retain(|group| self.covers(&group.name));
        let (groups, out): (Vec<_>, Vec<_>) = groups.into_iter().partition(|group| group.compiled);
        let pages = if groups.iter().any(|group| group.page.is_some()) {
            program.pages().ok()
        } else {
            None
        };
        let mut done = Ok(());
        for group in &groups {
            let mapped = pages.as_ref().is_some_and(|pages| self.store(pages, group));
            if !mapped && names_others {
                done = Err(ambiguous(group));
            } else if !mapped {
                done = done.and_then(|()| self.request(program, group));
            }
        }
        let named = |groups: Vec<Group>| groups.into_iter().map(|group| group.name).collect();
        Ok((named(groups), named(out), done))
    }

    /// The settings that have it hold at the next start. Printing that a program does by itself,
    /// which the state file can't know, is a setting of its own.
    fn kept(&self, programs: &mut Programs, choice: &Choice, system: &dyn System) -> Vec<Kept> {
        let &Self { setting, only_printed, .. } = self;
        let (groups, names) = (self.groups.clone(), choice.name.clone());
        let mut all = vec![Kept { groups, programs: names, setting, only_printed }];
        let text = Setting { trace: None, ..setting };
        if !only_printed || text == Setting::default() {
            return all;
        }
        for (process, groups) in programs.each(Program::groups, system) {
            // The file is this user's.
            if process.is_other_users {
                continue;
            }
            let is_printed = |group: &Group| {
                group.compiled && self.covers(&group.name) && switch::text_levels(group.word) != 0
            };
            let printed = groups.into_iter().filter(is_printed);
            let groups: Vec<_> = printed.map(|group| Quoted(&group.name).to_string()).collect();
            if !groups.is_empty() {
                let programs = vec![process.program];
                all.push(Kept { groups, programs, setting: text, only_printed: false });
            }
        }
        all
    }

    /// Switches a group in the memory of a program. False if the group is not in it.
    fn store(&self, pages: &protolog_control::Pages, group: &Group) -> bool {
        let text = self.text(pages.word(group).map_or(group.word, switch::SwitchWord::load_word));
        self.setting.trace.is_none_or(|levels| pages.set_allowed_levels(group, levels))
            && text.is_none_or(|levels| pages.set_text_levels(group, levels))
            && pages.word(group).is_some()
    }

    fn request(&self, program: &mut Program, group: &Group) -> Result<(), Error> {
        let setting = Setting { text: self.text(group.word), ..self.setting };
        if setting == Setting::default() {
            return Ok(());
        }
        let item = format!("{}={setting}", Quoted(&group.name));
        program.request(&Request::Set(&item)).map(drop)
    }

    /// Reports the groups that were switched in a program.
    fn report(&self, process: &ProcessName, (groups, out, done): &Switched, text: &mut String) {
        let (what, to) = &self.what;
        if !groups.is_empty() {
            let groups: Vec<_> = groups.iter().map(|name| Quoted(name).to_string()).collect();
            let groups = groups.join(", ");
            let _ = writeln!(text, "{what} for client {process} {to} for groups: [{groups}]");
            match done {
                Ok(()) => text.push_str("- Done\n"),
                Err(Error::Ended) => text.push_str("- Failed (client may have died)\n"),
                Err(error) => drop(writeln!(text, "- Failed ({error})")),
            }
        }
        for group in out.iter().filter(|_| !self.groups.is_empty()) {
            let _ =
                writeln!(text, "WARNING: group {} is not compiled into {process}.", Quoted(group));
        }
    }

    /// The levels to print of a group that has this word.
    fn text(&self, word: u32) -> Option<u8> {
        let leave = self.only_printed && switch::text_levels(word) == 0;
        self.setting.text.filter(|_| !leave)
    }
}

/// A request names groups by patterns, and would reach others.
fn ambiguous(group: &Group) -> Error {
    let message = format!("other groups are named by `{}`, too", Quoted(&group.name));
    let help = "switch all of them by `protologtool configuration level`".to_owned();
    Error::Refused { message, help }
}

/// A pattern as settings have it: a name that can't stand there as it is gets quotation marks, so
/// that nobody has to write them within those of the shell.
fn pattern(given: &str) -> String {
    if given == "*" || is_quoted(given) { given.to_owned() } else { Quoted(given).to_string() }
}

/// Switches, and reports the changes in each program.
pub(super) fn run(
    programs: &mut Programs,
    change: &LevelChange,
    persist: bool,
    choice: &Choice,
    system: &dyn System,
) -> Result<(), Failure> {
    if persist {
        state::remember(&change.kept(programs, choice, system), system)?;
    }
    let own = change.clone();
    let switched = programs.each(move |program| own.apply(program), system);
    programs.failed |= switched.iter().any(|(.., (.., done))| done.is_err());
    let mut text = String::new();
    for (process, switched) in &switched {
        if choice.json {
            print_json(&SwitchLine::new(process, switched), system);
        } else {
            change.report(process, switched, &mut text);
        }
    }
    let mut warnings = String::new();
    let missing = change.missing(&switched);
    for group in &missing {
        let end = if persist { "It is remembered." } else { "This is a no-op." };
        let attempt = if change.what.0.starts_with("Toggling") {
            "toggle log to logcat"
        } else {
            "set the level"
        };
        let _ = writeln!(
            warnings,
            "WARNING: Attempting to {attempt} for group {group} with no registered clients. {end}"
        );
    }
    if change.groups.is_empty() && switched.iter().all(|(.., (groups, ..))| groups.is_empty()) {
        warnings.push_str("No ProtoLog groups registered with ProtoLog service.\n");
    }
    if choice.json {
        system.print_error(&warnings);
    } else {
        system.print(&(text + &warnings));
    }
    report_missing(programs, &missing, persist, system);
    Ok(())
}

/// Reports names that match no group, which is an error unless they are remembered for programs
/// that start later.
fn report_missing(programs: &mut Programs, missing: &[&str], persist: bool, system: &dyn System) {
    if missing.is_empty() {
        return;
    }
    let names = unknown::names(programs, system);
    if !persist {
        let names = names.iter().map(String::as_str).collect();
        return unknown::report(programs, missing, &names, system);
    }
    let names = name_forms(names.iter().map(String::as_str));
    for name in missing {
        let close = did_you_mean_group(name, &names);
        if !close.is_empty() {
            system.print_error(&format!("note: no group is named `{name}` now{close}\n"));
        }
    }
}

/// The groups that were switched in a program, as JSON.
#[derive(Serialize)]
struct SwitchLine<'a> {
    #[serde(flatten)]
    process: &'a ProcessName,
    groups: &'a [String],
    /// The groups that were named but whose calls are not compiled in.
    not_compiled: &'a [String],
    /// The first error.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl<'a> SwitchLine<'a> {
    fn new(process: &'a ProcessName, (groups, not_compiled, done): &'a Switched) -> Self {
        let error = done.as_ref().err().map(ToString::to_string);
        Self { process, groups, not_compiled, error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_name_names_one_group() {
        for name in ["Net", "a.Net", "*", "a::Net", "Net ü", "\"Net\""] {
            let exact = LevelChange::trace_of(name, None);
            assert!(exact.covers(name), "{name}");
            for other in ["net", "b::Net", "b.Net", "Net::b", "b::a::Net", "a.Net.b", ""] {
                assert!(!exact.covers(other), "{name}: {other}");
            }
        }
        // As a person names groups.
        assert!(LevelChange::level("Net", None, false, true).covers("b::Net"));
    }
}
