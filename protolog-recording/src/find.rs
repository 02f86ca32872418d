//! The recording of a trace file: the one whose session has the same id.
//!
//! Recordings have names of the form `protolog-<program>-<pid>-<number>.rec`, in memory that the kernel keeps until it is shut down,
//! or beside the trace.
//!
//! Invariants: symbolic links are not followed; a file of another user than the trace's is no
//! recording of it, and it is the opened file that is looked at.

use protolog_core::recorder::{Header, LOSSES_AT};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The directory of recordings in memory.
pub const MEMORY: &str = "/dev/shm";

/// Finds the recording of the trace file at `trace`, whose session has this id; none if there is
/// none, or the id is zero.
///
/// `open` opens a regular file for reading: it follows no link, and never waits, since others may
/// put there what they like. It gives none for a file that may not be opened: one on which the
/// process has locks, which closing it would release.
pub fn find(
    trace: &Path,
    session_id: [u8; 16],
    open: impl Fn(&Path) -> Option<File>,
) -> Option<PathBuf> {
    if session_id == [0; 16] {
        return None;
    }
    let owner = fs::metadata(trace).ok()?.uid();
    let beside = trace.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
    let files = [Path::new(MEMORY), beside].into_iter().filter_map(|it| fs::read_dir(it).ok());
    let mut candidates = files
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| is_recording_name(path.file_name().unwrap_or_default()));
    candidates.find(|path| {
        let is_own = |file: &fs::Metadata| file.is_file() && file.uid() == owner;
        let header = || {
            // Before it is opened: to open a device may have effects.
            let _ = fs::symlink_metadata(path).ok().filter(is_own)?;
            let file = open(path)?;
            let _ = file.metadata().ok().filter(is_own)?;
            header(file)
        };
        header().is_some_and(|header| header.session_id == session_id)
    })
}

/// Returns whether a file may be a recording by its name.
pub fn is_recording_name(name: &OsStr) -> bool {
    let name = name.as_bytes();
    name.starts_with(b"protolog-") && name.ends_with(b".rec")
}

/// The header of a recording.
fn header(mut file: File) -> Option<Header> {
    let mut bytes = [0; LOSSES_AT];
    file.read_exact(&mut bytes).ok()?;
    Header::parse(&bytes).ok()
}
