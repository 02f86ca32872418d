//! Errors that the system would give, of what is found out without asking it.

use std::io;

/// An error that the system would give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A directory where a file is needed.
    IsDirectory,
    /// A file where a directory is needed.
    NotDirectory,
    /// No such entry.
    NotFound,
    /// Links without end.
    Loop,
    /// A bad name.
    Invalid,
    /// It is another file by now.
    Stale,
    /// The descriptor is closed, or not open for this.
    Closed,
}

/// By the system's own number.
#[cfg(unix)]
impl From<Fault> for io::Error {
    fn from(fault: Fault) -> Self {
        Self::from_raw_os_error(match fault {
            Fault::IsDirectory => libc::EISDIR,
            Fault::NotDirectory => libc::ENOTDIR,
            Fault::NotFound => libc::ENOENT,
            Fault::Loop => libc::ELOOP,
            Fault::Invalid => libc::EINVAL,
            Fault::Stale => libc::ESTALE,
            Fault::Closed => libc::EBADF,
        })
    }
}

#[cfg(not(unix))]
impl From<Fault> for io::Error {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::IsDirectory => io::ErrorKind::IsADirectory.into(),
            Fault::NotDirectory => io::ErrorKind::NotADirectory.into(),
            Fault::NotFound => io::ErrorKind::NotFound.into(),
            Fault::Loop => Self::new(io::ErrorKind::InvalidInput, "too many links"),
            Fault::Invalid => io::ErrorKind::InvalidInput.into(),
            Fault::Stale => io::ErrorKind::StaleNetworkFileHandle.into(),
            Fault::Closed => Self::new(io::ErrorKind::InvalidInput, "it is not open"),
        }
    }
}
