//! A file of which parts are read.
//!
//! Invariant: a hole, which takes no space, takes no memory either, however large the part is: a
//! packet may say that it has gigabytes.

use super::whole::LARGE;
use protolog_files::read_with_holes;
use protolog_reader::{ByteSource, FileBytes};
use std::fs::File;
use std::io;

/// See the module.
#[derive(Debug)]
pub(super) struct FileSource(FileBytes);

impl FileSource {
    pub(super) fn new(file: File) -> io::Result<Self> {
        FileBytes::new(file).map(Self)
    }
}

impl ByteSource for FileSource {
    fn size(&self) -> u64 {
        self.0.size()
    }

    fn read_at(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let len = self.size().saturating_sub(offset).min(len as u64);
        if len <= LARGE {
            return self.0.read_at(offset, len as usize);
        }
        let bytes = read_with_holes(&*self.0.file()?, offset, len)?;
        if (bytes.len() as u64) < len {
            Err(io::ErrorKind::UnexpectedEof.into())
        } else {
            Ok(bytes)
        }
    }
}
