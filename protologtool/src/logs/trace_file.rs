//! The bytes of the trace that is named: as they are, completed by the recording of a process that
//! died, or made from a recording.
//!
//! Invariant: nothing is written; standard error says where the bytes are not those of the file.

use crate::args::Expansion;
use crate::exit::Failure;
use crate::logs::completion::{Completed, Completion, HEAD, complete_trace};
use crate::logs::pipe_input;
use crate::logs::rescue::{RescuedTrace, counted, report_recovered, rescue_bytes};
use crate::output::cant_read;
use crate::output::reason;
use crate::system::{Spool, System};
use protolog_reader::{
    ByteSource, Decompressed, Limits, Recording, SourceReader, decompress, is_winscope_log,
    printable, session_id, trace_of_winscope_log,
};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Ends of names of traces.
const ENDINGS: [&str; 3] = ["pftrace", "perfetto-trace", "pftrace.gz"];

/// The note of a trace that a session writes.
fn still_written(path: &Path) -> String {
    let shown = printable(&path.to_string_lossy());
    format!("note: `{shown}` is still being written; messages of the last second may be missing\n")
}

/// The trace at `path`, `-` for standard input. `note` gets lines about differences from the file.
pub(crate) fn read_trace(
    path: &Path,
    system: &dyn System,
    note: &dyn Fn(&str),
) -> Result<Vec<u8>, Failure> {
    let is_input = path == Path::new("-");
    if !is_input && system.is_directory(path) {
        return Err(directory(path, system));
    }
    let bytes = if is_input || system.is_pipe(path) {
        pipe_input::read(path, system)
    } else {
        system.read_large(path)
    };
    let mut bytes = bytes.map_err(|error| cant_read(path, &error))?;
    if Recording::matches(&bytes) {
        return read_recording(path, bytes, system, note);
    }
    if is_winscope_log(&bytes) {
        return Ok(trace_of_winscope_log(&bytes));
    }
    if is_input {
        return Ok(bytes);
    }
    match complete_trace(path, &mut bytes, system) {
        Ok(Completion::Done(Completed { report, .. })) if report.messages == 0 => {
            note(&format!(
                "note: the process of `{0}` died, after all messages were in it\nhelp: give it an end with `protologtool recover {0}`\n",
                path.display(),
            ));
        }
        Ok(Completion::Done(Completed { recording, report })) => note(&format!(
            "note: the process of `{2}` died; {} more come from `{}`\nhelp: make them a part of it with `protologtool recover {2}`\n",
            counted(report.messages, "message", "messages"),
            recording.display(),
            path.display(),
        )),
        Ok(Completion::Running) => {
            note(&still_written(path));
        }
        Ok(Completion::None) => {}
        Err(error) => {
            let shown = path.display();
            note(&format!("warning: can't complete `{shown}`: {}\n", reason(&error)));
        }
    }
    Ok(bytes)
}

/// A trace of which parts can be read.
pub(crate) struct Parts {
    pub(crate) source: Box<dyn ByteSource>,
    /// Set if the file is compressed as a whole.
    pub(crate) compressed: Option<Decompressed>,
}

/// The bytes of a file that is a trace as it stands, in parts; none of anything else. `note` gets
/// lines about missing parts.
pub(crate) fn parts_of(
    path: &Path,
    expansion: Expansion,
    system: &dyn System,
    note: &dyn Fn(&str),
) -> Option<Parts> {
    let find = |path: &Path, session_id| system.find_recording(path, session_id);
    Parts::of(source_of(path, (system, &find), note)?, expansion)
}

/// All that comes through a pipe, `-` for standard input.
pub(crate) fn spooled(path: &Path, system: &dyn System) -> Result<Arc<dyn ByteSource>, Failure> {
    let spool = pipe_input::spool(path, system).and_then(Spool::into_source);
    Ok(spool.map_err(|error| cant_read(path, &error))?.into())
}

impl Parts {
    /// The parts of a trace as it stands, or compressed as a whole. None if it is no trace, or has
    /// to be read whole.
    pub(crate) fn of(source: Box<dyn ByteSource>, expansion: Expansion) -> Option<Self> {
        let head = source.read_at(0, HEAD).ok()?;
        if Recording::matches(&head) || is_winscope_log(&head) {
            return None;
        }
        let Some(mut content) = decompress(SourceReader::new(&*source)).ok()? else {
            return Some(Self { source, compressed: None });
        };
        // If it is damaged, it is read whole, as far as it goes.
        let limits = Limits::of_expansion(source.size(), expansion.max_expansion);
        let mut spool = Spool::new();
        io::copy(&mut content.by_ref().take(limits.inflated_bytes), &mut spool).ok()?;
        let is_cut = content.read(&mut [0]).ok()? > 0;
        drop(content);
        let compressed = Some(Decompressed { size: source.size(), is_cut });
        Some(Self { source: spool.into_source().ok()?, compressed })
    }
}

/// Finds the recording of a trace, by the id of its session.
type FindRecording<'a> = dyn Fn(&Path, [u8; 16]) -> Option<PathBuf> + 'a;

/// The bytes of a file that is a trace as it stands, or is compressed as a whole; none of anything
/// else. `find` finds the recording of a session.
pub(crate) fn source_of(
    path: &Path,
    (system, find): (&dyn System, &FindRecording<'_>),
    note: &dyn Fn(&str),
) -> Option<Box<dyn ByteSource>> {
    if path == Path::new("-") || system.is_directory(path) {
        return None;
    }
    let source = system.source(path).ok()??;
    let head = source.read_at(0, HEAD).ok()?;
    if Recording::matches(&head) || is_winscope_log(&head) {
        return None;
    }
    if let Some(recording) = find(path, session_id(&head)) {
        if !system.is_in_use(&recording) {
            // It completes the trace.
            return None;
        }
        note(&still_written(path));
    }
    Some(source)
}

/// The trace of a file that was read whole: as it is, or the trace that a recording makes.
pub(crate) fn made_of(
    path: &Path,
    bytes: Vec<u8>,
    system: &dyn System,
) -> Result<Vec<u8>, Failure> {
    if is_winscope_log(&bytes) {
        return Ok(trace_of_winscope_log(&bytes));
    }
    if !Recording::matches(&bytes) {
        return Ok(bytes);
    }
    read_recording(path, bytes, system, &|line| system.print_error(line))
}

/// The trace that a recording makes, or completes.
fn read_recording(
    path: &Path,
    bytes: Vec<u8>,
    system: &dyn System,
    note: &dyn Fn(&str),
) -> Result<Vec<u8>, Failure> {
    let RescuedTrace { trace, report, completes } = rescue_bytes(path, bytes, system)?;
    let recovered = |line: &str| note(&format!("note: recovered in memory: {line}"));
    // Flaws are warnings here: the readable parts are shown.
    let _ = report_recovered(path, &report, true, system, recovered, note);
    let shown = path.display();
    let output = if completes { "" } else { " -o TRACE" };
    note(&format!("help: keep it with `protologtool recover {shown}{output}`\n"));
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
