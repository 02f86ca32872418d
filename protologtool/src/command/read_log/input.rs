//! The bytes of the trace that is named: as they are, completed by the recording of a process that died, or made from a recording.
//!
//! Invariant: nothing is written; standard error says where the bytes are not those of the file.

use crate::command::complete::{Completed, Completion, HEAD, complete_trace};
use crate::command::inputs::cant_read;
use crate::command::recover::{Rescued, counted, rescue_bytes, tell};
use crate::exit::Failure;
use crate::output::reason;
use crate::system::System;
use protolog_reader::{ByteSource, Log, Recording, session_id};
use std::path::{Path, PathBuf};

/// Ends of names of traces.
const ENDINGS: [&str; 3] = ["pftrace", "perfetto-trace", "pftrace.gz"];

/// The trace at `path`, `-` for standard input. `note` gets lines about what is not as it stands in the file.
pub(in crate::command) fn read_trace(
    path: &Path,
    system: &dyn System,
    note: &dyn Fn(&str),
) -> Result<Vec<u8>, Failure> {
    let is_input = path == Path::new("-");
    if !is_input && system.is_directory(path) {
        return Err(directory(path, system));
    }
    let bytes = if is_input { system.read_input() } else { system.read(path) };
    let mut bytes = bytes.map_err(|error| cant_read(path, &error))?;
    if Recording::matches(&bytes) {
        return read_recording(path, bytes, system);
    }
    if is_input {
        return Ok(bytes);
    }
    match complete_trace(path, &mut bytes, system) {
        Ok(Completion::Done(Completed { report, .. })) if report.messages == 0 => {
            note(&format!(
                "note: its process died, after all messages were in it\nhelp: give it an end with `protologtool recover {}`\n",
                path.display(),
            ));
        }
        Ok(Completion::Done(Completed { recording, report })) => note(&format!(
            "note: its process died; {} more come from `{}`\nhelp: make them a part of it with `protologtool recover {}`\n",
            counted(report.messages, "message", "messages"),
            recording.display(),
            path.display(),
        )),
        Ok(Completion::Running) => {
            note("note: it is still being written; messages of the last second may be missing\n");
        }
        Ok(Completion::None) => {}
        Err(error) => {
            let shown = path.display();
            note(&format!("warning: can't complete `{shown}`: {}\n", reason(&error)));
        }
    }
    Ok(bytes)
}

/// The bytes of a file that is a trace as it stands, in parts; none of anything else.
pub(super) fn parts_of(path: &Path, system: &dyn System) -> Option<Box<dyn ByteSource>> {
    if path == Path::new("-") || system.is_directory(path) {
        return None;
    }
    let source = system.source(path).ok()??;
    let head = source.read_at(0, HEAD).ok()?;
    let is_alone = || system.find_recording(path, session_id(&head)).is_none();
    (!Recording::matches(&head) && is_alone()).then_some(source)
}

/// The trace that a recording makes, or completes.
fn read_recording(path: &Path, bytes: Vec<u8>, system: &dyn System) -> Result<Vec<u8>, Failure> {
    let Rescued { trace, report, completes, .. } = rescue_bytes(path, bytes, system)?;
    let note = |line: &str| system.print_error(&format!("note: recovered in memory: {line}"));
    // Flaws are warnings here: what is readable is shown.
    let _ = tell(path, &report, true, system, note);
    let shown = path.display();
    let output = if completes { "" } else { " -o TRACE" };
    system.print_error(&format!("help: keep it with `protologtool recover {shown}{output}`\n"));
    Ok(trace)
}

/// The failure for a directory, with a trace that is in it.
fn directory(path: &Path, system: &dyn System) -> Failure {
    let shown = path.display();
    let is_trace = |path: &PathBuf| {
        path.to_str().is_some_and(|path| {
            let ending =
                |end: &&str| path.strip_suffix(*end).is_some_and(|rest| rest.ends_with('.'));
            ENDINGS.iter().any(ending)
        })
    };
    let entries = system.entries(path).unwrap_or_default();
    let files = entries.into_iter().filter(|entry| !entry.is_directory).map(|entry| entry.path);
    let help = match files.filter(is_trace).min() {
        Some(trace) => format!("give a file, such as `{}`", trace.display()),
        None => "give the file that a session writes".to_owned(),
    };
    Failure::new(format!("can't read `{shown}`: is a directory")).help(help)
}

/// The lines for a file in which there is nothing that could be shown; empty for any other.
pub(super) fn hint_of_content(log: &Log) -> &'static str {
    let stats = log.stats();
    let dictionary = log.dictionary();
    let is_ours = stats.buffer.is_some() || !stats.unended.is_empty();
    let has_data = stats.entries > 0
        || !log.losses().is_empty()
        || !dictionary.is_empty()
        || dictionary.groups().next().is_some();
    if stats.bytes == 0 {
        "help: look again when its session has written to it, or give another file\n"
    } else if !is_ours && !has_data && stats.packets > 0 {
        "warning: the trace has no data of ProtoLog, only of other data sources\n\
         help: give the file of a session, or record with the data source `android.protolog`\n"
    } else {
        ""
    }
}
