//! Files beside the last one, found from the directory that both are in.

use super::Stamp;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, open, openat, stat, statat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// A directory that files are found in.
#[cfg(any(target_os = "linux", target_os = "android"))]
const PLACE: OFlags = OFlags::PATH;
#[cfg(target_vendor = "apple")]
const PLACE: OFlags = OFlags::RDONLY;

/// The directory of the last file, with its path.
#[derive(Debug, Default)]
pub(super) struct Neighbour {
    directory: Option<(PathBuf, OwnedFd)>,
}

impl Neighbour {
    /// The stamp of a regular file of the real file system.
    pub(super) fn stamp(&mut self, path: &Path) -> Option<Stamp> {
        let found = match self.place(path) {
            Some((directory, name)) => statat(directory, name, AtFlags::empty()),
            None => stat(path),
        };
        let file = found.ok().filter(|file| FileType::from_raw_mode(file.st_mode).is_file())?;
        let nanoseconds =
            |seconds: i64, rest: i64| seconds.checked_mul(1_000_000_000)?.checked_add(rest);
        Some(Stamp {
            // A signed number on macOS.
            #[allow(clippy::unnecessary_cast)]
            file: (file.st_dev as u64, file.st_ino),
            size: file.st_size as u64,
            modified: nanoseconds(file.st_mtime, file.st_mtime_nsec as i64)?,
            changed: nanoseconds(file.st_ctime, file.st_ctime_nsec as i64)?,
        })
    }

    /// A file of the directory at hand. One look less than at any path: it was found as a file or
    /// named by whoever runs the program, so only a link can lead to a device, whose opening could
    /// have effects.
    pub(super) fn open(&mut self, path: &Path) -> Option<File> {
        let (directory, name) = self.place(path)?;
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let opened = match openat(directory, name, flags | OFlags::NOFOLLOW, Mode::empty()) {
            Err(Errno::LOOP) => {
                let is_file = |file: Stat| FileType::from_raw_mode(file.st_mode).is_file();
                let target = statat(directory, name, AtFlags::empty()).is_ok_and(is_file);
                target.then(|| openat(directory, name, flags, Mode::empty()).ok())?
            }
            opened => opened.ok(),
        };
        opened.map(File::from)
    }

    /// The directory that a file is in, and its name there.
    fn place<'p>(&mut self, path: &'p Path) -> Option<(&OwnedFd, &'p OsStr)> {
        let (parent, name) = (path.parent()?, path.file_name()?);
        let is_known = |known: &PathBuf| known.as_os_str() == parent.as_os_str();
        if !self.directory.as_ref().is_some_and(|(known, _)| is_known(known)) {
            let flags = PLACE | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let place = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            let opened = open(place, flags, Mode::empty()).ok();
            self.directory = opened.map(|directory| (parent.to_path_buf(), directory));
        }
        self.directory.as_ref().map(|(_, directory)| (directory, name))
    }
}
