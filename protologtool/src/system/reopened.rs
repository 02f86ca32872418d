//! A file that is opened for each part that is read of it, where there are more files than may be
//! open.
//!
//! A file system gives the number of a file that was removed to the next one, so a file is known by
//! its first bytes, too, which say of which session a trace is.
//!
//! Invariant: all bytes are of the file that had the name at first, of the size that it had then.

use super::{OpenFile, found};
use protolog_reader::ByteSource;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// See the module.
#[derive(Debug)]
pub(super) struct ReopenedFile {
    path: Mutex<PathBuf>,
    id: (u64, u64),
    size: u64,
    head: Vec<u8>,
}

/// The size of the first bytes by which a file is known.
const HEAD: usize = 1 << 10;

impl ReopenedFile {
    pub(super) fn new(path: &Path) -> io::Result<Self> {
        let file = found::open_regular(path)?;
        let (id, size) = (file.id()?, OpenFile::size(&file)?);
        let head = OpenFile::read_at(&file, 0, HEAD.min(size as usize))?;
        Ok(Self { path: Mutex::new(path.to_owned()), id, size, head })
    }

    fn open(&self) -> io::Result<File> {
        let mut path = self.path.lock().map_err(|_| io::Error::other("a reader has panicked"))?;
        let open = |path: &Path| {
            let file = protolog_files::open_regular_file(path).ok()?;
            let is_it = file.id().ok()? == self.id
                && OpenFile::read_at(&file, 0, self.head.len()).ok()? == self.head;
            is_it.then_some(file)
        };
        if let Some(file) = open(&path) {
            return Ok(file);
        }
        let directory = path.parent().filter(|parent| *parent != Path::new(""));
        for entry in fs::read_dir(directory.unwrap_or(Path::new(".")))?.flatten() {
            if may_be(&entry, self.id.1)
                && let Some(file) = open(&entry.path())
            {
                *path = entry.path();
                return Ok(file);
            }
        }
        Err(io::Error::new(io::ErrorKind::NotFound, "it was removed or replaced meanwhile"))
    }
}

/// Returns whether an entry may be the file of this number, which Windows does not say.
#[cfg(unix)]
fn may_be(entry: &fs::DirEntry, number: u64) -> bool {
    std::os::unix::fs::DirEntryExt::ino(entry) == number
}

#[cfg(not(unix))]
fn may_be(_: &fs::DirEntry, _: u64) -> bool {
    true
}

impl ByteSource for ReopenedFile {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let len = self.size.saturating_sub(offset).min(len as u64) as usize;
        if len == 0 {
            return Ok(Vec::new());
        }
        let bytes = OpenFile::read_at(&self.open()?, offset, len)?;
        if bytes.len() < len { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_found_again_and_no_other_is_taken_for_it() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("a.part"), "some bytes").unwrap();
        let source = ReopenedFile::new(&at("a.part")).unwrap();
        let text = |offset, len| source.read_at(offset, len).ok();
        assert_eq!((source.size(), text(5, 99)), (10, Some(b"bytes".to_vec())));
        fs::rename(at("a.part"), at("a")).unwrap();
        fs::write(at("a.part"), "other ones").unwrap();
        assert_eq!(text(0, 4), Some(b"some".to_vec()));
        fs::OpenOptions::new().write(true).open(at("a")).unwrap().set_len(3).unwrap();
        assert_eq!(text(0, 10), None, "fewer bytes than there were");
        fs::write(at("a"), "some bytes").unwrap();
        assert_eq!(text(5, 99), Some(b"bytes".to_vec()));
        fs::write(at("a"), "none of it, with the number that the file had").unwrap();
        assert_eq!(text(5, 99), None);
        fs::rename(at("a.part"), at("a")).unwrap();
        assert_eq!((text(0, 4), text(10, 4)), (None, Some(Vec::new())));
    }
}
