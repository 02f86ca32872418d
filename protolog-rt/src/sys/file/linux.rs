//! What Linux and Android have: files in memory that keep their size, and directories that tell of
//! changes.

use crate::sys::checked;
use crate::sys::create::PRIVATE;
use std::ffi::{CStr, CString};
use std::fs::{File, Permissions};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Returns whether the file system that has `directory` writes all data to new places, so that
/// bytes which were allocated may still find it full.
pub(crate) fn copies_on_write(directory: &Path) -> bool {
    /// btrfs, ZFS and bcachefs.
    const KINDS: [u64; 3] = [0x9123_683e, 0x2fc1_2fc1, 0xca45_1a4e];
    let Ok(path) = CString::new(directory.as_os_str().as_bytes()) else { return false };
    let mut found = std::mem::MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: the path ends in a NUL, and the kernel's answer goes to memory of ours.
    if unsafe { libc::statfs(path.as_ptr(), found.as_mut_ptr()) } != 0 {
        return false;
    }
    // SAFETY: all of it was set to zero, which its numbers may be, or by the call.
    let kind = unsafe { found.assume_init() }.f_type;
    KINDS.contains(&(kind as u64 & 0xffff_ffff))
}

/// Makes a file in memory whose size never changes.
pub(crate) fn memory_file(name: &CStr, size: u64) -> io::Result<File> {
    let create = |flags| {
        let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING | flags;
        // SAFETY: the name ends in a NUL, and lives through the call.
        unsafe { libc::memfd_create(name.as_ptr(), flags) }
    };
    // Kernels before 6.3 have no memory that can't be executed.
    let mut fd = create(libc::MFD_NOEXEC_SEAL);
    if fd < 0 {
        fd = create(0);
    }
    checked(fd)?;
    // SAFETY: the descriptor is new, and nobody else has it.
    let file = unsafe { File::from_raw_fd(fd) };
    file.set_len(size)?;
    // The kernel makes it accessible to every user who finds it in `/proc`.
    file.set_permissions(Permissions::from_mode(PRIVATE))?;
    let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
    // SAFETY: the file is open; no memory of ours is involved.
    checked(unsafe { libc::fcntl(fd, libc::F_ADD_SEALS, seals) })?;
    Ok(file)
}

/// Returns whether it is a file in memory that keeps at least its size, whoever has it.
pub(crate) fn never_shrinks(file: &File) -> bool {
    // SAFETY: the file is open; no memory of ours is involved.
    let seals = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) };
    seals >= 0 && seals & libc::F_SEAL_SHRINK != 0
}

/// Opens a file that can be read when something in the directory was written, moved or removed.
/// Reading it never waits.
pub(crate) fn watch(directory: &Path) -> io::Result<File> {
    // SAFETY: takes and gives numbers.
    let fd = checked(unsafe { libc::inotify_init1(libc::IN_CLOEXEC | libc::IN_NONBLOCK) })?;
    // SAFETY: the descriptor is new, and nobody else has it.
    let file = unsafe { File::from_raw_fd(fd) };
    watch_too(&file, directory)?;
    Ok(file)
}

/// The same for another directory, with a file that [`watch`] has opened.
pub(crate) fn watch_too(watched: &File, directory: &Path) -> io::Result<()> {
    let path = CString::new(directory.as_os_str().as_bytes())?;
    // Of a link, all that is seen is that it was created.
    let changed = libc::IN_CREATE | libc::IN_CLOSE_WRITE | libc::IN_DELETE;
    let events = changed | libc::IN_MOVED_TO | libc::IN_MOVED_FROM;
    // SAFETY: the path ends in a NUL, and lives through the call.
    checked(unsafe { libc::inotify_add_watch(watched.as_raw_fd(), path.as_ptr(), events) })?;
    Ok(())
}
