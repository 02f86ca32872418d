//! A directory that stays open, in a program that may close any descriptor: one that becomes a
//! daemon closes all, and opens others, which get the same numbers.
//!
//! Invariant: a number that the program has given to another file is not closed, and nothing is
//! done in a directory that has got it: calls fail as with a descriptor that is closed. Between the
//! look and the use is a moment in which the program may do so.

use crate::status::Status;
use crate::sys;
use crate::sys::Held;
use std::io;
#[cfg(unix)]
use std::os::fd::{AsFd, BorrowedFd};
#[cfg(not(unix))]
use std::path::Path;
use std::sync::Arc;

/// See the module.
#[derive(Debug)]
pub(crate) struct HeldDirectory {
    /// None while it is being dropped.
    held: Option<Held>,
    /// Device and inode; none where they can't be told.
    id: Option<(u64, u64)>,
}

impl HeldDirectory {
    pub(crate) fn shared(held: Held) -> Arc<Self> {
        let id = id_of(&held);
        Arc::new(Self { held: Some(held), id })
    }

    /// Its properties. An error once the program has closed it.
    pub(crate) fn status(&self) -> io::Result<Status> {
        sys::status_of_held(self.own().ok_or(sys::Fault::Closed)?)
    }

    fn own(&self) -> Option<&Held> {
        self.held.as_ref().filter(|held| id_of(held) == self.id)
    }
}

#[cfg(unix)]
impl AsFd for HeldDirectory {
    /// The directory; a number that no file has once the program has closed it.
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self.own() {
            Some(held) => held.as_fd(),
            None => sys::no_descriptor(),
        }
    }
}

#[cfg(not(unix))]
impl sys::At for HeldDirectory {
    fn at(&self) -> &Path {
        self.held.as_ref().map_or(Path::new(""), sys::At::at)
    }
}

impl Drop for HeldDirectory {
    fn drop(&mut self) {
        if self.own().is_none() {
            std::mem::forget(self.held.take());
        }
    }
}

fn id_of(held: &Held) -> Option<(u64, u64)> {
    sys::status_of_held(held).ok().map(|found| (found.dev(), found.ino()))
}
