//! What each operating system has in its own way, of what the standard library has for one of them
//! only.

use std::ffi::{OsStr, OsString};
use std::fs::{FileType, Metadata};
use std::path::PathBuf;

/// Returns the user whose file it is; where users are not told apart, all are of one.
#[cfg(unix)]
pub(crate) fn owner(found: &Metadata) -> u32 {
    std::os::unix::fs::MetadataExt::uid(found)
}

#[cfg(not(unix))]
pub(crate) fn owner(_: &Metadata) -> u32 {
    0
}

/// Returns the user that this process acts as.
#[cfg(unix)]
pub(crate) fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
pub(crate) fn user() -> u32 {
    0
}

/// Returns whether this process may do what other users may not.
pub(crate) fn is_root() -> bool {
    cfg!(unix) && user() == 0
}

/// Returns whether it is a named pipe.
#[cfg(unix)]
pub(crate) fn is_pipe(kind: FileType) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&kind)
}

#[cfg(not(unix))]
pub(crate) fn is_pipe(_: FileType) -> bool {
    false
}

/// Returns a version of a file: its number, its size, its time.
#[cfg(unix)]
pub(crate) fn version(found: &Metadata) -> String {
    use std::os::unix::fs::MetadataExt;
    let (second, nanosecond) = (found.mtime(), found.mtime_nsec());
    format!("{:x}.{:x}.{second:x}.{nanosecond:x}", found.ino(), found.len())
}

#[cfg(not(unix))]
pub(crate) fn version(found: &Metadata) -> String {
    let time = found.modified().ok().and_then(|it| it.duration_since(std::time::UNIX_EPOCH).ok());
    format!("{:x}.{:x}", found.len(), time.unwrap_or_default().as_nanos())
}

/// Returns the bytes that a file takes on the disk.
#[cfg(unix)]
pub(crate) fn bytes_on_disk(found: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::blocks(found) * 512
}

#[cfg(not(unix))]
pub(crate) fn bytes_on_disk(found: &Metadata) -> u64 {
    found.len()
}

/// Returns the bytes that are free where temporary files are; all, where that is not told.
#[cfg(unix)]
pub(crate) fn room_for_temporary_files() -> u64 {
    let found = rustix::fs::statvfs(std::env::temp_dir());
    found.map_or(0, |found| found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(not(unix))]
pub(crate) fn room_for_temporary_files() -> u64 {
    u64::MAX
}

/// Returns the number of files that this process may have open; none without a limit.
#[cfg(unix)]
pub(crate) fn most_files() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current
}

#[cfg(not(unix))]
pub(crate) fn most_files() -> Option<u64> {
    None
}

/// Returns text or a path that came as bytes.
#[cfg(unix)]
pub(crate) fn from_bytes(bytes: &[u8]) -> OsString {
    let text: &OsStr = std::os::unix::ffi::OsStrExt::from_bytes(bytes);
    text.to_owned()
}

/// The same of a system whose paths are text.
#[cfg(not(unix))]
pub(crate) fn from_bytes(bytes: &[u8]) -> OsString {
    OsStr::new(&*String::from_utf8_lossy(bytes)).to_owned()
}

/// Returns the directory of recordings in memory.
#[cfg(not(windows))]
pub(crate) fn recordings_in_memory() -> PathBuf {
    "/dev/shm".into()
}

/// That of files that are to go some day: Windows has no memory with files.
#[cfg(windows)]
pub(crate) fn recordings_in_memory() -> PathBuf {
    std::env::temp_dir()
}
