//! Files of ours that stay open.

use std::fs::File;
use std::io;

/// A file that only we close.
#[derive(Debug)]
pub(crate) struct OwnFile(File);

impl OwnFile {
    pub(crate) fn new(file: File) -> Self {
        Self(file)
    }

    /// Returns the file.
    #[allow(clippy::unnecessary_wraps)] // As on Unix.
    pub(crate) fn get(&self) -> io::Result<&File> {
        Ok(&self.0)
    }

    /// Returns the same to change it.
    #[allow(clippy::unnecessary_wraps)] // As on Unix.
    pub(crate) fn get_mut(&mut self) -> io::Result<&mut File> {
        Ok(&mut self.0)
    }
}
