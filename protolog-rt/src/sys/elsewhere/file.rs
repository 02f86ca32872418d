//! Files: room for a mapping, locks that say whose a file is.
//!
//! Invariant: bytes that were allocated stay so: a store into a mapping of them never finds that
//! the file system is full.

use super::file_lock;
use protolog_files::{FileExt, Status, look};
use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::path::Path;

/// Bytes that are written at once.
#[cfg(not(windows))]
const BLOCK: usize = 64 * 1024;

/// Allocates `len` bytes of a new `file` from `at` on, all zero. File systems of Windows give a
/// file room for all of its bytes, and an error where there is none.
#[cfg(windows)]
pub(crate) fn allocate(file: &File, at: usize, len: usize) -> io::Result<()> {
    let end = (at + len) as u64;
    if file.metadata()?.len() >= end { Ok(()) } else { file.set_len(end) }
}

/// The same by writing them.
#[cfg(not(windows))]
pub(crate) fn allocate(file: &File, at: usize, len: usize) -> io::Result<()> {
    let zeroes = vec![0; BLOCK.min(len)];
    for done in (0..len).step_by(BLOCK) {
        let part = zeroes.get(..BLOCK.min(len - done)).unwrap_or_default();
        file.write_all_at(part, (at + done) as u64)?;
    }
    Ok(())
}

/// Allocates nothing: all of a file's bytes are, on Windows; and where files have no mappings,
/// nothing grows.
pub(crate) fn reserve(_: &File, _: usize, _: usize) -> bool {
    cfg!(windows)
}

/// Says nothing.
pub(crate) fn has_free(_: &File, _: usize) -> bool {
    true
}

/// Marks `file` as in use by this process, for others to see, until the process ends or the file is
/// closed; also one that it has marked by the same open file.
pub(crate) fn claim(file: &File) -> io::Result<()> {
    // A lock of its own would be in the way.
    file_lock::unmark(file);
    if file_lock::mark(file) { Ok(()) } else { Err(io::ErrorKind::WouldBlock.into()) }
}

/// Takes the mark of [`claim`] away.
pub(crate) fn release(file: &File) {
    file_lock::unmark(file);
}

/// Returns whether a process has the mark of [`claim`] on the file.
pub(crate) fn is_claimed(file: &File) -> bool {
    file_lock::is_marked(file)
}

/// Makes each write to a file append to it. A descriptor's file is written where it stands.
pub(crate) fn always_append(_: &File) {}

/// Returns whether this process has a file open by another descriptor than `own`, which can't be
/// told.
pub(crate) fn is_open(_: u64, _: u64, _: Option<&File>) -> bool {
    true
}

/// The identity of a file: device and number.
pub(crate) type Id = (u64, u64);

/// Returns the identity of a file.
pub(crate) fn id_of(file: &File) -> io::Result<Id> {
    let found = Status::of(file)?;
    Ok((found.dev(), found.ino()))
}

/// Returns whether less than a quarter of the file system that has `directory` is free; false if
/// that can't be told.
#[cfg(windows)]
pub(crate) fn is_nearly_full(directory: &Path) -> bool {
    use std::os::windows::ffi::OsStrExt;
    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn GetDiskFreeSpaceExW(path: *const u16, free: *mut u64, all: *mut u64, _: *mut u64)
        -> i32;
    }
    let path: Vec<u16> = directory.as_os_str().encode_wide().chain([0]).collect();
    let (mut free, mut all, mut unused) = (0_u64, 0_u64, 0);
    let [to_free, to_all, to_unused] = [&raw mut free, &raw mut all, &raw mut unused];
    // SAFETY: the path ends by a zero, and the answers go to numbers of ours.
    let is_known = unsafe { GetDiskFreeSpaceExW(path.as_ptr(), to_free, to_all, to_unused) } != 0;
    is_known && free.saturating_mul(4) < all
}

/// The same where it is not asked for.
#[cfg(not(windows))]
pub(crate) fn is_nearly_full(_: &Path) -> bool {
    false
}

/// Returns whether the file system that has `directory` writes all data to new places, which is not
/// asked for.
pub(crate) fn copies_on_write(_: &Path) -> bool {
    false
}

/// Makes a file in memory whose size never changes, which can't be done.
pub(crate) fn memory_file(_: &CStr, _: u64) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Opens a file that tells of changes in a directory, which can't be done.
pub(crate) fn watch(_: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The same for another directory.
pub(crate) fn watch_too(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Opens a file for reading that somebody named in the environment or a configuration, if it is
/// one.
pub(crate) fn open_without_waiting(path: &Path) -> io::Result<File> {
    if !look(path)?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let file = File::open(path)?;
    if Status::of(&file)?.is_file() { Ok(file) } else { Err(io::Error::other("it is no file")) }
}

/// The system's error of a file that is not there.
pub(crate) fn not_found() -> io::Error {
    io::ErrorKind::NotFound.into()
}
