//! Files: room for a mapping, locks that say whose a file is, files in memory, changes of a
//! directory.
//!
//! Invariant: bytes that were allocated stay so: a store into a mapping of them never finds that
//! the file system is full, which would be a signal (SIGBUS) in the middle of a log call.
#[cfg(target_vendor = "apple")]
mod darwin;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux;

#[cfg(target_vendor = "apple")]
pub(crate) use darwin::{copies_on_write, memory_file, never_shrinks, watch, watch_too};
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) use linux::{copies_on_write, memory_file, never_shrinks, watch, watch_too};

use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Bytes that are written at once.
const BLOCK: usize = 64 * 1024;

/// Signals may interrupt an allocation so often.
#[cfg(any(target_os = "linux", target_os = "android"))]
const RESERVE_ATTEMPTS: u32 = 20;

/// Allocates `len` bytes of `file` from `at` on, all zero.
pub(crate) fn allocate(file: &File, at: usize, len: usize) -> io::Result<()> {
    if (at + len) as u64 > size_limit() {
        return Err(io::Error::from_raw_os_error(libc::EFBIG));
    }
    allocate_at_once(file, at, len)?;
    // Where the system or the file system can't do it, writing does.
    let zeroes = vec![0; BLOCK.min(len)];
    for done in (0..len).step_by(BLOCK) {
        let part = zeroes.get(..BLOCK.min(len - done)).unwrap_or_default();
        file.write_all_at(part, (at + done) as u64)?;
    }
    Ok(())
}

/// Has the system allocate the bytes, if it can.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn allocate_at_once(file: &File, at: usize, len: usize) -> io::Result<()> {
    let (start, size) = (at as libc::off_t, len as libc::off_t);
    // SAFETY: the file is open; no memory of ours is involved.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), start, size) } {
        0 | libc::EOPNOTSUPP | libc::EINVAL | libc::EINTR => Ok(()),
        // A sandbox may refuse the call, and let the file be written.
        libc::ENOSYS | libc::EPERM => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

#[cfg(target_vendor = "apple")]
fn allocate_at_once(_: &File, _: usize, _: usize) -> io::Result<()> {
    Ok(())
}

/// Has the system allocate `len` bytes of `file` from `at` on, within its size, and leave what is
/// there as it is; false where it can't. Several threads may do so at once. Allocates no memory.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn reserve(file: &File, at: usize, len: usize) -> bool {
    let (start, size) = (at as libc::off_t, len as libc::off_t);
    let attempt = |_| {
        let mode = libc::FALLOC_FL_KEEP_SIZE;
        // SAFETY: the file is open; no memory of ours is involved.
        let is_done = unsafe { libc::fallocate(file.as_raw_fd(), mode, start, size) == 0 };
        let is_over = is_done || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted;
        is_over.then_some(is_done)
    };
    (at + len) as u64 <= size_limit() && (0..RESERVE_ATTEMPTS).find_map(attempt) == Some(true)
}

#[cfg(target_vendor = "apple")]
pub(crate) fn reserve(_: &File, _: usize, _: usize) -> bool {
    false
}

/// Returns whether the file system of `file` has so many free bytes; true where that can't be told.
pub(crate) fn has_free(file: &File, bytes: usize) -> bool {
    let mut found = std::mem::MaybeUninit::<libc::statvfs>::zeroed();
    // SAFETY: the file is open, and the kernel's answer goes to memory of ours.
    if unsafe { libc::fstatvfs(file.as_raw_fd(), found.as_mut_ptr()) } != 0 {
        return true;
    }
    // SAFETY: all of it was set to zero, which its numbers may be, or by the call.
    let found = unsafe { found.assume_init() };
    // They are of other types on other systems.
    #[allow(clippy::unnecessary_cast, clippy::useless_conversion)]
    let (free, block) = (found.f_bavail as u64, found.f_frsize as u64);
    found.f_blocks == 0 || free.saturating_mul(block) >= bytes as u64
}

/// Returns the largest size of a file that the process may write or allocate (`ulimit -f`). More is
/// a signal, which ends the program.
fn size_limit() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the pointer is to a limit of ours, which stays infinite where there is an error.
    let _ = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) };
    limit.rlim_cur
}

/// Marks `file` as in use by this process, for others to see, until the process ends or the file is
/// closed.
pub(crate) fn claim(file: &File) -> io::Result<()> {
    // SAFETY: the file is open; no memory of ours is involved.
    match unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Takes the mark of [`claim`] away. There is nothing to be done about an error.
pub(crate) fn release(file: &File) {
    // SAFETY: the file is open; no memory of ours is involved.
    let _ = unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_UN) };
}

/// Returns whether a process has the mark of [`claim`] on the file.
pub(crate) fn is_claimed(file: &File) -> bool {
    // SAFETY: the file is open; no memory of ours is involved.
    let answer = unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_SH | libc::LOCK_NB) };
    if answer == 0 {
        release(file);
    }
    answer != 0 && io::Error::last_os_error().kind() == io::ErrorKind::WouldBlock
}

/// Makes each write to a file append to it, wherever its end is by then. That this can't be had is
/// no reason not to write.
pub(crate) fn always_append(file: &File) {
    // SAFETY: the file is open; no memory of ours is involved.
    let flags = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) };
    if flags >= 0 {
        // SAFETY: the same.
        let _ = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, flags | libc::O_APPEND) };
    }
}

/// Returns whether this process has a file open by another descriptor than `own`; true if that
/// can't be told.
pub(crate) fn is_open(device: u64, inode: u64, own: Option<&File>) -> bool {
    let Ok(descriptors) = fs::read_dir("/proc/self/fd") else { return true };
    let own = own.map(|file| file.as_raw_fd().to_string());
    descriptors.flatten().any(|descriptor| {
        let is_file = |file: fs::Metadata| (file.dev(), file.ino()) == (device, inode);
        own.as_deref().is_none_or(|own| descriptor.file_name() != *own)
            && fs::metadata(descriptor.path()).is_ok_and(is_file)
    })
}

/// The identity of a file: device and inode.
pub(crate) type Id = (u64, u64);

/// Returns the identity of a file.
pub(crate) fn id_of(file: &File) -> io::Result<Id> {
    let metadata = file.metadata()?;
    Ok((metadata.dev(), metadata.ino()))
}

/// Returns the identity of what a descriptor stands for; none of one that is closed.
pub(crate) fn id_of_descriptor(number: RawFd) -> Option<Id> {
    let mut found = std::mem::MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: takes a number, and the kernel's answer goes to memory of ours.
    if unsafe { libc::fstat(number, found.as_mut_ptr()) } != 0 {
        return None;
    }
    // SAFETY: all of it was set to zero, which its numbers may be, or by the call.
    let found = unsafe { found.assume_init() };
    // They are of other types on other systems.
    #[allow(clippy::unnecessary_cast, clippy::useless_conversion)]
    Some((found.st_dev as u64, found.st_ino as u64))
}

/// Returns whether less than a quarter of the file system that has `directory` is free; false if
/// that can't be told.
pub(crate) fn is_nearly_full(directory: &Path) -> bool {
    let Ok(path) = CString::new(directory.as_os_str().as_bytes()) else { return false };
    let mut found = std::mem::MaybeUninit::<libc::statvfs>::zeroed();
    // SAFETY: the path ends in a NUL, and the kernel's answer goes to memory of ours.
    if unsafe { libc::statvfs(path.as_ptr(), found.as_mut_ptr()) } != 0 {
        return false;
    }
    // SAFETY: all of it was set to zero, which its numbers may be, or by the call.
    let found = unsafe { found.assume_init() };
    found.f_bavail.saturating_mul(4) < found.f_blocks
}

/// Opens a file for reading that somebody named in the environment or a configuration: never waits,
/// as it would for the writer of a named pipe, which is refused.
pub(crate) fn open_without_waiting(path: &Path) -> io::Result<File> {
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.file_type().is_fifo() {
        return Err(io::Error::other("it is a pipe, not a file"));
    }
    Ok(file)
}

/// The system's error of a file that is not there.
pub(crate) fn not_found() -> io::Error {
    io::Error::from_raw_os_error(libc::ENOENT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::{AtomicU64, Ordering};
    use crate::sys::mapping::Mapping;
    use crate::sys::poll::{Polled, poll};
    use protolog_shmem::Backing as _;
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn what_is_mapped_is_in_the_file() {
        let dir = protolog_testkit::temp_dir();
        let path = dir.path().join("file");
        let open =
            || File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let file = open().unwrap();
        let other = open().unwrap();
        fs::remove_file(&path).unwrap();
        let (at, len) = (64 * 1024, 100 * 1024);
        allocate(&file, at, len).unwrap();
        claim(&file).unwrap();
        assert!(claim(&other).is_err(), "claimed already");
        let metadata = file.metadata().unwrap();
        assert_eq!(metadata.len(), (at + len) as u64);
        assert!(metadata.blocks() * 512 >= len as u64, "no hole where the mapping is");
        let mapping = Mapping::shared(&file, at, len).unwrap();
        // SAFETY: the mapping has `len` bytes, and its last ones are used as this atomic only.
        let last =
            unsafe { AtomicU64::from_ptr(mapping.base().as_ptr().wrapping_add(len - 8).cast()) };
        last.store(0x0123_4567_89ab_cdef, Ordering::Relaxed);
        let mut word = [0; 8];
        file.read_exact_at(&mut word, (at + len - 8) as u64).unwrap();
        assert_eq!(u64::from_ne_bytes(word), 0x0123_4567_89ab_cdef);
        mapping.discard();
        assert_eq!(last.load(Ordering::Relaxed), 0x0123_4567_89ab_cdef);
    }

    #[test]
    fn memory_keeps_its_size() {
        let file = memory_file(c"test", 8192).unwrap();
        // SAFETY: the file is open; no memory of ours is involved.
        let seals = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) };
        assert_eq!(
            seals & !libc::F_SEAL_EXEC,
            libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL
        );
        assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600, "of its user only");
        assert!(file.set_len(4096).is_err() && file.set_len(16384).is_err());
        assert!(file.write_all_at(&[1], 8192).is_err());
        file.write_all_at(&[1], 8191).unwrap();
    }

    #[test]
    fn a_directory_reports_changes() {
        let dir = protolog_testkit::temp_dir();
        let watched = watch(dir.path()).unwrap();
        assert_eq!(poll(&[Polled::read(watched.as_fd())], Some(0)).unwrap(), [false]);
        fs::write(dir.path().join("a"), "b").unwrap();
        assert_eq!(poll(&[Polled::read(watched.as_fd())], None).unwrap(), [true]);
    }
}
