//! Files of ours that stay open.

use std::fs::File;
use std::io;

/// A file that only we close.
#[derive(Debug)]
pub(crate) struct OwnFile<F = File>(F);

impl<F> OwnFile<F> {
    pub(crate) fn new(file: F) -> Self {
        Self(file)
    }

    /// Returns the file.
    #[allow(clippy::unnecessary_wraps)] // As on Unix.
    pub(crate) fn get(&self) -> io::Result<&F> {
        Ok(&self.0)
    }

    /// Returns the same to change it.
    #[allow(clippy::unnecessary_wraps)] // As on Unix.
    pub(crate) fn get_mut(&mut self) -> io::Result<&mut F> {
        Ok(&mut self.0)
    }
}
