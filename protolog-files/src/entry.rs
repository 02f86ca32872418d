//! An entry of a directory, open without having been opened for use: its kind, owner and links are
//! known before anything happens to it.
//!
//! Invariant: all that is said of an entry was read by its descriptor, after which no name leads to
//! another one.

use crate::refused::Kind;
use crate::status::{Identity, Status};
use crate::sys::{self, Looked};
use std::fs::File;
use std::io;
use std::path::Path;
#[cfg(unix)]
use std::path::PathBuf;

/// An entry of a directory. Nothing can be read from it or written to it: to look at a device or a
/// pipe has no effect on it.
#[derive(Debug)]
pub struct Entry(Looked);

impl Entry {
    pub(crate) fn new(looked: Looked) -> Self {
        Self(looked)
    }

    /// Its identity, which tells it from other entries.
    pub fn identity(&self) -> Identity {
        self.0.status().identity()
    }

    /// True if it is a regular file; a link to one is none.
    pub fn is_regular(&self) -> bool {
        self.0.status().is_file()
    }

    /// True if it is a socket.
    pub fn is_socket(&self) -> bool {
        self.0.status().kind() == Kind::Socket
    }

    /// The user that it belongs to.
    pub fn owner(&self) -> u32 {
        self.0.status().uid()
    }

    /// The number of names that it has. Other users may have given it more, in directories of
    /// theirs.
    pub fn links(&self) -> u64 {
        self.0.status().nlink()
    }

    /// Its properties, as they were when it was looked at.
    pub fn status(&self) -> &Status {
        self.0.status()
    }

    /// True if it belongs to `user`, nobody else has any permission, and this is its only name.
    pub fn is_private_to(&self, user: u32) -> bool {
        self.owner() == user && self.links() == 1 && is_closed(self.0.status().mode())
    }
}

#[cfg(unix)]
impl Entry {
    /// A path by which the socket that was looked at is connected to.
    pub(crate) fn address(&self) -> io::Result<PathBuf> {
        sys::address_of(&self.0)
    }
}

/// Returns the properties of what a path leads to, by any links, without any effect on it.
pub fn look(path: &Path) -> io::Result<Status> {
    sys::status_of_path(path)
}

/// Sets the mode of an open file, where files have one.
pub fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    sys::set_mode(file, mode)
}

impl Status {
    /// That of an open file.
    pub fn of(file: &File) -> io::Result<Self> {
        sys::status(file)
    }
}

impl Identity {
    /// That of an open file.
    pub fn of_file(file: &File) -> io::Result<Self> {
        Ok(Status::of(file)?.identity())
    }
}

/// True if a mode has none of the six bits of the group and of others.
pub(crate) const fn is_closed(mode: u32) -> bool {
    mode.trailing_zeros() >= 6
}
