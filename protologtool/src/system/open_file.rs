//! A file that stays open, even when it is renamed or removed.

use protolog_files::{Status, read_with_holes};
use std::fs::File;
use std::io;

/// A regular file by its descriptor. It may grow.
pub trait OpenFile {
    /// A number that no other file has while this one is open: its device and its number there.
    fn id(&self) -> io::Result<(u64, u64)>;

    /// Its size, in bytes.
    fn size(&self) -> io::Result<u64>;

    /// The bytes from an offset on, `most` of them, or as many as there are.
    fn read_at(&self, offset: u64, most: usize) -> io::Result<Vec<u8>>;
}

impl OpenFile for File {
    fn id(&self) -> io::Result<(u64, u64)> {
        let found = Status::of(self)?;
        Ok((found.dev(), found.ino()))
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&self, offset: u64, most: usize) -> io::Result<Vec<u8>> {
        read_with_holes(self, offset, most as u64)
    }
}

/// A file in memory, which does not grow.
impl OpenFile for Vec<u8> {
    fn id(&self) -> io::Result<(u64, u64)> {
        Ok((0, 0))
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }

    fn read_at(&self, offset: u64, most: usize) -> io::Result<Vec<u8>> {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.get(offset..));
        let rest = rest.unwrap_or_default();
        Ok(rest.get(..most).unwrap_or(rest).to_vec())
    }
}
