//! What each system has in its own way: the owner of a file, paths as bytes, and files in memory.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::path::Path;

/// The directory of recordings in memory.
#[cfg(not(windows))]
pub fn memory() -> &'static Path {
    Path::new("/dev/shm")
}

/// The user's directory for temporary files: Windows has no memory with files.
#[cfg(windows)]
pub fn memory() -> &'static Path {
    use std::path::PathBuf;
    use std::sync::OnceLock;
    static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();
    DIRECTORY.get_or_init(std::env::temp_dir)
}

/// Returns the user whose file it is; where users are not told apart, everything is of one.
#[cfg(unix)]
pub(crate) fn owner(found: &Metadata) -> u32 {
    std::os::unix::fs::MetadataExt::uid(found)
}

#[cfg(not(unix))]
pub(crate) fn owner(_: &Metadata) -> u32 {
    0
}

/// Returns a path, or a part of one, that was written as bytes; none if this system has no such
/// path.
#[cfg(unix)]
#[allow(clippy::unnecessary_wraps)] // As on the other systems.
pub fn os_str(bytes: &[u8]) -> Option<&OsStr> {
    Some(std::os::unix::ffi::OsStrExt::from_bytes(bytes))
}

/// The same of another system, whose paths are text.
#[cfg(not(unix))]
pub fn os_str(bytes: &[u8]) -> Option<&OsStr> {
    std::str::from_utf8(bytes).ok().map(OsStr::new)
}
