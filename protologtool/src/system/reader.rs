//! Reading many files one after the other: into the same memory, and with the directory of the last
//! one at hand.
//!
//! Half of the cost of reading a small file is finding it; neighbours are found from the directory
//! that both are in.
//!
//! Invariant: a reader is for one run. If a directory is replaced meanwhile, files may be of the
//! one that was there.

use super::{Stamp, too_large, whole};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, open, openat, stat, statat};
use rustix::io::Errno;
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
        let (mut file, size) = self.open(path)?;
        let (mut filled, most) = (0, whole::limit(path));
        // A file of no size may be one that the kernel makes when it is read: only its end tells
        // where that is.
        while size == 0 || (filled as u64) < size {
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

    /// The file at `path`, and its size.
    fn open(&mut self, path: &Path) -> io::Result<(File, u64)> {
        let Some(file) = self.open_neighbour(path) else {
            // Where anything fails, opening by the whole path gives the error.
            let file = whole::open(path)?;
            let size = file.metadata()?.len();
            return Ok((file, size));
        };
        // It may be something else than it was when its name was found.
        let metadata = file.metadata()?;
        whole::check(&metadata)?;
        Ok((file, metadata.len()))
    }

    /// A file of the directory at hand. One look less than at any path: it was found as a file or
    /// named by whoever runs the program, so only a link can lead to a device, whose opening could
    /// have effects.
    fn open_neighbour(&mut self, path: &Path) -> Option<File> {
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
        for (name, target) in [("link", "b"), ("zero", "/dev/zero"), ("lost", "none")] {
            std::os::unix::fs::symlink(target, deep.join(name)).expect("make a link");
        }
        rustix::fs::mknodat(rustix::fs::CWD, deep.join("pipe"), FileType::Fifo, Mode::RWXU, 0)
            .expect("make a pipe");
        reader.read(&deep.join("link")).expect("read it");
        assert_eq!(reader.bytes().len(), 3 * LEAST + 1);
        for (name, kind) in [
            ("zero", io::ErrorKind::InvalidInput),
            ("pipe", io::ErrorKind::InvalidInput),
            ("lost", io::ErrorKind::NotFound),
        ] {
            assert_eq!(reader.read(&deep.join(name)).expect_err("not a file").kind(), kind);
        }
        reader.read(Path::new("/proc/self/status")).expect("the kernel makes it");
        assert!(reader.bytes().starts_with(b"Name:"), "it has no size");
        reader.read(Path::new("Cargo.toml")).expect("a file in the working directory");
        assert!(reader.bytes().starts_with(b"[package]"));
    }
}
