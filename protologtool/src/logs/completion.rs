//! Completes traces of dead processes with the packets of their session's recording.
//!
//! Invariant: a recording that a process still writes to is left alone.

use crate::system::System;
use protolog_reader::{Recording, Recovered, complete, session_id};
use std::io;
use std::path::{Path, PathBuf};

/// The part of a trace that has the id of its session, in bytes.
pub(crate) const HEAD: usize = 1 << 20;

/// The outcome of a look for the recording of a trace.
pub(crate) enum Completion {
    /// There is none: the trace is all there is.
    None,
    /// Its process runs: messages of the last second may be missing.
    Running,
    /// The trace was completed.
    Done(Completed),
}

/// A trace that was completed.
pub(crate) struct Completed {
    /// The recording.
    pub(crate) recording: PathBuf,
    pub(crate) report: Recovered,
}

/// Completes the trace in `bytes`, which is that at `path`, if its recording is there.
pub(crate) fn complete_trace(
    path: &Path,
    bytes: &mut Vec<u8>,
    system: &dyn System,
) -> io::Result<Completion> {
    let id = session_id(bytes.get(..HEAD).unwrap_or(bytes));
    let Some(recording) = system.find_recording(path, id) else { return Ok(Completion::None) };
    complete_by(path, recording, bytes, system)
}

/// Completes the trace in `bytes`, which is that at `path`, by the recording of its session.
pub(crate) fn complete_by(
    path: &Path,
    recording: PathBuf,
    bytes: &mut Vec<u8>,
    system: &dyn System,
) -> io::Result<Completion> {
    if system.is_in_use(&recording) {
        return Ok(Completion::Running);
    }
    let recorded = system.read_recording(&recording, path, Recording::MAX_BYTES)?;
    let Ok(parsed) = Recording::parse(&recorded) else { return Ok(Completion::None) };
    if parsed.trace().is_none_or(|file| !file.is_at(path)) {
        // It completes another segment.
        return Ok(Completion::None);
    }
    let Some(report) = complete(bytes, &parsed) else { return Ok(Completion::None) };
    Ok(Completion::Done(Completed { recording, report: report? }))
}
