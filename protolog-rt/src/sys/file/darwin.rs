//! macOS, which has neither files in memory that keep their size nor `inotify`: programs are
//! switched by request alone, and a settings file is read at the start.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::path::Path;

/// Returns whether the file system that has `directory` writes all data to new places, so that
/// bytes which were allocated may still find it full. APFS does; but a file that was written once
/// and has no clone is written in place.
pub(crate) fn copies_on_write(_: &Path) -> bool {
    false
}

/// Makes a file in memory whose size never changes, which can't be done.
pub(crate) fn memory_file(_: &CStr, _: u64) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns whether it is a file in memory that keeps at least its size, of which there are none.
pub(crate) fn never_shrinks(_: &File) -> bool {
    false
}

/// Opens a file that tells of changes in a directory, which can't be done.
pub(crate) fn watch(_: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The same for another directory.
pub(crate) fn watch_too(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
