//! The recording of a trace file: the one whose session has the same id.
//!
//! Recordings have names of the form `protolog-<program>-<pid>-<number>.rec`, in memory that the kernel keeps until it is shut down,
//! or beside the trace.
//!
//! Invariants: symbolic links are not followed; a file of another user than the trace's is no recording of it.

use protolog_core::recorder::{Header, LOSSES_AT};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The directory of recordings in memory.
pub(crate) const MEMORY: &str = "/dev/shm";

/// Finds the recording of the trace file at `trace`, whose session has this id; none if there is none, or the id is zero.
pub fn find(trace: &Path, session_id: [u8; 16]) -> Option<PathBuf> {
    find_if(trace, session_id, |_| true)
}

/// As [`find()`], among the files that may be opened. A process that has locks on a file may not: to close it would release them.
pub fn find_if(
    trace: &Path,
    session_id: [u8; 16],
    may_open: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    if session_id == [0; 16] {
        return None;
    }
    let owner = fs::metadata(trace).ok()?.uid();
    let beside = trace.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
    let files = [Path::new(MEMORY), beside].into_iter().filter_map(|it| fs::read_dir(it).ok());
    let mut candidates = files.flatten().flatten().map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("protolog-") && name.ends_with(".rec")
    });
    candidates.find(|path| {
        let is_own = |file: &fs::Metadata| file.is_file() && file.uid() == owner;
        fs::symlink_metadata(path).is_ok_and(|file| is_own(&file))
            && may_open(path)
            && header(path).is_some_and(|header| header.session_id == session_id)
    })
}

/// The header of the recording at `path`.
fn header(path: &Path) -> Option<Header> {
    let mut bytes = [0; LOSSES_AT];
    File::open(path).ok()?.read_exact(&mut bytes).ok()?;
    Header::parse(&bytes).ok()
}
