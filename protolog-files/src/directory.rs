//! A directory by its descriptor: what is in it is opened, made and removed without its path.
//!
//! Invariant: however the path is renamed or replaced afterwards, all calls act on the directory
//! that was opened.

use rustix::fs::{AtFlags, Mode, OFlags};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

/// An open directory.
#[derive(Debug)]
pub struct Directory {
    descriptor: OwnedFd,
}

impl Directory {
    /// Opens a directory; an error if the last component of `path` is a link, or no directory.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
        Ok(Self { descriptor: rustix::fs::open(path, flags, Mode::empty())? })
    }

    /// Opens the regular file `name` of this directory for reading; an error if it is a link or
    /// anything else. Never waits.
    pub fn open_regular(&self, name: &str) -> io::Result<File> {
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file: File = rustix::fs::openat(self, name, flags, Mode::empty())?.into();
        let is_regular = file.metadata()?.is_file();
        if is_regular { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
    }

    /// Removes `name`, which must not be a directory.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(self, name, AtFlags::empty())?)
    }
}

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

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
        fs::rename(&path, &moved).unwrap();
        symlink(&other, &path).unwrap();
        let text = io::read_to_string(directory.open_regular("file").unwrap()).unwrap();
        assert_eq!(text, path.to_str().unwrap());
        directory.remove("file").unwrap();
        assert!(other.join("file").exists() && !moved.join("file").exists());
        assert!(Directory::open(&path).is_err(), "a link");
    }

    #[test]
    fn links_and_pipes_are_no_regular_files() {
        let temporary = protolog_testkit::temp_dir();
        fs::write(temporary.path().join("file"), "").unwrap();
        symlink("file", temporary.path().join("link")).unwrap();
        let directory = Directory::open(temporary.path()).unwrap();
        rustix::fs::mkfifoat(&directory, "pipe", Mode::RUSR).unwrap();
        assert!(directory.open_regular("file").is_ok());
        for name in ["link", "pipe", ".", "missing"] {
            assert!(directory.open_regular(name).is_err(), "{name}");
        }
    }
}
