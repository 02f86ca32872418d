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
