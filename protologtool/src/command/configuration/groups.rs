//! `groups list` and `groups status`: the groups, with the printed levels of each, and which
//! sessions of which program trace it.

use super::process::ProcessName;
use super::programs::{Programs, warn_all};
use super::site::rule_line;
use super::trace::{destination, print_json};
use super::unknown;
use crate::system::System;
use protolog_control::{Error, Group, Program, Rule, Rules, Session};
use protolog_core::Level;
use protolog_core::control::name::Quoted;
use protolog_core::control::{self, switch};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;

const NONE: &str = "No ProtoLog groups registered with ProtoLog service.\n";

/// A group of a program, as JSON.
#[derive(Serialize)]
struct GroupLine<'a> {
    #[serde(flatten)]
    process: &'a ProcessName,
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
    /// The sessions that record it; none of a program that is too old to list them.
    sessions: Option<Vec<SessionOfGroup<'a>>>,
}

/// A session that records a group, as JSON.
#[derive(Serialize)]
struct SessionOfGroup<'a> {
    /// The file that it writes, now or in the end; null if it is in memory only.
    file: Option<&'a str>,
    fill_policy: &'static str,
    /// True if `trace start` started it.
    control: bool,
    /// The limit of its bytes, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<String>,
    /// The levels that it records of the group: those that it enables, as far as the operator
    /// allows them.
    levels: Vec<&'static str>,
}

/// The groups and sessions of a program. The answer of another user's program may be anything, so a
/// name that comes again is left out, and nothing looks at each session for each group: work and
/// memory are in proportion to the answer.
struct ProcessGroups {
    process: ProcessName,
    groups: Vec<Group>,
    /// None if the program is too old to list them.
    sessions: Option<Vec<Session>>,
    /// The rules of single calls.
    rules: Vec<Rule>,
    /// The sessions that enable levels of a group, by its name, each with the levels.
    by_group: HashMap<String, Vec<(usize, u8)>>,
}

impl ProcessGroups {
    /// Asks all programs.
    fn of(programs: &mut Programs, system: &dyn System) -> Vec<Self> {
        let ask = |program: &mut Program| -> Result<_, Error> {
            Ok((program.groups_and_problems()?, program.sessions()?, program.rules()?))
        };
        let (mut all, mut warnings) = (Vec::new(), Vec::new());
        for (process, ((groups, problems), sessions, rules)) in programs.each(ask, system) {
            let warning = |text| (process.user, format!("warning: {process}: {text}\n"));
            let Rules { rules, problems: of_rules } = rules.unwrap_or_default();
            warnings.extend(problems.into_iter().chain(of_rules).map(warning));
            all.push(Self { rules, ..Self::new(process, groups, sessions) });
        }
        warn_all(warnings, system);
        all
    }

    fn new(process: ProcessName, mut groups: Vec<Group>, sessions: Option<Vec<Session>>) -> Self {
        let mut known = HashSet::new();
        groups.retain(|group| known.insert(group.name.clone()));
        let mut by_group: HashMap<String, Vec<_>> = HashMap::new();
        for (index, session) in sessions.iter().flatten().enumerate() {
            for (group, levels) in &session.groups {
                if let Some(group) = known.get(group) {
                    by_group.entry(group.clone()).or_default().push((index, *levels));
                }
            }
        }
        Self { process, groups, sessions, rules: Vec::new(), by_group }
    }

    /// The sessions that record a group, with the levels that are left of those they enable.
    fn tracing<'a>(&'a self, group: &Group) -> Option<Vec<(&'a Session, u8)>> {
        let sessions = self.sessions.as_ref()?;
        let allowed = switch::allowed_levels(group.word);
        let all = self.by_group.get(&group.name).into_iter().flatten();
        let all = all.filter_map(|(index, levels)| Some((sessions.get(*index)?, levels & allowed)));
        Some(all.filter(|(_, levels)| *levels != 0).collect())
    }

    /// The levels of a group that any session records.
    fn traced(&self, group: &Group) -> u8 {
        match self.tracing(group) {
            Some(sessions) => sessions.iter().fold(0, |all, (_, levels)| all | levels),
            None => switch::trace_levels(group.word),
        }
    }

    /// A line for each session that records a group.
    fn tracing_lines(&self, group: &Group) -> Vec<String> {
        let process = &self.process;
        let by = |levels: u8| {
            let from = Level::from_severity(levels.trailing_zeros() as u8).map_or("", Level::name);
            format!("traced by {process} from {from} on")
        };
        let line = |(session, levels): (&Session, u8)| {
            let file = session.file.as_deref();
            let most = session.limit.map(|it| format!(", at most {it}")).unwrap_or_default();
            format!("{}, {}{most}", by(levels), destination(session.fill_policy.name(), file))
        };
        match self.tracing(group) {
            Some(sessions) => sessions.into_iter().map(line).collect(),
            None => match self.traced(group) {
                0 => Vec::new(),
                levels => vec![by(levels)],
            },
        }
    }

    /// A group's state in AOSP's words, with the rest of it.
    fn state(&self, group: &Group) -> String {
        let printed = switch::text_levels(group.word);
        let mut text = format!("LOG_TO_LOGCAT = {}", part(printed));
        if !group.compiled {
            text.push_str(" (not compiled in)");
            return text;
        }
        let _ = write!(text, ", TRACE = {}", part(self.traced(group)));
        let allowed = switch::allowed_levels(group.word);
        if u32::from(allowed) != switch::ALL_LEVELS {
            let _ = write!(text, ", ALLOWED = {}", part(allowed));
        }
        if group.word & switch::UNREGISTERED != 0 {
            text.push_str(" (not called yet)");
        }
        text
    }
}

/// The state of a group in one program.
struct ProgramState {
    text: String,
    program: String,
    tracing: Vec<String>,
}

/// `groups list`
pub(super) fn list(programs: &mut Programs, json: bool, system: &dyn System) {
    if json {
        return lines(&ProcessGroups::of(programs, system), &[], system);
    }
    let names = unknown::names(programs, system);
    if names.is_empty() {
        return system.print(NONE);
    }
    let mut text = "ProtoLog groups registered with service:\n".to_owned();
    for name in names {
        let _ = writeln!(text, "- {}", Quoted(&name));
    }
    system.print(&text);
}

/// `groups names`: for shells. The last segments, where they mean one group, since shells part
/// words at colons.
///
/// A shell puts its completions into a line that it obeys, and a program of another user may give a
/// group any name. So names with a character that any shell takes for more than itself are left
/// out.
pub(super) fn names(programs: &mut Programs, system: &dyn System) {
    system.print(&names_for_shells(&unknown::names(programs, system)));
}

fn names_for_shells(all: &BTreeSet<String>) -> String {
    let last = |name: &str| name.rsplit([':', '.']).next().map_or(String::new(), str::to_owned);
    // How many groups `matches_group` takes a last segment for: their end, or their beginning.
    let mut counts: HashMap<String, usize> = HashMap::new();
    for name in all {
        let name = name.to_ascii_lowercase();
        *counts.entry(last(&name)).or_default() += 1;
        if let Some((first, _)) = name.split_once([':', '.']) {
            *counts.entry(first.to_owned()).or_default() += 1;
        }
    }
    let mut text = String::new();
    for name in all {
        let short = last(name);
        let is_one = counts.get(&short.to_ascii_lowercase()) == Some(&1);
        let shown = if is_one { &short } else { name };
        if is_plain_word(shown) {
            let _ = writeln!(text, "{shown}");
        }
    }
    text
}

/// Returns whether every shell takes a word for itself, and the tool takes it for no option.
fn is_plain_word(word: &str) -> bool {
    let is_plain = |char: char| char.is_alphanumeric() || "_:.-".contains(char);
    !word.is_empty() && !word.starts_with('-') && word.chars().all(is_plain)
}

/// `groups status`
pub(super) fn status(programs: &mut Programs, groups: &[String], json: bool, system: &dyn System) {
    let found = ProcessGroups::of(programs, system);
    let names = all_names(&found);
    let is_known = |group: &str| names.iter().any(|name| control::matches_group(group, name));
    let missing: Vec<&str> = groups.iter().map(String::as_str).filter(|it| !is_known(it)).collect();
    if json {
        lines(&found, groups, system);
    } else if groups.is_empty() {
        system.print(&status_of_all(&found));
    } else {
        for group in groups {
            system.print(&status_of(group, &found));
        }
    }
    unknown::report(programs, &missing, &names, system);
}

/// The state of all groups.
fn status_of_all(found: &[ProcessGroups]) -> String {
    let states = states(found);
    if states.is_empty() {
        return NONE.to_owned();
    }
    let mut text = "Status for all ProtoLog groups:\n".to_owned();
    for (name, states) in &states {
        for line in state_lines(states) {
            let _ = writeln!(text, "  {}: {line}", Quoted(name));
        }
        add_tracing(states, "    ", &mut text);
    }
    add_rules(found, &mut text);
    text
}

/// Adds the rules of single calls.
fn add_rules(found: &[ProcessGroups], text: &mut String) {
    let rules = |one: &ProcessGroups| {
        let line = |rule| format!("  {} in {}\n", rule_line(rule), one.process);
        one.rules.iter().map(line).collect::<String>()
    };
    let rules: String = found.iter().map(rules).collect();
    if !rules.is_empty() {
        let _ = write!(text, "Rules of single calls:\n{rules}");
    }
}

/// The state of the groups that `group` matches.
fn status_of(group: &str, found: &[ProcessGroups]) -> String {
    let mut text = format!("ProtoLog group {group}'s status:\n");
    let states = states(found);
    let named = states.iter().filter(|(name, _)| control::matches_group(group, name));
    let named: Vec<_> = named.collect();
    if named.is_empty() {
        text.push_str("UNREGISTERED\n");
    }
    for (name, states) in &named {
        for line in state_lines(states) {
            let _ = match named.len() {
                1 => writeln!(text, "{line}"),
                _ => writeln!(text, "{}: {line}", Quoted(name)),
            };
        }
        add_tracing(states, "  ", &mut text);
    }
    add_rules(found, &mut text);
    text
}

/// Adds the lines that say who traces a group.
fn add_tracing(states: &[ProgramState], indent: &str, text: &mut String) {
    for line in states.iter().flat_map(|state| &state.tracing) {
        let _ = writeln!(text, "{indent}{line}");
    }
}

fn all_names(found: &[ProcessGroups]) -> BTreeSet<&str> {
    found.iter().flat_map(|one| &one.groups).map(|group| group.name.as_str()).collect()
}

/// By group: its state in each program that has it.
fn states(found: &[ProcessGroups]) -> BTreeMap<&str, Vec<ProgramState>> {
    let mut states: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for process in found {
        for group in &process.groups {
            let program = process.process.to_string();
            let (text, tracing) = (process.state(group), process.tracing_lines(group));
            let state = ProgramState { text, program, tracing };
            states.entry(group.name.as_str()).or_default().push(state);
        }
    }
    states
}

/// One line where all programs agree, otherwise one for each.
fn state_lines(states: &[ProgramState]) -> Vec<String> {
    match states {
        [first, rest @ ..] if rest.iter().all(|state| state.text == first.text) => {
            vec![first.text.clone()]
        }
        _ => states
            .iter()
            .map(|ProgramState { text, program, .. }| format!("{text} in {program}"))
            .collect(),
    }
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
    for process in found {
        let meant = |group: &&Group| {
            groups.is_empty()
                || groups.iter().any(|pattern| control::matches_group(pattern, &group.name))
        };
        for group in process.groups.iter().filter(meant) {
            let Group { word, compiled, name, tag, .. } = group;
            let of_group = |(session, levels)| {
                let Session { control, fill_policy, file, limit, .. }: &Session = session;
                SessionOfGroup {
                    file: file.as_deref(),
                    fill_policy: fill_policy.name(),
                    control: *control,
                    limit: limit.map(|it| it.to_string()),
                    levels: set(levels),
                }
            };
            let line = GroupLine {
                process: &process.process,
                group: name,
                tag,
                compiled: *compiled,
                text: set(switch::text_levels(*word)),
                enabled: set(switch::session_levels(*word)),
                allowed: set(switch::allowed_levels(*word)),
                registered: word & switch::UNREGISTERED == 0,
                sessions: process.tracing(group).map(|all| all.into_iter().map(of_group).collect()),
            };
            print_json(&line, system);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_are_given_names_that_they_do_not_obey() {
        let names =
            |all: &[&str]| names_for_shells(&all.iter().map(|name| (*name).to_owned()).collect());
        assert_eq!(names(&["app::Log::Net", "app::Log::Disk"]), "Disk\nNet\n");
        assert_eq!(names(&["a::Net", "b.net", "c::Größe"]), "a::Net\nb.net\nGröße\n");
        for hostile in [
            "x$(id>pwned)",
            "`id`",
            "a;id",
            "a|id",
            "a&id",
            "a>b",
            "*",
            "~",
            "{a,b}",
            "a\\b",
            "'",
            "\"",
            "!id",
            "a\tb",
            "a\u{a0}b",
            "a\u{202e}b",
            "--persist",
            "-h",
            "a::",
            "",
        ] {
            assert_eq!(names(&[hostile]), "", "{hostile:?}");
            assert_eq!(names(&[&format!("app::{hostile}"), "Net"]), "Net\n", "{hostile:?}");
        }
    }

    #[test]
    fn many_names_take_no_longer_for_each_other() {
        // Each with each other would be 10^11 comparisons.
        let all = (0..300_000).map(|number| format!("app::Group{number}")).collect();
        assert_eq!(names_for_shells(&all).lines().count(), 300_000);
    }

    #[test]
    fn an_answer_takes_no_more_than_its_size() {
        // Each session for each group, or for each mention of one, would be 10^10 lines.
        let count = 100_000;
        let group =
            |name: String| Group { name, word: 0x3f3f_3f3f, compiled: true, ..Group::default() };
        let session = |_| Session {
            control: false,
            fill_policy: protolog_core::FillPolicy::Stream,
            file: None,
            limit: None,
            groups: BTreeMap::from([("a::Net".to_owned(), 0x3f)]),
        };
        let same = (0..count).map(|_| group("a::Net".to_owned()));
        let others = (0..count).map(|number| group(format!("a::Group{number}")));
        let sessions = (0..count).map(session).collect();
        let name = ProcessName::default();
        let process = ProcessGroups::new(name, same.chain(others).collect(), Some(sessions));
        assert_eq!(process.groups.len(), count + 1);
        let lines = process.groups.iter().map(|group| process.tracing_lines(group).len());
        assert_eq!(lines.sum::<usize>(), count);
    }
}
