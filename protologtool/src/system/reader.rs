//! Reading many files one after the other: into the same memory, and with the directory of the last one at hand.
//!
//! Half of what reading a small file costs is finding it; neighbours are found from the directory that both are in.
//!
//! Invariant: a reader is for one run. Who replaces a directory meanwhile may get files of the one that was there.

use super::{Stamp, too_large, whole};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, open, openat, stat, statat};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// Bytes that most files fit into.
const LEAST: usize = 64 << 10;

/// See the module.
#[derive(Debug, Default)]
pub struct Reader {
    bytes: Vec<u8>,
    length: usize,
    directory: Option<(PathBuf, OwnedFd)>,
}

impl Reader {
    /// The content of the file that was read last.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// Takes the content of a file.
    pub(super) fn set(&mut self, bytes: Vec<u8>) {
        self.length = bytes.len();
        self.bytes = bytes;
    }

    /// Reads a file of the real file system.
    pub(super) fn read(&mut self, path: &Path) -> io::Result<()> {
        self.length = 0;
        let mut file = self.open(path)?;
        let (mut filled, most) = (0, whole::limit(path));
        // Not `read_to_end`, which asks for the size first: most files fit at once.
        loop {
            if filled == self.bytes.len() {
                self.bytes.resize((self.bytes.len() * 2).max(LEAST), 0);
            }
            match file.read(&mut self.bytes[filled..]) {
                Ok(0) => break,
                Ok(count) if (filled + count) as u64 > most => return Err(too_large(most)),
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.length = filled;
        Ok(())
    }

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
            file: (file.st_dev, file.st_ino),
            size: file.st_size as u64,
            modified: nanoseconds(file.st_mtime, file.st_mtime_nsec as i64)?,
            changed: nanoseconds(file.st_ctime, file.st_ctime_nsec as i64)?,
        })
    }

    fn open(&mut self, path: &Path) -> io::Result<File> {
        // Where anything goes wrong the whole path says what.
        let Some((directory, name)) = self.place(path) else { return whole::open(path) };
        let is_file = |file: Stat| FileType::from_raw_mode(file.st_mode).is_file();
        if !statat(directory, name, AtFlags::empty()).is_ok_and(is_file) {
            return whole::open(path);
        }
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let Ok(file) = openat(directory, name, flags, Mode::empty()) else {
            return whole::open(path);
        };
        let file = File::from(file);
        // By now it may be something else.
        whole::check(&file.metadata()?)?;
        Ok(file)
    }

    /// The directory that a file is in, and its name there.
    fn place<'p>(&mut self, path: &'p Path) -> Option<(&OwnedFd, &'p OsStr)> {
        let (parent, name) = (path.parent()?, path.file_name()?);
        let is_known = |known: &PathBuf| known.as_os_str() == parent.as_os_str();
        if !self.directory.as_ref().is_some_and(|(known, _)| is_known(known)) {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let place = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            let opened = open(place, flags, Mode::empty()).ok();
            self.directory = opened.map(|directory| (parent.to_path_buf(), directory));
        }
        self.directory.as_ref().map(|(_, directory)| (directory, name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn files_are_found_wherever_the_last_one_was() {
        let dir = tempfile::tempdir().expect("make a directory");
        let deep = dir.path().join("deep");
        fs::create_dir(&deep).expect("make a directory");
        fs::write(dir.path().join("a"), "one").expect("write a file");
        fs::write(deep.join("a"), "two").expect("write a file");
        fs::write(deep.join("b"), vec![b'x'; 3 * LEAST + 1]).expect("write a file");
        fs::write(deep.join("empty"), "").expect("write a file");
        let mut reader = Reader::default();
        for (path, content) in [
            (dir.path().join("a"), b"one".to_vec()),
            (deep.join("b"), vec![b'x'; 3 * LEAST + 1]),
            (deep.join("a"), b"two".to_vec()),
            (deep.join("empty"), Vec::new()),
            (deep.join("../a"), b"one".to_vec()),
        ] {
            reader.read(&path).expect("read it");
            assert!(reader.bytes() == content, "{}", path.display());
        }
        for path in [deep.join("none"), dir.path().join("none/a"), deep.clone(), PathBuf::from("/")]
        {
            let expected = fs::read(&path).expect_err("not a file").kind();
            assert_eq!(reader.read(&path).expect_err("not a file").kind(), expected);
            assert_eq!(reader.bytes(), b"");
        }
        reader.read(Path::new("Cargo.toml")).expect("a file in the working directory");
        assert!(reader.bytes().starts_with(b"[package]"));
    }
}
