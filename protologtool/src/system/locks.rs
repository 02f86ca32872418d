//! Record locks (`fcntl`), by which Java programs say that they write a file. They and the locks of
//! the standard library (`flock`), which Rust's programs hold, do not see each other.

use rustix::fs::{FlockOperation, fcntl_lock};
use rustix::io::Errno;
use std::fs::File;

/// Returns whether another process has a record lock on a file that can be read. Locks of this
/// process on the file are released.
pub(crate) fn has_record_lock(file: &File) -> bool {
    let locked = fcntl_lock(file, FlockOperation::NonBlockingLockShared);
    if locked.is_ok() {
        let _ = fcntl_lock(file, FlockOperation::NonBlockingUnlock);
    }
    matches!(locked, Err(Errno::AGAIN | Errno::ACCESS))
}
