//! `trace` and `stats`: sessions in programs.

use super::args::{Keep, Start};
use super::programs::Programs;
use crate::cli::Failure;
use crate::output::reason;
use crate::system::System;
use protolog_core::control::protocol::{Keeps, Reply, Request, TraceStart};
use protolog_core::control::setting::{Item, Settings};
use protolog_reader::Trace;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

/// A session, as JSON and for text.
#[derive(Debug, Serialize)]
struct Session {
    program: String,
    pid: u32,
    file: String,
    keeps: &'static str,
    messages: u64,
    lost: u64,
    bytes: u64,
    /// By group: messages in the file, where it is a file that is written all the time.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    written: BTreeMap<String, u64>,
    losses: Vec<Loss>,
}

#[derive(Debug, Serialize)]
struct Loss {
    group: String,
    cause: String,
    count: u64,
}

/// `trace start`
pub(super) fn start(
    programs: &mut Programs,
    start: &Start,
    system: &dyn System,
) -> Result<(), Failure> {
    if programs.all.is_empty() {
        return Err(
            Failure::new("no program listens").help("start one that calls `protolog_rt::init()`")
        );
    }
    let file_of =
        |name: &str, pid: u32| start.file.replace("%p", &pid.to_string()).replace("%n", name);
    let files: BTreeSet<_> =
        programs.all.iter().map(|program| file_of(&program.name, program.pid)).collect();
    if files.len() < programs.all.len() {
        let many = programs.all.len();
        return Err(Failure::new(format!("{many} programs can't write one file `{}`", start.file))
            .help("write %p in its name, which stands for the process id, or choose a program with --pid"));
    }
    let directory = std::env::current_dir()
        .map_err(|error| Failure::new(format!("no working directory: {}", reason(&error))))?;
    let wanted = wanted(start, system)?;
    let keeps = match start.keep {
        None => Keeps::Stream,
        Some(Keep::Newest) => Keeps::Newest,
        Some(Keep::First) => Keeps::First,
    };
    let started = programs.each(
        |program| {
            let path = directory.join(file_of(&program.name, program.pid));
            let file = path.to_string_lossy();
            let settings = settings(&wanted, &program.name);
            let start =
                TraceStart { keeps, buffer: start.buffer, settings: &settings, file: &file };
            program.ask(&Request::TraceStart(start))?;
            Ok(file.into_owned())
        },
        system,
    );
    let mut text = String::new();
    for (program, pid, file) in started {
        let _ = writeln!(text, "Recording client {program} (pid {pid}) to {file}");
    }
    system.print(&text);
    Ok(())
}

/// What is to be recorded: the configuration file, and the flags, as wishes.
struct Wanted {
    config: String,
    flags: String,
}

fn wanted(start: &Start, system: &dyn System) -> Result<Wanted, Failure> {
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
    Ok(Wanted { config: format!("*={}\n{config}", start.level.level().name()), flags })
}

fn check(text: &str, origin: &str) -> Result<(), Failure> {
    match Settings::new(text).find_map(Result::err) {
        None => Ok(()),
        Some(error) => Err(Failure::new(format!("{origin}: {error}")).help(error.help())),
    }
}

/// The wishes that are for a program, in one word; later ones win.
fn settings(wanted: &Wanted, program: &str) -> String {
    let all = Settings::new(&wanted.config).chain(Settings::new(&wanted.flags));
    let meant = all
        .filter_map(Result::ok)
        .filter(|item| item.program.is_none_or(|name| name == program))
        .filter(|item| item.setting.trace.is_some());
    let items: Vec<_> =
        meant.map(|Item { group, setting, .. }| format!("{group}={setting}")).collect();
    items.join(";")
}

/// `trace stop`
pub(super) fn stop(programs: &mut Programs, json: bool, system: &dyn System) {
    let answers = programs.each(
        |program| {
            let recording = !program.ask(&Request::TraceStatus)?.is_empty();
            if recording { program.ask(&Request::TraceStop) } else { Ok(Vec::new()) }
        },
        system,
    );
    show(&answers, json, false, system);
}

/// `trace status`
pub(super) fn status(programs: &mut Programs, json: bool, system: &dyn System) {
    let answers = programs.each(|program| program.ask(&Request::TraceStatus), system);
    show(&answers, json, false, system);
}

/// `stats`
pub(super) fn stats(programs: &mut Programs, json: bool, system: &dyn System) {
    let answers = programs.each(|program| program.ask(&Request::Stats), system);
    show(&answers, json, true, system);
    for (program, pid, lines) in &answers {
        for line in lines {
            if let Some(Reply::Problem(text)) = Reply::parse(line) {
                system.print_error(&format!("warning: {program} (pid {pid}): {text}\n"));
            }
        }
    }
}

fn show(answers: &[(String, u32, Vec<String>)], json: bool, by_group: bool, system: &dyn System) {
    let mut text = String::new();
    for (program, pid, lines) in answers {
        for mut session in sessions(program, *pid, lines) {
            if by_group {
                session.written = written(&session);
            }
            if json {
                print_json(&session, system);
            } else {
                render(&session, &mut text);
            }
        }
    }
    if text.is_empty() && !json {
        text.push_str("No trace is being recorded.\n");
    }
    system.print(&text);
}

fn sessions(program: &str, pid: u32, lines: &[String]) -> Vec<Session> {
    let mut all: Vec<Session> = Vec::new();
    for line in lines {
        match Reply::parse(line) {
            Some(Reply::Session { keeps, messages, lost, bytes, file, .. }) => all.push(Session {
                program: program.to_owned(),
                pid,
                file: file.to_owned(),
                keeps: keeps.name(),
                messages,
                lost,
                bytes,
                written: BTreeMap::new(),
                losses: Vec::new(),
            }),
            Some(Reply::Lost { count, cause, group }) => {
                let (group, cause) = (group.to_owned(), cause.to_owned());
                if let Some(session) = all.last_mut() {
                    session.losses.push(Loss { group, cause, count });
                }
            }
            _ => {}
        }
    }
    all
}

/// Messages by group, as the file itself says: the program counts none.
fn written(session: &Session) -> BTreeMap<String, u64> {
    let mut groups = BTreeMap::new();
    let read = Trace::open(Path::new(&session.file)).ok().and_then(|trace| trace.read().ok());
    if let Some(log) = read.filter(|_| session.keeps == Keeps::Stream.name()) {
        for entry in log.entries() {
            let group = entry.values().group(&log).map_or("", |group| group.name.as_str());
            *groups.entry(group.to_owned()).or_default() += 1;
        }
    }
    groups
}

fn render(session: &Session, text: &mut String) {
    let Session { program, pid, file, messages, lost, bytes, .. } = session;
    let _ = writeln!(
        text,
        "{program} (pid {pid}): {messages} messages, {lost} lost, {bytes} bytes, {}",
        match session.keeps {
            "stream" => format!("to {file}"),
            keeps => format!("the {keeps} ones kept for {file}"),
        }
    );
    for (group, count) in &session.written {
        let _ = writeln!(text, "  {}: {count} written", known(group));
    }
    for Loss { group, cause, count } in &session.losses {
        let _ = writeln!(text, "  {}: {count} lost ({cause})", known(group));
    }
}

fn known(group: &str) -> &str {
    if group.is_empty() { "(group not known)" } else { group }
}

/// Prints a value as a line of JSON.
pub(super) fn print_json(value: &impl Serialize, system: &dyn System) {
    if let Ok(mut line) = serde_json::to_string(value) {
        line.push('\n');
        system.print(&line);
    }
}
