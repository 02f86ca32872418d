//! A file that is followed, by its descriptor, and the marks by which its content is known again.
//!
//! A name says little: a program that starts again removes its file and makes a new one, which may
//! get the number of the old one, or writes over it. So the file stays open, and its end can be
//! read when the name is that of another one; and the bytes at its start and before the place that
//! was reached are compared at each look.
//!
//! ```text
//!  |head ...              ...tail|taken            end
//! ```
//!
//! Invariant: the bytes after `taken` are decoded only if the bytes before it are those that were
//! decoded.

use crate::system::{OpenFile, System};
use std::io;
use std::path::{Path, PathBuf};

/// The size of the head that is compared, in bytes. It has the id of a session.
const HEAD: usize = 1024;
/// The size of the tail.
const TAIL: usize = 64;

/// See the module.
pub(super) struct HeldFile {
    path: PathBuf,
    /// None where there are too many files to hold all.
    file: Option<Box<dyn OpenFile>>,
    head: Vec<u8>,
    tail: Vec<u8>,
    taken: u64,
}

/// The content of a file, compared with the bytes read of it before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    /// It is the same one, perhaps with more behind it.
    Same,
    /// It is cut off before the place that was reached.
    Shorter,
    /// It is another one.
    Other,
}

impl HeldFile {
    pub(super) fn open(path: PathBuf, system: &dyn System) -> io::Result<Self> {
        let file = system.open_file(&path)?;
        Ok(Self { path, file: Some(file), head: Vec::new(), tail: Vec::new(), taken: 0 })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Goes on under another name of the same file.
    pub(super) fn rename(&mut self, path: PathBuf) {
        self.path = path;
    }

    /// Bytes that were decoded.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    pub(super) fn size(&self) -> io::Result<u64> {
        self.file()?.size()
    }

    pub(super) fn is_open(&self) -> bool {
        self.file.is_some()
    }

    /// Closes the file until the next look.
    pub(super) fn close(&mut self) {
        self.file = None;
    }

    /// Opens the file that has the name.
    pub(super) fn open_again(&mut self, system: &dyn System) -> io::Result<()> {
        self.file = Some(system.open_file(&self.path)?);
        Ok(())
    }

    /// Returns whether its name is that of another file by now. One that has no file is not.
    pub(super) fn is_replaced(&self, system: &dyn System) -> bool {
        let there = system.file_id(&self.path);
        matches!((there, self.file().and_then(OpenFile::id)), (Ok(there), Ok(own)) if there != own)
    }

    /// Compares the content with the bytes read of it before.
    pub(super) fn compare(&self) -> io::Result<Comparison> {
        let head = self.file()?.read_at(0, self.head.len())?;
        // Another program truncated it, and the writer goes on where it was: a hole is before that.
        let is_hole = head.first() == Some(&0) && self.head.first() != Some(&0);
        if !is_hole && !self.head.starts_with(&head) {
            return Ok(Comparison::Other);
        }
        if self.size()? < self.taken {
            return Ok(Comparison::Shorter);
        }
        let tail = self.file()?.read_at(self.taken - self.tail.len() as u64, self.tail.len())?;
        // The hole may end within it.
        let is_same = |(there, known): (&u8, &u8)| there == known || is_hole && *there == 0;
        let is_same = tail.len() == self.tail.len() && tail.iter().zip(&self.tail).all(is_same);
        Ok(if is_same { Comparison::Same } else { Comparison::Other })
    }

    /// The bytes after the taken ones, `most` of them.
    pub(super) fn read(&self, most: usize) -> io::Result<Vec<u8>> {
        self.file()?.read_at(self.taken, most)
    }

    /// All bytes, `most` of them.
    pub(super) fn read_start(&self, most: usize) -> io::Result<Vec<u8>> {
        self.file()?.read_at(0, most)
    }

    fn file(&self) -> io::Result<&dyn OpenFile> {
        self.file.as_deref().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Says that these bytes, which follow the taken ones, are decoded.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        let missing = HEAD.saturating_sub(self.head.len()).min(bytes.len());
        if self.head.len() as u64 == self.taken {
            self.head.extend_from_slice(&bytes[..missing]);
        }
        self.taken += bytes.len() as u64;
        self.tail.extend_from_slice(&bytes[bytes.len().saturating_sub(TAIL)..]);
        self.tail.drain(..self.tail.len().saturating_sub(TAIL));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::Real;
    use std::fs;

    #[test]
    fn content_is_known_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let first: Vec<u8> = (0..3000_u32).map(|at| (at % 251) as u8 | 1).collect();
        fs::write(&path, &first).unwrap();
        let mut held = HeldFile::open(path.clone(), &Real).unwrap();
        for part in [&first[..7], &first[7..1500], &first[1500..]] {
            assert!(held.read(1 << 20).unwrap().starts_with(part));
            held.take(part);
            assert_eq!(held.compare().unwrap(), Comparison::Same);
        }
        let with = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = first.clone();
            change(&mut bytes);
            fs::write(&path, bytes).unwrap();
            held.compare().unwrap()
        };
        assert_eq!(with(&|bytes| bytes.extend_from_slice(b"more")), Comparison::Same);
        assert_eq!(with(&|bytes| bytes.truncate(2000)), Comparison::Shorter);
        assert_eq!(with(&|bytes| bytes.truncate(20)), Comparison::Shorter);
        assert_eq!(with(&|bytes| bytes.clear()), Comparison::Shorter);
        assert_eq!(with(&|bytes| bytes[30] ^= 1), Comparison::Other, "of the same size");
        assert_eq!(with(&|bytes| bytes[2990] ^= 1), Comparison::Other, "cut off and written again");
        assert_eq!(with(&|bytes| bytes.fill(0)), Comparison::Same, "a hole");
        assert!(!held.is_replaced(&Real));
        fs::remove_file(&path).unwrap();
        assert!(!held.is_replaced(&Real), "it has no name");
        // The number of the old file can't be given to it.
        fs::write(&path, &first).unwrap();
        assert!(held.is_replaced(&Real));
    }
}
