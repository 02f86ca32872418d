//! A directory of outputs: files below it are written, read and removed without leaving it.
//!
//! An earlier run or a checkout may have left links to anywhere there. None of
//! them is followed, neither as a directory on the way nor at the end.
//!
//! Invariant: each call starts from the descriptor of the root, and ends in a directory that is
//! below it.

use crate::held_directory::HeldDirectory;
use crate::location::Location;
use crate::output::{OutputAccess, OutputKind};
use crate::refused::{Kind, Refused};
use crate::status::Status;
use crate::sys::{self, At};
use crate::walk::{self, Links, is_trusted};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

/// The mode of new directories, before the umask.
const MODE: u32 = 0o777;

/// The mode of lock files.
const LOCK_MODE: u32 = 0o600;

/// The most directories within each other that are removed.
const DEPTH: usize = 100;

/// See the module.
#[derive(Clone, Debug)]
pub struct Tree {
    root: Arc<HeldDirectory>,
}

impl Tree {
    /// Opens the directory at `path`. An error if it is a link: the directory that it leads to is
    /// to be named.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::find(path, None)
    }

    /// As [`Self::open`], and makes directories that are missing.
    pub fn create(path: &Path) -> io::Result<Self> {
        Self::find(path, Some(MODE))
    }

    fn find(path: &Path, make: Option<u32>) -> io::Result<Self> {
        let root = match (path.file_name(), path.parent()) {
            (Some(name), Some(parent)) if !ends_in_dot(path) => {
                let parent = walk::find(walk::HERE, parent, Links::Trusted, make)?;
                let place = Location::new(HeldDirectory::shared(parent), name);
                if place.look().is_ok_and(|found| found.status().kind() == Kind::Link) {
                    return Err(place.refused_link());
                }
                walk::find(Some(&place), Path::new(name), Links::None, make)?
            }
            _ => walk::find(walk::HERE, path, Links::Trusted, make)?,
        };
        Ok(Self { root: HeldDirectory::shared(root) })
    }

    /// The place of `name`, a path below the root. An error if a directory on the way is missing.
    pub fn locate(&self, name: &Path) -> io::Result<Location> {
        self.place(name, None)
    }

    /// As [`Self::locate`], and makes directories that are missing.
    pub fn locate_new(&self, name: &Path) -> io::Result<Location> {
        self.place(name, Some(MODE))
    }

    fn place(&self, name: &Path, make: Option<u32>) -> io::Result<Location> {
        let (parent, name) = walk::split(name)?;
        let parent = if parent == Path::new("") {
            Arc::clone(&self.root)
        } else {
            let parent = walk::find(Some(&*self.root), parent, Links::None, make)?;
            HeldDirectory::shared(parent)
        };
        Ok(Location::new(parent, name))
    }

    /// The content of a regular file.
    pub fn read(&self, name: &Path) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.locate(name)?.open_regular()?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Removes a directory if it is empty.
    pub fn remove_if_empty(&self, name: &Path) -> io::Result<()> {
        let place = self.locate(name)?;
        match sys::remove_directory_at(&place, place.name()) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
            removed => removed,
        }
    }

    /// Removes a directory and all in it, if there is one. Links in it are removed, not followed.
    pub fn remove_all(&self, name: &Path) -> io::Result<()> {
        let removed = self.locate(name).and_then(|place| remove_all(&place, place.name(), DEPTH));
        match removed {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }
}

/// A file without content, for a lock between processes. It and its directory are this user's or
/// root's, and nobody else can open it: any user who can open it can hold the lock for ever.
pub fn open_lock_file(place: &Location) -> io::Result<File> {
    if !is_trusted(place.directory_status()?.uid()) {
        return Err(Refused::ForeignDirectory.into());
    }
    let lock = place.open_or_create(OutputAccess::Write, LOCK_MODE)?;
    if lock.kind != OutputKind::File {
        return Err(Refused::Unusable(Kind::Other).into());
    }
    let found = Status::of(&lock.file)?;
    if found.mode() & 0o777 & !LOCK_MODE != 0 && found.uid() == sys::user() {
        sys::set_mode(&lock.file, LOCK_MODE)?;
    }
    Ok(lock.file)
}

fn remove_all(directory: &dyn At, name: &OsStr, depth: usize) -> io::Result<()> {
    let too_deep = || io::Error::other("it is nested too deeply");
    let deeper = depth.checked_sub(1).ok_or_else(too_deep)?;
    let inner = match sys::directory_at(directory, name) {
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return sys::remove_at(directory, name);
        }
        inner => inner?,
    };
    for name in sys::names(&sys::readable(&inner)?, usize::MAX)? {
        remove_all(&inner, &name, deeper)?;
    }
    sys::remove_directory_at(directory, name)
}

/// Returns whether a path says that a link at its end is to be followed.
fn ends_in_dot(path: &Path) -> bool {
    matches!(path.as_os_str().as_encoded_bytes(), [.., slash, b'.'] if sys::is_separator(*slash))
}
