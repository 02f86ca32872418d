//! The memory of switches that a program shares with its operators.
//!
//! One file in memory has a page for each of the first [`PAGES`] enums. Its size is sealed, so no
//! operator can cut it off under a log call.
//!
//! Invariant: a page of the file belongs to one enum for the life of the process.

use super::group::GroupSet;
use super::page::PAGE_SIZE;
use crate::sys::file::memory_file;
use crate::sys::own_file::OwnFile;
use protolog_core::control::protocol::MEMORY_NAME;
use std::fs::File;
use std::io;
#[cfg(unix)]
use std::os::fd::AsRawFd;

/// Number of pages in the file: enums whose groups an operator can switch without the program.
/// Later enums are switched by request. Unused pages take no memory.
pub(super) const PAGES: u32 = 256;

/// The file and the number of its pages in use.
#[derive(Debug)]
pub(crate) struct SharedPages {
    file: OwnFile,
    used: u32,
}

impl SharedPages {
    /// Creates a file with pages for enums to come.
    pub(super) fn new() -> io::Result<Self> {
        let file = memory_file(MEMORY_NAME, u64::from(PAGES) * PAGE_SIZE as u64)?;
        Ok(Self { file: OwnFile::new(file), used: 0 })
    }

    /// Returns the file, for an operator.
    pub(super) fn file(&self) -> io::Result<File> {
        self.file.get().and_then(File::try_clone)
    }

    /// Returns the number of the file's descriptor, which stays open as long as the process lives;
    /// none once the program has closed it.
    #[cfg(unix)]
    pub(super) fn descriptor(&self) -> Option<i32> {
        self.file.get().ok().map(AsRawFd::as_raw_fd)
    }

    /// Shares the page of `set`, if there is one left and the system can map it.
    pub(super) fn add(&mut self, set: &'static GroupSet) {
        let is_sharable = set.is_derived() && !set.has_joined();
        let share = |file: &File| set.share(file, self.used);
        if self.used < PAGES && is_sharable && self.file.get().and_then(share).is_ok() {
            self.used += 1;
        }
    }
}
