//! `trace` and `stats`: sessions in programs.

use super::args::{Choice, Keep, Start, TraceLimit};
use super::process::ProcessName;
use super::programs::{LISTENS, Programs};
use super::{state, unknown};
use crate::exit::Failure;
use crate::output::reason;
use crate::suggest::{did_you_mean_group, name_forms};
use crate::system::System;
use protolog_control::{Error, Program};
use protolog_core::FillPolicy;
use protolog_core::control::matches_group;
use protolog_core::control::name::{Quoted, characters};
use protolog_core::control::protocol::{Reply, Request, TraceStart};
use protolog_core::control::setting::{GroupSetting, Settings};
use protolog_reader::printable_json;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

/// A session, as JSON and for text.
#[derive(Debug, Serialize)]
pub(super) struct Session {
    #[serde(flatten)]
    process: ProcessName,
    file: String,
    fill_policy: &'static str,
    messages: u64,
    lost: u64,
    bytes: u64,
    /// The limit of its bytes, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) limit: Option<String>,
    pub(super) groups: Vec<OfGroup>,
}

/// The numbers of a group's messages that a session wrote and lost.
#[derive(Debug, Serialize)]
pub(super) struct OfGroup {
    /// Empty where it is not known.
    pub(super) group: String,
    pub(super) messages: u64,
    pub(super) lost: u64,
    bytes: u64,
    /// By cause: those lost, and those whose texts were cut.
    pub(super) losses: BTreeMap<String, u64>,
}

/// A cause that was fired, as JSON.
#[derive(Debug, Serialize)]
struct Triggered<'a> {
    #[serde(flatten)]
    process: ProcessName,
    cause: &'a str,
}

/// A program whose sessions were limited, as JSON.
#[derive(Debug, Serialize)]
struct Limited {
    #[serde(flatten)]
    process: ProcessName,
    setting: String,
}

/// A session that was started, as JSON.
#[derive(Debug, Serialize)]
struct Started {
    #[serde(flatten)]
    process: ProcessName,
    file: String,
}

/// `trace start`
pub(super) fn start(
    programs: &mut Programs,
    start: &Start,
    json: bool,
    system: &dyn System,
) -> Result<(), Failure> {
    if programs.all.is_empty() {
        return Err(
            Failure::new("no program listens").help(format!("start one that calls {LISTENS}"))
        );
    }
    let file_of =
        |file: &str, name: &str, pid: u32| file.replace("%p", &pid.to_string()).replace("%n", name);
    let file = |program: &Program| file_of(&start.file, &program.name, program.pid);
    let files: BTreeSet<_> = programs.all.iter().map(file).collect();
    if files.len() < programs.all.len() {
        let many = programs.all.len();
        return Err(Failure::new(format!("{many} programs can't write one file `{}`", start.file))
            .help("write %p in its name, which stands for the process id, or choose a program with --pid"));
    }
    let directory = std::env::current_dir()
        .map_err(|error| Failure::new(format!("no working directory: {}", reason(&error))))?;
    let wanted = wanted(start, system)?;
    refuse_unknown(programs, &wanted.flags, system)?;
    let fill_policy = match start.keep {
        None => FillPolicy::Stream,
        Some(Keep::Newest) => FillPolicy::RingBuffer,
        Some(Keep::First) => FillPolicy::Discard,
    };
    let (name, buffer) = (start.file.clone(), start.buffer);
    let started = programs.each(
        move |program| {
            let path = directory.join(file_of(&name, &program.name, program.pid));
            let file = path.to_string_lossy();
            let settings = settings(&wanted, &program.name);
            let start = TraceStart { fill_policy, buffer, settings: &settings, file: &file };
            program.request(&Request::TraceStart(start))?;
            Ok(file.into_owned())
        },
        system,
    );
    let mut text = String::new();
    for (process, file) in started {
        if json {
            print_json(&Started { process, file }, system);
        } else {
            let _ = writeln!(text, "Recording client {process} to {file}");
        }
    }
    system.print(&text);
    Ok(())
}

/// The levels to record, as settings: those of the configuration file, and those of the flags.
struct RequestedLevels {
    config: String,
    flags: String,
}

fn wanted(start: &Start, system: &dyn System) -> Result<RequestedLevels, Failure> {
    let mut config = String::new();
    if let Some(path) = &start.config {
        let bytes = system.read(path).map_err(|error| {
            Failure::new(format!("can't read `{}`: {}", path.display(), reason(&error)))
        })?;
        config = String::from_utf8_lossy(&bytes).into_owned();
        check(&config, &path.display().to_string())?;
    }
    let flags = start.group.join("\n");
    check(&flags, "--group")?;
    Ok(RequestedLevels { config: format!("*={}\n{config}", start.level.name()), flags })
}

fn check(text: &str, origin: &str) -> Result<(), Failure> {
    match Settings::new(text).find_map(Result::err) {
        None => Ok(()),
        Some(error) => Err(Failure::new(format!("{origin}: {error}")).help(error.help())),
    }
}

/// Refuses a group of `--group` that no program has, so that a misspelled one does not leave an
/// empty trace. The file of `--config` may name groups that come later.
fn refuse_unknown(
    programs: &mut Programs,
    flags: &str,
    system: &dyn System,
) -> Result<(), Failure> {
    let patterns: Vec<_> = Settings::new(flags).filter_map(Result::ok).map(|it| it.group).collect();
    if patterns.is_empty() {
        return Ok(());
    }
    let names = unknown::names(programs, system);
    let is_missing = |pattern: &&&str| !names.iter().any(|name| matches_group(pattern, name));
    let Some(pattern) = patterns.iter().find(is_missing) else { return Ok(()) };
    let names = name_forms(names.iter().map(String::as_str));
    let close = did_you_mean_group(pattern, &names);
    let failure = Failure::new(format!("no group is named `{pattern}`{close}"));
    Err(failure.help("see `protologtool configuration groups list`; groups that come later go into the file of `--config`"))
}

/// The settings of a program, in one word; later ones win.
fn settings(wanted: &RequestedLevels, program: &str) -> String {
    let all = Settings::new(&wanted.config).chain(Settings::new(&wanted.flags));
    let meant = all
        .filter_map(Result::ok)
        .filter(|item| item.program.is_none_or(|name| name == program))
        .filter(|item| item.setting.trace.is_some());
    let items: Vec<_> = meant
        .map(|GroupSetting { group, setting, .. }| format!("{}={setting}", word(group)))
        .collect();
    items.join(";")
}

/// A pattern as a part of one word: spaces and controls are between quotation marks only.
fn word(pattern: &str) -> String {
    if pattern == "*" {
        return pattern.to_owned();
    }
    Quoted(&characters(pattern).collect::<String>()).to_string().replace(' ', "\\u{20}")
}

/// `trace stop`
pub(super) fn stop(programs: &mut Programs, json: bool, system: &dyn System) {
    let asked = programs.all.len();
    let answers = programs.each(
        |program| {
            let recording = !program.request(&Request::TraceStatus)?.is_empty();
            if recording { program.request(&Request::TraceStop) } else { Ok(Vec::new()) }
        },
        system,
    );
    show((&answers, asked), json, false, system);
}

/// `trace status`
pub(super) fn status(programs: &mut Programs, json: bool, system: &dyn System) {
    let asked = programs.all.len();
    let answers = programs.each(|program| program.request(&Request::TraceStatus), system);
    show((&answers, asked), json, false, system);
}

/// `trace trigger`
pub(super) fn trigger(programs: &mut Programs, cause: &str, json: bool, system: &dyn System) {
    // Programs of a family tell each other of it, too: by its time each knows what it has.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let (nanos, wanted) = (u64::try_from(since.as_nanos()).unwrap_or(u64::MAX), cause.to_owned());
    let request =
        move |program: &mut Program| match program.request(&Request::TriggerAt(nanos, &wanted)) {
            // A runtime that is older than the word takes the time at which it is asked.
            Err(Error::Refused { message, .. }) if message.starts_with("unknown request") => {
                program.request(&Request::Trigger(&wanted)).map(|_| true)
            }
            answer => answer.map(|_| false),
        };
    let fired = programs.each(request, system);
    let mut text = String::new();
    for (process, is_older) in fired {
        let of = if is_older { " of a time of its own, since its runtime is older" } else { "" };
        if json {
            print_json(&Triggered { process, cause }, system);
        } else {
            let _ = writeln!(text, "{process}: writes a file{of}");
        }
    }
    system.print(&text);
}

/// `trace limit`
pub(super) fn limit(
    programs: &mut Programs,
    args: &TraceLimit,
    choice: &Choice,
    system: &dyn System,
) -> Result<(), Failure> {
    let line = format!("sessions {}", args.limit);
    let wanted = line.clone();
    let request = move |program: &mut Program| match program.request(&Request::Set(&wanted)) {
        Err(Error::Refused { message, .. }) if message.starts_with("missing `=`") => {
            let message = "its runtime is older, and limits no sessions".to_owned();
            let help = "limit calls by `configuration limit`".to_owned();
            Err(Error::Refused { message, help })
        }
        answer => answer,
    };
    let limited = programs.each(request, system);
    if args.persist {
        state::remember_limit(&line, &choice.name, system)?;
    }
    let mut text = String::new();
    for (process, _) in limited {
        let setting = args.limit.to_string();
        if choice.json {
            print_json(&Limited { process, setting }, system);
        } else {
            let _ = writeln!(text, "Setting sessions of client {process} to {setting}");
        }
    }
    system.print(&text);
    Ok(())
}

/// `stats`
pub(super) fn stats(programs: &mut Programs, json: bool, system: &dyn System) {
    let asked = programs.all.len();
    let answers = programs.each(|program| program.request(&Request::Stats), system);
    show((&answers, asked), json, true, system);
    for (process, lines) in &answers {
        for line in lines {
            if let Some(Reply::Problem(text)) = Reply::parse(line) {
                system.print_error(&format!("warning: {process}: {text}\n"));
            }
        }
    }
}

/// Shows the sessions in the answers of so many programs.
fn show(
    (answers, asked): (&[(ProcessName, Vec<String>)], usize),
    json: bool,
    by_group: bool,
    system: &dyn System,
) {
    let mut text = String::new();
    for (process, lines) in answers {
        for session in sessions(process, lines) {
            if json {
                print_json(&session, system);
            } else {
                render(&session, by_group, &mut text);
            }
        }
    }
    // A program that has not answered, or can't stop its trace, may have one.
    if text.is_empty() && !json && answers.len() == asked {
        text.push_str("No trace is being recorded.\n");
    }
    system.print(&text);
}

/// The sessions in the reply of a program.
pub(super) fn sessions(process: &ProcessName, lines: &[String]) -> Vec<Session> {
    let mut all: Vec<Session> = Vec::new();
    // Places of groups in the last session: the answer of a program may be any number of lines.
    let mut places: HashMap<&str, usize> = HashMap::new();
    for line in lines {
        match Reply::parse(line) {
            Some(Reply::Session { fill_policy, messages, lost, bytes, file, .. }) => {
                all.push(Session {
                    process: process.clone(),
                    file: file.to_owned(),
                    fill_policy: fill_policy.name(),
                    messages,
                    lost,
                    bytes,
                    limit: None,
                    groups: Vec::new(),
                });
                places.clear();
            }
            Some(Reply::Limited(limit)) => {
                let limit = Some(limit.to_string());
                all.last_mut().into_iter().for_each(|it| it.limit.clone_from(&limit));
            }
            Some(Reply::Written { messages, lost, bytes, group }) => {
                if let Some(session) = all.last_mut() {
                    places.entry(group).or_insert(session.groups.len());
                    let (group, losses) = (characters(group).collect(), BTreeMap::new());
                    session.groups.push(OfGroup { group, messages, lost, bytes, losses });
                }
            }
            Some(Reply::Lost { count, cause, group }) => {
                let groups = all.last_mut().map(|session| &mut session.groups);
                let place = places.get(group);
                if let Some(of) = groups.zip(place).and_then(|(all, place)| all.get_mut(*place)) {
                    let sum = of.losses.entry(cause.to_owned()).or_default();
                    *sum = sum.saturating_add(count);
                }
            }
            _ => {}
        }
    }
    all
}

/// A line for the session and, if wanted, one for each group; without, for those that lost
/// something.
fn render(session: &Session, by_group: bool, text: &mut String) {
    let Session { process, file, messages, lost, bytes, .. } = session;
    let most = session.limit.as_ref().map(|it| format!(", at most {it}")).unwrap_or_default();
    let _ = writeln!(
        text,
        "{process}: {messages} messages, {lost} lost, {bytes} bytes, {}{most}",
        destination(session.fill_policy, (file != "-").then_some(file))
    );
    for group in session.groups.iter().filter(|group| by_group || !group.losses.is_empty()) {
        let OfGroup { group, messages, lost, bytes, losses } = group;
        let known = match &**group {
            "" => "(group not known)".to_owned(),
            name => Quoted(name).to_string(),
        };
        let causes: Vec<_> =
            losses.iter().map(|(cause, count)| format!("{count} {cause}")).collect();
        let causes =
            if causes.is_empty() { String::new() } else { format!(" ({})", causes.join(", ")) };
        let _ = writeln!(text, "  {known}: {messages} written, {lost} lost{causes}, {bytes} bytes");
    }
}

/// The place where a session keeps messages, by the name of its fill policy and the file that it
/// writes.
pub(super) fn destination(fill_policy: &str, file: Option<&str>) -> String {
    match (fill_policy, file) {
        ("stream", Some(file)) => format!("to {file}"),
        ("ring-buffer", Some(file)) => format!("the newest ones kept for {file}"),
        (_, Some(file)) => format!("the first ones kept for {file}"),
        ("ring-buffer", None) => "the newest ones kept in memory".to_owned(),
        (_, None) => "kept in memory".to_owned(),
    }
}

/// Prints a value as a line of JSON.
pub(super) fn print_json(value: &impl Serialize, system: &dyn System) {
    if let Ok(line) = serde_json::to_string(value) {
        system.print(&format!("{}\n", printable_json(&line)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_those_of_the_group_in_the_last_session() {
        let session = "session n stream 1 0 0 f";
        // Each loss with each group would be 10^10 comparisons.
        let many = (0..100_000).map(|number| format!("written 1 0 0 a::G{number}"));
        let lost = (0..100_000).map(|number| format!("lost 2 buffer_full a::G{number}"));
        let lines = ["written 1 0 0 a::Lone", session, "written 1 0 0 a::G7", session];
        let lines = lines.map(str::to_owned).into_iter().chain(many).chain(lost);
        let lines: Vec<_> = lines.chain(["lost 1 buffer_full b::None".to_owned()]).collect();
        let all = sessions(&ProcessName::default(), &lines);
        let losses = |session: &Session| {
            session.groups.iter().filter(|of| of.losses.get("buffer_full") == Some(&2)).count()
        };
        assert_eq!(all.iter().map(losses).collect::<Vec<_>>(), [0, 100_000]);
    }
}
