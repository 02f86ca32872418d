//! The programs, asked again and again: one sample has a row for each group of each.
//!
//! Invariants: a round of questions takes at most [`TIMEOUT`]; a program that does not answer in it
//! is asked again only after [`REST`]. No connection is closed but where nobody waits for that, as
//! in `programs.rs`.

use super::super::args::Choice;
use super::super::process::ProcessName;
use super::super::programs::{ask_each, close, connect, find};
use super::super::site::selector_of;
use super::super::switch::LevelChange;
use super::super::trace::{OfGroup, sessions};
use protolog_control::{Error, Program, Site, Socket};
use protolog_core::Level;
use protolog_core::control::name::Quoted;
use protolog_core::control::protocol::Request;
use protolog_core::control::site_rule::SiteSetting;
use protolog_core::control::switch;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The time for the replies of all programs.
const TIMEOUT: Duration = Duration::from_secs(1);
/// The time in which a program that failed is left alone.
const REST: Duration = Duration::from_secs(15);
/// The most calls of a group that are listed.
const MOST_SITES: u32 = 10_000;

/// The words for levels, by severity.
pub(super) const LEVELS: [&str; 6] = ["verbose", "debug", "info", "warn", "error", "wtf"];

/// A group of a program.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct GroupRow {
    #[serde(flatten)]
    pub(super) process: ProcessName,
    /// Empty for losses of groups that are not known.
    pub(super) group: String,
    /// The least severe level that is printed, or `off`.
    pub(super) text: &'static str,
    /// The least severe level that a session records, or `off`.
    pub(super) trace: &'static str,
    /// False if its calls are not compiled in.
    pub(super) compiled: bool,
    /// Messages and losses of all sessions that run.
    pub(super) messages: u64,
    pub(super) lost: u64,
    /// By cause: those lost, and those whose texts were cut.
    pub(super) losses: BTreeMap<String, u64>,
    /// The limits of bytes that sessions of its program have.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) session_limits: BTreeSet<String>,
    /// True if rules of single calls may concern it: switches, limits, rates.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) has_rules: bool,
    pub(super) messages_per_second: f64,
    pub(super) lost_per_second: f64,
}

impl GroupRow {
    /// Its process and name.
    pub(super) fn id(&self) -> (u32, String) {
        (self.process.pid, self.group.clone())
    }

    fn key(&self) -> (u32, &str) {
        (self.process.pid, &self.group)
    }

    /// Adds the numbers of a session, which may be any.
    fn add(&mut self, of: OfGroup) {
        self.messages = self.messages.saturating_add(of.messages);
        self.lost = self.lost.saturating_add(of.lost);
        for (cause, count) in of.losses {
            let sum = self.losses.entry(cause).or_default();
            *sum = sum.saturating_add(count);
        }
    }
}

/// A rule for one call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CallRule {
    pub(super) site: Site,
    pub(super) setting: SiteSetting,
}

/// All groups at one time.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    at: Instant,
    pub(super) rows: Vec<GroupRow>,
    /// Failures to ask, each with the reason.
    pub(super) problems: Vec<String>,
}

impl Sample {
    /// A sample of these rows.
    #[cfg(test)]
    pub(super) fn of(rows: Vec<GroupRow>) -> Self {
        Self { at: Instant::now(), rows, problems: Vec::new() }
    }

    /// Computes rates from an earlier sample, and puts those with the greatest first. A group that
    /// is new has none.
    pub(super) fn rate_since(&mut self, earlier: &Self) {
        let seconds = (self.at - earlier.at).as_secs_f64().max(f64::MIN_POSITIVE);
        let before: HashMap<_, _> = earlier.rows.iter().map(|row| (row.key(), row)).collect();
        for row in &mut self.rows {
            // A session that ended takes its numbers with it.
            let Some(old) = before.get(&(row.process.pid, &*row.group)) else { continue };
            let rate = |new: u64, old: u64| new.saturating_sub(old) as f64 / seconds;
            row.messages_per_second = rate(row.messages, old.messages);
            row.lost_per_second = rate(row.lost, old.lost);
        }
        self.rows.sort_by(|one, other| {
            let by = |row: &GroupRow| (row.lost_per_second, row.messages_per_second);
            by(other).partial_cmp(&by(one)).unwrap_or(std::cmp::Ordering::Equal).then_with(|| {
                (&one.process.program, one.key()).cmp(&(&other.process.program, other.key()))
            })
        });
    }

    /// Takes over the levels of a later sample.
    pub(super) fn take_levels(&mut self, later: &Self) {
        // One look-up a row: how many there are, other users' programs say.
        let levels: HashMap<_, _> =
            later.rows.iter().map(|new| (new.key(), (new.text, new.trace))).collect();
        for row in &mut self.rows {
            if let Some(new) = levels.get(&(row.process.pid, &*row.group)) {
                (row.text, row.trace) = *new;
            }
        }
    }
}

/// The programs that are watched.
pub(super) struct Watch {
    programs: Vec<Program>,
    choice: Choice,
    /// The sockets of programs that are not meant.
    ignored: HashSet<PathBuf>,
    /// Those that failed, with why and when.
    resting: HashMap<PathBuf, (String, Instant)>,
}

impl Watch {
    pub(super) fn new(programs: Vec<Program>, choice: &Choice) -> Self {
        let (ignored, resting) = (HashSet::new(), HashMap::new());
        Self { programs, choice: choice.clone(), ignored, resting }
    }

    /// Connects to programs that have started since.
    pub(super) fn look_for_new(&mut self) {
        self.resting.retain(|_, (_, since)| since.elapsed() < REST);
        let Ok(found) = find(self.choice.whose()) else { return };
        for error in found.failed {
            if let Error::Directory { path, .. } = &error {
                self.resting.insert(path.clone(), (error.to_string(), Instant::now()));
            }
        }
        let found: Vec<Socket> = found.sockets;
        self.ignored.retain(|path| found.iter().any(|socket| socket.path() == path));
        let known: HashSet<_> = self.programs.iter().map(Program::path).collect();
        let is_new = |socket: &Socket| {
            let path = socket.path();
            !known.contains(path)
                && !self.ignored.contains(path)
                && !self.resting.contains_key(path)
        };
        let new: Vec<Socket> = found.iter().filter(|socket| is_new(socket)).cloned().collect();
        let mut others = Vec::new();
        for (socket, connected) in connect(&new, TIMEOUT) {
            let path = socket.path().to_owned();
            match connected {
                Some(Ok(Some(program))) if self.choice.means(&program) => {
                    self.programs.push(program);
                }
                Some(Ok(Some(program))) => {
                    self.ignored.insert(path);
                    others.push(program);
                }
                Some(Ok(None)) => {}
                Some(Err(error)) => self.rest_at(path, &error),
                None => self.rest_at(path, &late()),
            }
        }
        close(others);
    }

    fn rest_at(&mut self, path: PathBuf, error: &Error) {
        let why = format!("`{}`: {error}", path.display());
        self.rest(path, why);
    }

    fn rest(&mut self, path: PathBuf, problem: String) {
        self.resting.insert(path, (problem, Instant::now()));
    }

    /// Asks all programs. One that ended is left out from now on.
    pub(super) fn sample(&mut self) -> Sample {
        let at = Instant::now();
        let (mut rows, mut failed) = (Vec::new(), Vec::new());
        let all = std::mem::take(&mut self.programs);
        let named = |program: &Program| (program.path().to_owned(), ProcessName::of(program));
        let names: Vec<_> = all.iter().map(named).collect();
        for ((path, name), answer) in names.into_iter().zip(ask_each(all, TIMEOUT, rows_of)) {
            match answer {
                Some((program, Ok(more))) => {
                    rows.extend(more);
                    self.programs.push(program);
                }
                Some((program, Err(error))) => {
                    failed.push(program);
                    if !has_ended(&error) {
                        self.rest(path, format!("{name}: {error}"));
                    }
                }
                None => self.rest(path, format!("{name}: {}", late())),
            }
        }
        close(failed);
        let problems = self.resting.values().map(|(problem, _)| problem.clone()).collect();
        Sample { at, rows, problems }
    }

    /// Switches the group of a row, and reports the change.
    pub(super) fn switch(&mut self, row: &GroupRow, change: &LevelChange) -> String {
        let (process, group, own) = (&row.process, Quoted(&row.group), change.clone());
        match self.ask(process, move |program| own.apply(program)) {
            None => format!("{process} has ended"),
            Some(Ok((switched, _, Ok(())))) if switched.is_empty() => {
                format!("nothing is switched: {process} has no {group} any more")
            }
            Some(Ok((_, _, Ok(())))) => format!("switched {group} in {process}"),
            Some(Ok((_, _, Err(error))) | Err(error)) => format!("can't switch {group}: {error}"),
        }
    }

    /// The calls of the group of a row, and the number of those that are not listed; or why not.
    pub(super) fn sites(&mut self, row: &GroupRow) -> Result<(Vec<Site>, u64), String> {
        let (process, group) = (&row.process, row.group.clone());
        let wanted = format!("group {}", Quoted(&group));
        let asked = self.ask(process, move |program| program.sites(&wanted, MOST_SITES));
        let (mut sites, taken) = asked
            .ok_or_else(|| format!("{process} has ended"))?
            .map_err(|error| format!("can't list calls: {error}"))?;
        let left_out = taken.saturating_sub(sites.len() as u64);
        // The selector also takes groups whose names end so.
        sites.retain(|site| site.group == group);
        Ok((sites, left_out))
    }

    /// Gives a call a rule, or takes it back, and reports the change.
    pub(super) fn set_rule(&mut self, process: &ProcessName, rule: &CallRule) -> String {
        let CallRule { site, setting } = rule;
        let selector = selector_of(site);
        let item = format!("site {selector}={setting}");
        let ask = move |program: &mut Program| program.request(&Request::Set(&item)).map(drop);
        match self.ask(process, ask) {
            None => format!("{process} has ended"),
            Some(Err(error)) if has_ended(&error) => format!("{process} has ended"),
            Some(Ok(())) => format!("site {selector}={setting} in {process}"),
            Some(Err(error)) => format!("can't switch {selector}: {error}"),
        }
    }

    /// Asks one of the programs; gives none if that has ended.
    fn ask<T: Send + 'static>(
        &mut self,
        process: &ProcessName,
        ask: impl Fn(&mut Program) -> Result<T, Error> + Send + Sync + 'static,
    ) -> Option<Result<T, Error>> {
        let is_it = |program: &Program| ProcessName::of(program) == *process;
        let at = self.programs.iter().position(is_it)?;
        let program = self.programs.swap_remove(at);
        let answer = ask_each(vec![program], TIMEOUT, ask).pop();
        let Some((program, done)) = answer.flatten() else { return Some(Err(late())) };
        self.programs.push(program);
        Some(done)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        close(std::mem::take(&mut self.programs));
    }
}

fn late() -> Error {
    Error::Connection(ErrorKind::TimedOut.into())
}

/// Returns whether a program has ended, before or after it was asked.
fn has_ended(error: &Error) -> bool {
    match error {
        Error::Ended => true,
        Error::Connection(error) => {
            matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset)
        }
        _ => false,
    }
}

/// The groups of a program, with the numbers of its sessions.
fn rows_of(program: &mut Program) -> Result<Vec<GroupRow>, Error> {
    let process = ProcessName::of(program);
    let mut rows: BTreeMap<String, GroupRow> = BTreeMap::new();
    for group in program.groups()? {
        let row = GroupRow {
            text: least(switch::text_levels(group.word)),
            trace: least(switch::trace_levels(group.word)),
            compiled: group.compiled,
            has_rules: group.word & switch::SITE_RULES != 0,
            ..GroupRow::default()
        };
        rows.insert(group.name, row);
    }
    let lines = program.request(&Request::Stats)?;
    let mut session_limits = BTreeSet::new();
    for session in sessions(&process, &lines) {
        session_limits.extend(session.limit);
        for mut of in session.groups {
            let group = std::mem::take(&mut of.group);
            let row = rows.entry(group).or_insert_with(|| GroupRow {
                text: least(0),
                trace: least(0),
                ..GroupRow::default()
            });
            row.add(of);
        }
    }
    Ok(rows
        .into_iter()
        .map(|(group, row)| {
            let session_limits = session_limits.clone();
            GroupRow { process: process.clone(), group, session_limits, ..row }
        })
        .collect())
}

/// The least severe of these levels (bit = severity).
fn least(levels: u8) -> &'static str {
    Level::from_severity(levels.trailing_zeros() as u8)
        .map_or("off", |level| LEVELS[usize::from(level.severity())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_what_a_program_says_have_an_end() {
        let most = u64::MAX;
        let line = format!("session n stream {most} {most} {most} /x");
        let written = format!("written {most} {most} {most} Net");
        let lost = format!("lost {most} overwritten Net");
        let session = [line, written, lost.clone(), lost];
        let mut row = GroupRow::default();
        for session in sessions(&ProcessName::default(), &[&session[..], &session[..]].concat()) {
            session.groups.into_iter().for_each(|of| row.add(of));
        }
        let losses = BTreeMap::from([("overwritten".to_owned(), most)]);
        assert_eq!((row.messages, row.lost, row.losses), (most, most, losses));
    }

    #[test]
    fn many_groups_take_their_levels_one_by_one() {
        let row =
            |number: u32, text| GroupRow { group: number.to_string(), text, ..GroupRow::default() };
        let rows = |text| (0..300_000).map(|number| row(number, text)).collect();
        let mut shown = Sample::of(rows("off"));
        let mut later = Sample::of(rows("warn"));
        later.rows.reverse();
        later.rows.pop();
        shown.take_levels(&later);
        assert_eq!(shown.rows[0].text, "off", "it has ended");
        assert!(shown.rows[1..].iter().all(|row| row.text == "warn"));
    }
}
