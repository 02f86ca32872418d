//! A directory that stays open, in a program that may close any descriptor: one that becomes a
//! daemon closes all, and opens others, which get the same numbers.
//!
//! Invariant: a number that the program has given to another file is not closed, and nothing is
//! done in a directory that has got it: calls fail as with a descriptor that is closed. Between the
//! look and the use is a moment in which the program may do so.

use crate::sys;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

/// See the module.
#[derive(Debug)]
pub(crate) struct HeldDirectory {
    /// None while it is being dropped.
    file: Option<File>,
    /// Device and inode; none where they can't be told.
    id: Option<(u64, u64)>,
}

impl HeldDirectory {
    pub(crate) fn shared(file: File) -> Arc<Self> {
        let id = id_of(&file);
        Arc::new(Self { file: Some(file), id })
    }

    /// Its metadata. An error once the program has closed it.
    pub(crate) fn metadata(&self) -> io::Result<Metadata> {
        let closed = || io::Error::from_raw_os_error(libc::EBADF);
        self.own().ok_or_else(closed)?.metadata()
    }

    fn own(&self) -> Option<&File> {
        self.file.as_ref().filter(|file| id_of(file) == self.id)
    }
}

impl AsFd for HeldDirectory {
    /// The directory; a number that no file has once the program has closed it.
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self.own() {
            Some(file) => file.as_fd(),
            None => sys::no_descriptor(),
        }
    }
}

impl Drop for HeldDirectory {
    fn drop(&mut self) {
        if self.own().is_none() {
            std::mem::forget(self.file.take());
        }
    }
}

fn id_of(file: &File) -> Option<(u64, u64)> {
    file.metadata().ok().map(|found| (found.dev(), found.ino()))
}
