//! The file of a session that a fatal signal ended, made of its recording as the program's next
//! start does.
//!
//! Invariants: it replaces no file; the recording is removed when the file is complete.

use super::in_place::SignalledRecording;
use crate::exit::Failure;
use crate::output::{cant_write, write_one};
use crate::system::System;
use std::io;
use std::path::PathBuf;

/// The names to try where others are taken.
const NAMES: usize = 100;

/// Writes it with `mode`, and removes the recording. Returns the path.
pub(super) fn write(
    SignalledRecording { recording, trace, signal }: &SignalledRecording,
    mode: u32,
    system: &dyn System,
) -> Result<PathBuf, Failure> {
    let is_free = |path: &PathBuf| system.file_id(path).is_err();
    let path = (1..NAMES).map(|number| signal.path(number)).find(is_free);
    let taken = || cant_write(&signal.path(1), &io::ErrorKind::AlreadyExists.into());
    let path = path.ok_or_else(taken)?;
    let fill = |out: &mut dyn io::Write| out.write_all(trace);
    write_one(&path, mode, &[], system, fill, |error: io::Error| cant_write(&path, &error))?;
    recording.remove()?;
    Ok(path)
}
