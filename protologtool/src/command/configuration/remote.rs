//! Calls and groups of this user's programs, for the commands that show messages: `view` and `lsp`
//! switch them as `configuration site` and `configuration level` do.
//!
//! Invariants: programs of other users are neither asked nor switched; a question takes at most
//! twice [`TIME`]; a program is switched only if it has the call or the group by itself, so a
//! process id that is another program's by now switches nothing.

use super::process::ProcessName;
use super::programs::{ask_each, close, connect, find};
use super::switch::LevelChange;
use protolog_control::{Error, Program, Site, Whose};
use protolog_core::Level;
use protolog_core::control::name::Quoted;
use protolog_core::control::protocol::Request;
use protolog_core::control::site_rule::SiteSetting;
use protolog_core::control::switch;
use serde::Serialize;
use std::time::Duration;

/// The time in which programs let themselves be connected to, and in which they answer.
const TIME: Duration = Duration::from_millis(500);

/// The most calls of a message that are looked at.
const MOST: u32 = 16;

/// A message in a program: its calls, and its group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct SwitchedMessage {
    /// The program, with its process id.
    pub(crate) program: String,
    pub(crate) pid: u32,
    /// The number of calls.
    pub(crate) calls: u64,
    /// The effect of rules on the first one, in the words of a rule.
    pub(crate) rule: Option<String>,
    /// The text and the place of the first one, as the program says.
    pub(crate) template: String,
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) group: String,
    /// From which level on sessions record the group, and from which on it is printed, or `OFF`.
    pub(crate) trace: &'static str,
    pub(crate) text: &'static str,
}

/// The programs that have a message with this id; of one process id, if that is given.
pub(crate) fn with_message(id: u64, pid: Option<u32>) -> Vec<SwitchedMessage> {
    let answers = each(pid, move |program| look(program, id));
    answers.into_iter().filter_map(|answer| answer.ok().flatten()).collect()
}

/// Gives the calls of a message in a program a rule, or takes that back, and looks again.
pub(crate) fn set_rule(pid: u32, id: u64, setting: SiteSetting) -> Result<SwitchedMessage, String> {
    let item = format!("site #{id:016x}={setting}");
    let set = move |program: &mut Program| {
        if look(program, id)?.is_none() {
            return Ok(None);
        }
        program.request(&Request::Set(&item))?;
        look(program, id)
    };
    one(pid, set)?.ok_or_else(|| format!("no call of process {pid} has the id #{id:016x}"))
}

/// Sets from which level on the group of this full name is recorded in a program.
pub(crate) fn set_level(pid: u32, group: &str, from: Option<Level>) -> Result<(), String> {
    let name = Quoted(group).to_string();
    let change = LevelChange::trace_of(group, from);
    let (switched, _, done) = one(pid, move |program| change.apply(program))?;
    match done {
        Ok(()) if switched.is_empty() => Err(format!("process {pid} has no group {name}")),
        done => done.map_err(|error| error.to_string()),
    }
}

/// The message with this id in a program; none if it has no call of it.
fn look(program: &mut Program, id: u64) -> Result<Option<SwitchedMessage>, Error> {
    let (sites, calls) = match program.sites(&format!("#{id:016x}"), MOST) {
        // It has no rules.
        Err(Error::Refused { .. }) => return Ok(None),
        found => found?,
    };
    let Some(site) = sites.into_iter().find(|site| site.id == id) else { return Ok(None) };
    let Site { group, rule, template, file, line, .. } = site;
    let groups = program.groups()?;
    let word = groups.iter().find(|it| it.name == group).map_or(0, |it| it.word);
    Ok(Some(SwitchedMessage {
        program: ProcessName::of(program).to_string(),
        pid: program.pid,
        calls,
        rule,
        template,
        file,
        line,
        group,
        trace: least(switch::trace_levels(word)),
        text: least(switch::text_levels(word)),
    }))
}

/// Asks the program with this process id.
fn one<T: Send + 'static>(
    pid: u32,
    ask: impl Fn(&mut Program) -> Result<T, Error> + Send + Sync + 'static,
) -> Result<T, String> {
    let answer = each(Some(pid), ask).pop();
    let answer = answer.ok_or_else(|| format!("process {pid} has ended, or does not answer"))?;
    answer.map_err(|error| error.to_string())
}

/// Asks the programs of this user, or the one with this process id.
fn each<T: Send + 'static>(
    pid: Option<u32>,
    ask: impl Fn(&mut Program) -> T + Send + Sync + 'static,
) -> Vec<T> {
    let Ok(found) = find(Whose::Own) else { return Vec::new() };
    let connected = connect(&found.sockets, TIME).filter_map(|(_, it)| it?.ok().flatten());
    let is_meant = |it: &Program| !it.is_other_users() && pid.is_none_or(|pid| it.pid == pid);
    let (meant, others): (Vec<_>, Vec<_>) = connected.partition(is_meant);
    close(others);
    let (asked, answers): (Vec<_>, Vec<_>) =
        ask_each(meant, TIME, ask).into_iter().flatten().unzip();
    close(asked);
    answers
}

/// The least severe of these levels (bit = severity).
fn least(levels: u8) -> &'static str {
    Level::from_severity(levels.trailing_zeros() as u8).map_or("OFF", Level::name)
}
