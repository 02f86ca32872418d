//! A directory by its descriptor: its entries are listed, opened, made, renamed and removed without
//! its path.
//!
//! Invariants
//! - However the path is renamed or replaced afterwards, all calls act on the directory that was
//!   opened.
//! - A name is one component: none leads out of the directory, and no link is followed.
//! - An entry is looked at before it is opened (pipes and devices are not even opened), and the
//!   removed entry is the one that was looked at.

use crate::entry::Entry;
use crate::status::{Identity, Status};
use crate::sys::{self, Held, Use};
use crate::walk::{self, Links};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
#[cfg(unix)]
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::path::{Path, PathBuf};

/// An open directory.
#[derive(Debug)]
pub struct Directory {
    held: Held,
    path: PathBuf,
}

/// The use that a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading.
    Read,
    /// Reading and writing.
    ReadWrite,
}

impl Directory {
    /// Opens a directory; an error if the last component of `path` is a link, or no directory.
    pub fn open(path: &Path) -> io::Result<Self> {
        let held = sys::open_directory(path)?;
        Ok(Self { held, path: path.to_owned() })
    }

    /// Opens the directory at `path`, which may be a link; an error if it, or one on the way, is a
    /// link that another user could have made to lead elsewhere, by the rule of `walk.rs`.
    pub fn open_trusted(path: &Path) -> io::Result<Self> {
        let held = walk::find(walk::HERE, path, Links::Trusted, None)?;
        Ok(Self { held, path: path.to_owned() })
    }

    /// Opens the directory that `path` is in, and returns it with the last component of `path`, at
    /// which is not looked: by way of no link that another user could have made to lead elsewhere.
    pub fn trusted_holding(path: &Path) -> io::Result<(Self, OsString)> {
        let (parent, name) = walk::split(path)?;
        let held = walk::find(walk::HERE, parent, Links::Trusted, None)?;
        Ok((Self { held, path: parent.to_owned() }, name.to_owned()))
    }

    /// As [`trusted_holding`](Self::trusted_holding), of the target of a link at `path` if there is
    /// one, followed by the same rule.
    pub fn trusted_holding_target(path: &Path) -> io::Result<(Self, OsString)> {
        let (held, name) = walk::resolve(path)?;
        let shown = path.parent().unwrap_or(path).to_owned();
        Ok((Self { held, path: shown }, name))
    }

    /// Opens the directory `name` in this one; an error if it is a link.
    pub fn open_inner(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        self.open_directory(name.as_ref())
    }

    /// Opens a directory in this one.
    pub(crate) fn open_directory(&self, name: &OsStr) -> io::Result<Self> {
        let held = sys::directory_at(self, component(name)?)?;
        Ok(Self { held, path: self.path.join(name) })
    }

    /// The path that it was opened at, which may lead elsewhere by now: for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its properties.
    pub fn status(&self) -> io::Result<Status> {
        sys::status_of_held(&self.held)
    }

    /// Changes its mode.
    pub fn set_mode(&self, mode: u32) -> io::Result<()> {
        sys::set_mode(sys::readable(self)?, mode)
    }

    /// The names in it, sorted.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        self.first_names(usize::MAX)
    }

    /// At least the first `most` names in it, or all of them if there are fewer, sorted. Nobody can
    /// make it take longer by names without end.
    pub fn first_names(&self, most: usize) -> io::Result<Vec<OsString>> {
        let mut names = sys::names(&sys::readable(self)?, most)?;
        names.sort();
        Ok(names)
    }

    /// Looks at `name`, without any effect on the entry.
    pub fn look(&self, name: impl AsRef<OsStr>) -> io::Result<Entry> {
        let name = component(name.as_ref())?;
        Ok(Entry::new(sys::look_at(self, name)?))
    }

    /// Opens the regular file that was looked at; an error if it is anything else, or if `name` is
    /// another one's by now. Never waits.
    pub fn open_entry(
        &self,
        name: impl AsRef<OsStr>,
        entry: &Entry,
        access: Access,
    ) -> io::Result<File> {
        let name = component(name.as_ref())?;
        if !entry.is_regular() {
            return Err(not_regular());
        }
        let access = match access {
            Access::Read => Use::Read,
            Access::ReadWrite => Use::ReadWrite,
        };
        let file = sys::open_at(self, name, access)?;
        if Identity::of_file(&file)? == entry.identity() { Ok(file) } else { Err(replaced()) }
    }

    /// Opens the regular file `name` for reading; an error if it is a link or anything else. Never
    /// waits.
    pub fn open_regular(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        let name = name.as_ref();
        self.open_entry(name, &self.look(name)?, Access::Read)
    }

    /// Renames an entry. An error if the name is taken: in a directory such as `/tmp` root would
    /// replace another user's entry.
    pub fn rename_to_free(&self, from: impl AsRef<OsStr>, to: impl AsRef<OsStr>) -> io::Result<()> {
        sys::rename_to_free_at(self, component(from.as_ref())?, component(to.as_ref())?)
    }

    /// Removes the entry that was looked at; false if `name` is another one's by now, or gone. An
    /// error for a directory.
    pub fn remove(&self, name: impl AsRef<OsStr>, looked_at: Identity) -> io::Result<bool> {
        let name = component(name.as_ref())?;
        if looked_at.is_directory() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        match self.look(name) {
            Ok(now) if now.identity() == looked_at => {}
            Ok(_) => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        }
        match sys::remove_at(self, name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            removed => removed.map(|()| true),
        }
    }
}

#[cfg(unix)]
impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.held.as_fd()
    }
}

#[cfg(unix)]
impl AsRawFd for Directory {
    fn as_raw_fd(&self) -> RawFd {
        self.held.as_raw_fd()
    }
}

#[cfg(not(unix))]
impl sys::At for Directory {
    fn at(&self) -> &Path {
        self.held.at()
    }
}

/// The name, if it is one component and leads nowhere else.
pub(crate) fn component(name: &OsStr) -> io::Result<&OsStr> {
    let bytes = name.as_encoded_bytes();
    let is_one =
        !bytes.iter().any(|byte| sys::is_separator(*byte)) && !matches!(bytes, b"" | b"." | b"..");
    if is_one {
        Ok(name)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no name"))
    }
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file")
}

fn replaced() -> io::Error {
    io::Error::other("it was replaced meanwhile")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{MetadataExt, symlink};

    #[test]
    fn a_directory_stays_the_same_when_its_path_leads_elsewhere() {
        let temporary = protolog_testkit::temp_dir();
        let [path, moved, other] =
            ["own", "moved", "other"].map(|name| temporary.path().join(name));
        for directory in [&path, &other] {
            fs::create_dir(directory).unwrap();
            fs::write(directory.join("file"), directory.to_str().unwrap()).unwrap();
        }
        let directory = Directory::open(&path).unwrap();
        let (holding, name) = Directory::trusted_holding(&path.join("file")).unwrap();
        fs::rename(&path, &moved).unwrap();
        symlink(&other, &path).unwrap();
        for directory in [&directory, &holding] {
            let text = io::read_to_string(directory.open_regular("file").unwrap()).unwrap();
            assert_eq!(text, path.to_str().unwrap());
            assert_eq!(directory.names().unwrap(), ["file"]);
        }
        assert!(holding.remove(&name, holding.look(&name).unwrap().identity()).unwrap());
        assert!(other.join("file").exists() && !moved.join("file").exists());
        assert!(Directory::open(&path).is_err(), "a link");
        directory.set_mode(0o710).unwrap();
        assert_eq!(fs::metadata(&moved).unwrap().mode() & 0o777, 0o710);
        assert_ne!(fs::metadata(&other).unwrap().mode() & 0o777, 0o710);
    }

    #[test]
    fn links_pipes_and_paths_are_no_regular_files() {
        let temporary = protolog_testkit::temp_dir();
        fs::write(temporary.path().join("file"), "").unwrap();
        symlink("file", temporary.path().join("link")).unwrap();
        let directory = Directory::open(temporary.path()).unwrap();
        rustix::fs::mkfifoat(&directory, "pipe", rustix::fs::Mode::RUSR).unwrap();
        assert!(directory.open_regular("file").is_ok());
        for name in ["link", "pipe", ".", "..", "", "./file", "/dev/null", "missing"] {
            assert!(directory.open_regular(name).is_err(), "{name}");
        }
        assert_eq!(directory.names().unwrap(), ["file", "link", "pipe"]);
    }

    #[test]
    fn nothing_is_opened_or_removed_but_what_was_looked_at() {
        let temporary = protolog_testkit::temp_dir();
        let at = |name: &str| temporary.path().join(name);
        let directory = Directory::open(temporary.path()).unwrap();
        fs::write(at("file"), "old").unwrap();
        let looked_at = directory.look("file").unwrap();
        fs::hard_link(at("file"), at("second")).unwrap();
        assert_eq!(looked_at.links(), 1, "as it was");
        assert_eq!(directory.look("file").unwrap().links(), 2);
        fs::write(at("new"), "new").unwrap();
        assert!(directory.rename_to_free("new", "file").is_err(), "it is taken");
        assert_eq!(fs::read(at("file")).unwrap(), b"old");
        fs::rename(at("new"), at("file")).unwrap();
        let opened = directory.open_entry("file", &looked_at, Access::ReadWrite);
        assert_eq!(opened.unwrap_err().to_string(), "it was replaced meanwhile");
        assert!(!directory.remove("file", looked_at.identity()).unwrap());
        assert!(!directory.remove("gone", looked_at.identity()).unwrap());
        assert_eq!(fs::read(at("file")).unwrap(), b"new");
        assert!(directory.remove("second", looked_at.identity()).unwrap(), "the same file");
        fs::create_dir(at("directory")).unwrap();
        let inner = directory.look("directory").unwrap().identity();
        assert!(directory.remove("directory", inner).is_err());
    }
}
