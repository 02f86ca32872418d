//! The recording of a trace file: the one whose session has the same id.
//!
//! Recordings have names of the form `protolog-<program>-<pid>-<number>.rec`, in memory that the
//! kernel keeps until it is shut down (on Windows in a directory for such files), or beside the
//! trace.
//!
//! Invariants: symbolic links are not followed; a file of another user than the trace's is no
//! recording of it, and it is the opened file that is looked at.

use crate::system::{memory, owner};
use protolog_core::recorder::{Header, LOSSES_AT};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// A recording in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundRecording {
    /// The file.
    pub path: PathBuf,
    /// The id of its session.
    pub session_id: [u8; 16],
    /// The user whose file it is.
    pub owner: u32,
}

/// Finds the recording of the trace file at `trace`, whose session has this id; none if there is
/// none, or the id is zero. `open` is that of [`find_in`].
pub fn find(
    trace: &Path,
    session_id: [u8; 16],
    open: impl Fn(&Path) -> Option<File>,
) -> Option<PathBuf> {
    if session_id == [0; 16] {
        return None;
    }
    let owner = owner(&fs::metadata(trace).ok()?);
    let mut all = places(trace).into_iter().flat_map(|directory| find_in(directory, &open));
    all.find(|it| it.session_id == session_id && it.owner == owner).map(|it| it.path)
}

/// The directories in which the recording of a trace may be.
pub fn places(trace: &Path) -> [&Path; 2] {
    let beside = trace.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
    [memory(), beside]
}

/// Finds the recordings in a directory; none if it can't be read.
///
/// `open` opens a regular file for reading: it follows no link, and never waits, since others may
/// put there what they like. It gives none for a file that may not be opened: one on which the
/// process has locks, which closing it would release.
pub fn find_in<'a>(
    directory: &Path,
    open: impl Fn(&Path) -> Option<File> + 'a,
) -> impl Iterator<Item = FoundRecording> + 'a {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let paths = entries
        .map(|entry| entry.path())
        .filter(|path| is_recording_name(path.file_name().unwrap_or_default()));
    paths.filter_map(move |path| {
        // Before it is opened: to open a device may have effects.
        let before = fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file)?;
        let file = open(&path)?;
        let opened = file.metadata().ok().filter(fs::Metadata::is_file)?;
        let owner = Some(owner(&opened)).filter(|it| *it == owner(&before))?;
        let session_id = header(file)?.session_id;
        Some(FoundRecording { path, session_id, owner })
    })
}

/// Returns whether a file may be a recording by its name.
pub fn is_recording_name(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.starts_with(b"protolog-") && name.ends_with(b".rec")
}

/// The header of a recording.
fn header(mut file: File) -> Option<Header> {
    let mut bytes = [0; LOSSES_AT];
    file.read_exact(&mut bytes).ok()?;
    Header::parse(&bytes).ok()
}
