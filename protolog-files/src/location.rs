//! A name in an open directory: what is there is looked at, opened, replaced and removed without
//! its path.
//!
//! Invariant: all calls act in the directory that was found, however its path is renamed or
//! replaced afterwards; and none follows a link at the name.

use crate::flags::{SAFE, kind};
use crate::refused::Refused;
use crate::walk::{self, Links};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

/// See the module.
#[derive(Clone, Debug)]
pub struct Location {
    directory: Arc<OwnedFd>,
    name: OsString,
}

impl Location {
    /// Finds the directory of `path`. An error if `path` names a directory, or has an untrusted
    /// link on the way.
    pub fn of(path: &Path) -> io::Result<Self> {
        Self::find_in(path, None)
    }

    /// As [`Self::of`], and makes directories that are missing.
    pub fn of_new(path: &Path) -> io::Result<Self> {
        Self::find_in(path, Some(0o777))
    }

    fn find_in(path: &Path, make: Option<u32>) -> io::Result<Self> {
        let (parent, name) = walk::split(path)?;
        Ok(Self::new(walk::find(None, parent, Links::Trusted, make)?.into(), name))
    }

    /// The name in a directory; it is one component.
    pub(crate) fn new(directory: Arc<OwnedFd>, name: impl Into<OsString>) -> Self {
        Self { directory, name: name.into() }
    }

    /// Another name in the same directory. An error if it is not one component, which could lead
    /// elsewhere.
    pub fn sibling(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        let name = name.as_ref();
        if walk::split(Path::new(name))? == (Path::new(""), name) {
            Ok(Self::new(Arc::clone(&self.directory), name))
        } else {
            Err(Errno::INVAL.into())
        }
    }

    /// The name.
    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// A name beside this one that nobody can know in advance: `prefix` and 16 hexadecimal digits.
    pub(crate) fn unknown_sibling(&self, prefix: &str) -> Self {
        // Its keys are the system's random numbers.
        let number = RandomState::new().hash_one(std::process::id());
        Self::new(Arc::clone(&self.directory), format!("{prefix}{number:016x}"))
    }

    /// Opens the regular file that is here for reading. Never waits.
    pub fn open_regular(&self) -> io::Result<File> {
        let regular = |found: &Stat| match kind(found) {
            FileType::RegularFile => Ok(()),
            FileType::Symlink => Err(self.refused_link()),
            FileType::Directory => Err(Errno::ISDIR.into()),
            other => Err(Refused::Unusable(other.into()).into()),
        };
        // Before it is opened: to open a device may have effects.
        regular(&self.stat()?)?;
        let file = File::from(self.open_with(OFlags::RDONLY | SAFE, Mode::empty())?);
        regular(&rustix::fs::fstat(&file)?)?;
        Ok(file)
    }

    /// Returns whether this is a name of the open file.
    pub fn is_of(&self, file: impl AsFd) -> bool {
        let id = |found: Stat| (found.st_dev, found.st_ino);
        matches!(
            (rustix::fs::fstat(file).map(id), self.stat().map(id)),
            (Ok(file), Ok(there)) if file == there
        )
    }

    /// Returns whether anything is here, even a link.
    pub fn is_taken(&self) -> bool {
        self.stat().is_ok()
    }

    /// Renames what is here to `name`, in the same directory, over what is there.
    pub fn rename(&self, name: &OsStr) -> io::Result<()> {
        let to = self.sibling(name)?;
        Ok(rustix::fs::renameat(self, &self.name, &to, &to.name)?)
    }

    /// Moves what is here to another place, over what is there.
    pub(crate) fn move_to(&self, to: &Self) -> Result<(), Errno> {
        rustix::fs::renameat(self, &self.name, to, &to.name)
    }

    /// Removes what is here, which must not be a directory.
    pub fn remove(&self) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(self, &self.name, AtFlags::empty())?)
    }

    /// Removes what is here if it is the open file; false if it is another one's by now, or gone.
    pub fn remove_if(&self, file: impl AsFd) -> io::Result<bool> {
        if !self.is_of(file) {
            return Ok(false);
        }
        match self.remove() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            removed => removed.map(|()| true),
        }
    }

    /// The error of the link that is here.
    pub(crate) fn refused_link(&self) -> io::Error {
        match walk::target(self, &self.name) {
            Ok(target) => Refused::Link { target }.into(),
            Err(error) => error.into(),
        }
    }

    /// Looks at the file that is here, which may be a link.
    pub(crate) fn stat(&self) -> Result<Stat, Errno> {
        walk::stat(self, &self.name)
    }

    pub(crate) fn open_with(&self, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
        rustix::io::retry_on_intr(|| rustix::fs::openat(self, &self.name, flags, mode))
    }
}

impl AsFd for Location {
    /// The directory.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }
}
