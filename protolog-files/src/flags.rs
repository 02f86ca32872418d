//! The flags and kinds of files that every other module needs.

use rustix::fs::{FileType, OFlags, Stat};
use std::fs::File;
use std::io;

/// The flags of everything that is opened for reading or writing: no link is followed, and nothing
/// is waited for.
pub(crate) const SAFE: OFlags =
    OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// The kind of what was found.
pub(crate) fn kind(found: &Stat) -> FileType {
    FileType::from_raw_mode(found.st_mode)
}

/// Lets writes wait until there is room.
pub(crate) fn block(file: &File) -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(file)?;
    Ok(rustix::fs::fcntl_setfl(file, flags - OFlags::NONBLOCK)?)
}
