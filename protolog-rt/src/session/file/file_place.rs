//! The place of a file that is written: a name in a directory that is opened once.
//!
//! Where a path leads may change while a program runs: another user renames a directory on the way,
//! or an administrator makes the directory of the logs anew. So the directory is found once, by the
//! rule of protolog-files, and all that follows happens in it. Only where it was removed, so that
//! nothing can be written there any more, the path is followed again, by the same rule.
//!
//! Invariant: two steps at one place happen in the same directory, unless that was removed between
//! them.

use crate::error::Error;
use protolog_files::{Found, Kind, Location, Output, OutputAccess, OutputKind, Status};
use std::io;
use std::path::{Path, PathBuf};

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct FilePlace {
    /// For messages, and to find the directory again.
    path: PathBuf,
    /// None for a descriptor of this process.
    location: Option<Location>,
}

impl FilePlace {
    /// Finds the directory of `path`.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let is_descriptor = protolog_files::descriptor::is_descriptor(path);
        let location = if is_descriptor { None } else { Some(Location::of(path)?) };
        Ok(Self { path: path.to_owned(), location })
    }

    /// As [`Self::of`], with the error of a file.
    pub(in crate::session) fn of_file(path: &Path) -> Result<Self, Error> {
        Self::of(path).map_err(|error| Error::File { path: path.to_owned(), error })
    }

    /// The path, which may lead elsewhere by now.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The place in its directory; an error for a descriptor.
    pub(crate) fn location(&self) -> io::Result<&Location> {
        self.location.as_ref().ok_or_else(|| io::ErrorKind::InvalidInput.into())
    }

    /// Finds the directory again if it was removed; true if another one is there by now.
    pub(crate) fn follow(&mut self) -> bool {
        if self.location.as_ref().is_some_and(Location::is_in_removed_directory) {
            let found = Location::of(&self.path).ok();
            self.location = found.or(self.location.take());
            return !self.location.as_ref().is_some_and(Location::is_in_removed_directory);
        }
        false
    }

    /// Opens the file here, or creates it with `mode`.
    pub(crate) fn open(&self, access: OutputAccess, mode: u32) -> io::Result<Output> {
        match &self.location {
            Some(location) => location.open_or_create(access, mode),
            None => Output::open(&self.path, access, mode),
        }
    }

    /// Takes care that an output of here has `mode` before it is emptied; false if it is gone, so
    /// that another one is to be opened.
    pub(in crate::session) fn is_ready(&self, output: &Output, mode: u32) -> io::Result<bool> {
        let Some(location) = self.location.as_ref().filter(|_| output.kind == OutputKind::File)
        else {
            return Ok(true);
        };
        // It may have been replaced before it was claimed.
        let is_there = Status::of(&output.file)?.nlink() > 0;
        Ok(is_there && (output.is_new || location.give_mode(&output.file, mode)?))
    }

    /// As [`Output::find`].
    pub(in crate::session) fn find(&self) -> io::Result<Found> {
        match &self.location {
            Some(location) => location.clone().find(),
            None => Output::find(&self.path),
        }
    }

    /// As [`Output::check`].
    pub(in crate::session) fn check(&self) -> io::Result<Option<Kind>> {
        match &self.location {
            Some(location) => location.check_output(),
            None => Output::check(&self.path),
        }
    }
}
