//! A name in an open directory: the entry there is looked at, opened, replaced and removed without
//! its path.
//!
//! Invariant: all calls act in the directory that was found, however its path is renamed or
//! replaced afterwards; and none follows a link at the name.

use crate::directory::component;
use crate::entry::Entry;
use crate::held_directory::HeldDirectory;
use crate::refused::{Kind, Refused};
use crate::status::{Identity, Status};
use crate::sys::{self, Use};
use crate::walk::{self, Links};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io;
#[cfg(unix)]
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::sync::Arc;

/// See the module.
#[derive(Clone, Debug)]
pub struct Location {
    directory: Arc<HeldDirectory>,
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

    /// As [`Self::of_new`], but root makes directories only in its own.
    pub fn of_new_own(path: &Path) -> io::Result<Self> {
        let (parent, name) = walk::split(path)?;
        Ok(Self::new(HeldDirectory::shared(walk::find_own(parent, 0o777)?), name))
    }

    fn find_in(path: &Path, make: Option<u32>) -> io::Result<Self> {
        let (parent, name) = walk::split(path)?;
        let directory = walk::find(walk::HERE, parent, Links::Trusted, make)?;
        Ok(Self::new(HeldDirectory::shared(directory), name))
    }

    /// The name in a directory; it is one component.
    pub(crate) fn new(directory: Arc<HeldDirectory>, name: impl Into<OsString>) -> Self {
        Self { directory, name: name.into() }
    }

    /// Another name in the same directory. An error if it is not one component, which could lead
    /// elsewhere.
    pub fn sibling(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        let name = name.as_ref();
        Ok(Self::new(Arc::clone(&self.directory), component(name)?))
    }

    /// The name.
    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// A name beside this one that nobody can know in advance: `prefix` and 16 hexadecimal digits.
    pub(crate) fn unknown_sibling(&self, prefix: &str) -> Self {
        // Its keys are the system's random numbers.
        let number = RandomState::new().hash_one(prefix);
        Self::new(Arc::clone(&self.directory), format!("{prefix}{number:016x}"))
    }

    /// Looks at the file that is here, which may be a link, without any effect on it.
    pub fn look(&self) -> io::Result<Entry> {
        Ok(Entry::new(sys::look_at(self, &self.name)?))
    }

    /// Opens the regular file that is here for reading. Never waits.
    pub fn open_regular(&self) -> io::Result<File> {
        let regular = |found: &Status| match found.kind() {
            Kind::File => Ok(()),
            Kind::Link => Err(self.refused_link()),
            Kind::Directory => Err(sys::Fault::IsDirectory.into()),
            other => Err(Refused::Unusable(other).into()),
        };
        // Before it is opened: to open a device may have effects.
        regular(self.look()?.status())?;
        let file = sys::open_at(self, &self.name, Use::Read)?;
        regular(&Status::of(&file)?)?;
        Ok(file)
    }

    /// As [`Self::open_regular`], of a file that only this user or root can have put here: it is
    /// theirs, and so is the directory. A file that another user wrote, or gave a second name,
    /// decides nothing for this one.
    pub fn open_trusted(&self) -> io::Result<File> {
        let file = self.open_regular()?;
        if !walk::is_trusted(Status::of(&file)?.uid()) {
            return Err(Refused::Foreign(Kind::File).into());
        }
        if !walk::is_trusted(self.directory_status()?.uid()) {
            return Err(Refused::ForeignDirectory.into());
        }
        Ok(file)
    }

    /// Returns whether this is a name of the open file.
    pub fn is_of(&self, file: &File) -> bool {
        matches!((Identity::of_file(file), self.look()), (Ok(id), Ok(entry)) if entry.identity() == id)
    }

    /// Returns whether anything is here, even a link. An error where that can't be told, which is
    /// no free name.
    pub fn is_taken(&self) -> io::Result<bool> {
        match self.look() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            there => there.map(|_| true),
        }
    }

    /// Renames the entry here to `name`, in the same directory, over an existing one: for a name
    /// that may be replaced.
    pub fn rename(&self, name: &OsStr) -> io::Result<()> {
        let to = self.sibling(name)?;
        sys::rename_at(self, &self.name, &to, &to.name)
    }

    /// Renames the entry here to `name`, in the same directory. An error if that is taken.
    pub fn rename_to_free(&self, name: &OsStr) -> io::Result<()> {
        let to = self.sibling(name)?;
        sys::rename_to_free_at(self, &self.name, &to.name)
    }

    /// Moves the entry here to another place, over an existing one.
    pub(crate) fn move_to(&self, to: &Self) -> io::Result<()> {
        sys::rename_at(self, &self.name, to, &to.name)
    }

    /// The names in the directory, in any order.
    pub fn siblings(&self) -> io::Result<Vec<OsString>> {
        sys::names(&sys::readable(self)?, usize::MAX)
    }

    /// Returns whether the directory was removed, so that nothing can be created in it any more.
    pub fn is_in_removed_directory(&self) -> bool {
        self.directory_status().is_ok_and(|directory| directory.nlink() == 0)
    }

    /// The properties of the directory.
    pub fn directory_status(&self) -> io::Result<Status> {
        self.directory.status()
    }

    /// Removes the entry here, which must not be a directory.
    pub fn remove(&self) -> io::Result<()> {
        sys::remove_at(self, &self.name)
    }

    /// Removes the entry here if it is the open file; false if it is another one's by now, or gone.
    pub fn remove_if(&self, file: &File) -> io::Result<bool> {
        self.remove_entry(Identity::of_file(file)?)
    }

    /// As [`Self::remove_if`], of a file that may be closed.
    pub fn remove_entry(&self, identity: Identity) -> io::Result<bool> {
        let removed = match self.look() {
            Ok(there) if there.identity() != identity => return Ok(false),
            there => there.and_then(|_| self.remove()),
        };
        match removed {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            removed => removed.map(|()| true),
        }
    }

    /// As [`Self::remove_entry`], of a file that this process has open and may have mapped. Where
    /// its name would be in use until it is closed, as on some of Windows' file systems, the file
    /// gets one first that nobody knows in advance.
    pub fn remove_in_use(&self, identity: Identity) -> io::Result<bool> {
        #[cfg(windows)]
        if self.look()?.identity() == identity {
            return sys::remove_in_use(self, &self.name, &self.unknown_sibling(".").name)
                .map(|()| true);
        }
        self.remove_entry(identity)
    }

    /// The error of the link that is here.
    pub(crate) fn refused_link(&self) -> io::Error {
        match sys::read_link_at(self, &self.name) {
            Ok(target) => Refused::Link { target }.into(),
            Err(error) => error,
        }
    }
}

#[cfg(not(unix))]
impl sys::At for Location {
    fn at(&self) -> &Path {
        self.directory.at()
    }
}

#[cfg(unix)]
impl AsFd for Location {
    /// The directory.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }
}
