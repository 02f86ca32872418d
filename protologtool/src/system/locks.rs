//! Record locks (`fcntl`), by which Java programs say that they write a file. They and the locks of
//! the standard library (`flock`), which Rust's programs hold, do not see each other. Windows has
//! one kind of locks, the standard library's.

#[cfg(unix)]
use rustix::fs::{FlockOperation, fcntl_lock};
#[cfg(unix)]
use rustix::io::Errno;
use std::fs::File;

/// Returns whether another process has a record lock on a file that can be read. Locks of this
/// process on the file are released.
#[cfg(unix)]
pub(crate) fn has_record_lock(file: &File) -> bool {
    let locked = fcntl_lock(file, FlockOperation::NonBlockingLockShared);
    if locked.is_ok() {
        let _ = fcntl_lock(file, FlockOperation::NonBlockingUnlock);
    }
    matches!(locked, Err(Errno::AGAIN | Errno::ACCESS))
}

#[cfg(not(unix))]
pub(crate) fn has_record_lock(_: &File) -> bool {
    false
}

/// Takes a record lock; false if another process has one that excludes it.
#[cfg(unix)]
pub(crate) fn lock_record(file: &File, is_exclusive: bool) -> bool {
    let kind = if is_exclusive {
        FlockOperation::NonBlockingLockExclusive
    } else {
        FlockOperation::NonBlockingLockShared
    };
    !matches!(fcntl_lock(file, kind), Err(Errno::AGAIN | Errno::ACCESS))
}

#[cfg(not(unix))]
pub(crate) fn lock_record(_: &File, _: bool) -> bool {
    true
}
