//! The system's calls on directories and sockets, which the standard library has by path only.
//!
//! Programs that log link this crate, and at most two others from outside that have unsafe code
//! (SECURITY.md). So these few calls are declared by libc, or here, and wrapped.
//!
//! | module | for |
//! |---|---|
//! | `unix` | what Linux, Android and macOS share |
//! | `linux`, `darwin` | what each of them does in its own way |
//! | `by_path` | Windows and WASI, where a directory is held by its path |
//! | `windows`, `wasi` | what each of them does in its own way |
//! | `fault` | errors that each of them would give |
//!
//! Each has a `Held`, an open directory, and a `Looked`, an entry that was looked at without any
//! effect on it; the modules above know no more of them.
//!
//! Invariant: no pointer outlives its call. Paths are C strings that live through it, and buffers
//! are passed with their size.
#![allow(unsafe_code)] // Each call passes a path, or a buffer with its size.

#[cfg(not(unix))]
mod by_path;
#[cfg(target_vendor = "apple")]
mod darwin;
mod fault;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux;
#[cfg(unix)]
mod unix;
#[cfg(target_os = "wasi")]
mod wasi;
#[cfg(windows)]
mod windows;

#[cfg(not(unix))]
pub(crate) use by_path::*;
#[cfg(target_vendor = "apple")]
pub(crate) use darwin::*;
pub(crate) use fault::Fault;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) use linux::*;
#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(target_os = "wasi")]
pub(crate) use wasi::{read_at, write_at};

/// The way that a file is opened: no link is followed, and nothing is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Reading.
    Read,
    /// Writing, from the beginning.
    Write,
    /// Writing, at the end.
    Append,
    /// Reading and writing.
    ReadWrite,
}

#[cfg(not(unix))]
impl Use {
    /// The same as the standard library has it.
    fn options(self) -> std::fs::OpenOptions {
        let mut options = std::fs::OpenOptions::new();
        match self {
            Self::Read => options.read(true),
            Self::Write => options.write(true),
            Self::Append => options.append(true),
            Self::ReadWrite => options.read(true).write(true),
        };
        options
    }
}

/// Renames an entry to a name that is free: an error if it is taken. A file system that can't look
/// and rename in one step looks before.
#[cfg(unix)]
pub(crate) fn rename_to_free_at(
    directory: impl At,
    name: &std::ffi::OsStr,
    new_name: &std::ffi::OsStr,
) -> std::io::Result<()> {
    const UNABLE: [i32; 3] = [libc::EINVAL, libc::ENOSYS, libc::ENOTSUP];
    let directory = directory.as_fd();
    match rename_unless_taken(directory, &terminated(name)?, &terminated(new_name)?) {
        Err(error) if error.raw_os_error().is_some_and(|number| UNABLE.contains(&number)) => {
            match look_at(directory, new_name) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    rename_at(directory, name, directory, new_name)
                }
                there => there.and_then(|_| Err(std::io::ErrorKind::AlreadyExists.into())),
            }
        }
        renamed => renamed,
    }
}
