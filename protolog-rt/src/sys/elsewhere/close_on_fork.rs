//! Files that a forked child closes. There are no forks, so they are files.

use std::io;
use std::ops::{Deref, DerefMut};

/// Registers the lock on the list, which is not needed.
pub(crate) fn register() {}

/// A file of ours.
#[derive(Debug)]
pub(crate) struct CloseOnFork<F>(F);

impl<F> CloseOnFork<F> {
    /// Takes the file that `open` opens.
    pub(crate) fn new(open: impl FnOnce() -> io::Result<F>) -> io::Result<Self> {
        open().map(Self)
    }

    /// Returns the file.
    #[allow(clippy::unnecessary_wraps)] // As on Unix.
    pub(crate) fn if_open(&self) -> Option<&F> {
        Some(&self.0)
    }

    /// Returns the same to change it.
    #[allow(clippy::unnecessary_wraps)] // As on Unix.
    pub(crate) fn if_open_mut(&mut self) -> Option<&mut F> {
        Some(&mut self.0)
    }
}

impl<F> Deref for CloseOnFork<F> {
    type Target = F;

    fn deref(&self) -> &F {
        &self.0
    }
}

impl<F> DerefMut for CloseOnFork<F> {
    fn deref_mut(&mut self) -> &mut F {
        &mut self.0
    }
}
