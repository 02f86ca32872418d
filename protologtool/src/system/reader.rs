//! Reading many files one after the other: into the same memory, and with the directory of the last
//! one at hand.
//!
//! Half of the cost of reading a small file is finding it; neighbours are found from the directory
//! that both are in.
//!
//! Invariant: a reader is for one run. If a directory is replaced meanwhile, files may be of the
//! one that was there.

#[cfg(unix)]
use super::neighbour::Neighbour;
use super::{Stamp, too_large, whole};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Bytes that most files fit into.
const LEAST: usize = 64 << 10;

/// See the module.
#[derive(Debug, Default)]
pub struct Reader {
    bytes: Vec<u8>,
    length: usize,
    #[cfg(unix)]
    neighbour: Neighbour,
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
    #[cfg(unix)]
    pub(super) fn stamp(&mut self, path: &Path) -> Option<Stamp> {
        self.neighbour.stamp(path)
    }

    #[cfg(not(unix))]
    #[allow(clippy::unused_self)] // As on Unix.
    pub(super) fn stamp(&mut self, path: &Path) -> Option<Stamp> {
        let found = protolog_files::look(path).ok().filter(protolog_files::Status::is_file)?;
        let metadata = std::fs::metadata(path).ok()?;
        let since = |time: std::time::SystemTime| time.duration_since(std::time::UNIX_EPOCH).ok();
        let nanoseconds = |time| i64::try_from(since(time)?.as_nanos()).ok();
        let modified = nanoseconds(metadata.modified().ok()?)?;
        let file = (found.dev(), found.ino());
        // A change of anything else than the content is not told.
        Some(Stamp { file, size: found.len(), modified, changed: modified })
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

    #[cfg(unix)]
    fn open_neighbour(&mut self, path: &Path) -> Option<File> {
        self.neighbour.open(path)
    }

    #[cfg(not(unix))]
    #[allow(clippy::unused_self)] // As on Unix.
    fn open_neighbour(&mut self, _: &Path) -> Option<File> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{FileType, Mode};
    use std::fs;
    use std::path::PathBuf;

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
