//! The bytes of a trace, wherever they are, for a reader that does not want all of them in memory.

use std::fmt::Debug;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, MutexGuard};

/// Bytes that can be read at any offset.
pub trait ByteSource: Debug + Send + Sync {
    /// Their number, which stays the same.
    fn size(&self) -> u64;

    /// The `len` bytes from `offset` on, or those that there are.
    ///
    /// # Errors
    ///
    /// If they can't be read, or if there are fewer than [`size`](Self::size) says.
    fn read_at(&self, offset: u64, len: usize) -> io::Result<Vec<u8>>;

    /// Where each of several traces begins that are to be read as one; nothing for one trace.
    fn inputs(&self) -> &[u64] {
        &[]
    }
}

/// The bytes of a source, from the first one on.
#[derive(Debug)]
pub struct SourceReader<'a> {
    source: &'a dyn ByteSource,
    at: u64,
}

impl<'a> SourceReader<'a> {
    /// At the first byte.
    pub fn new(source: &'a dyn ByteSource) -> Self {
        Self { source, at: 0 }
    }
}

impl Read for SourceReader<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let bytes = self.source.read_at(self.at, to.len())?;
        to[..bytes.len()].copy_from_slice(&bytes);
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }
}

/// A file of the size that it had when it was opened; later additions are left out.
#[derive(Debug)]
pub struct FileBytes {
    file: Mutex<File>,
    size: u64,
}

impl FileBytes {
    /// The bytes of a regular file.
    pub fn new(file: File) -> io::Result<Self> {
        let size = file.metadata()?.len();
        Ok(Self { file: Mutex::new(file), size })
    }

    /// The file itself.
    pub fn file(&self) -> io::Result<MutexGuard<'_, File>> {
        self.file.lock().map_err(|_| io::Error::other("a reader of it has panicked"))
    }
}

impl ByteSource for FileBytes {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let len = self.size.saturating_sub(offset).min(len as u64) as usize;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(len)?;
        let mut file = self.file()?;
        file.seek(SeekFrom::Start(offset))?;
        // Without zeros before, which would be a pass over the memory of each part.
        if file.by_ref().take(len as u64).read_to_end(&mut bytes)? < len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(bytes)
    }
}

impl ByteSource for Box<dyn ByteSource> {
    fn size(&self) -> u64 {
        (**self).size()
    }

    fn inputs(&self) -> &[u64] {
        (**self).inputs()
    }

    fn read_at(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        (**self).read_at(offset, len)
    }
}

impl ByteSource for Arc<dyn ByteSource> {
    fn size(&self) -> u64 {
        (**self).size()
    }

    fn inputs(&self) -> &[u64] {
        (**self).inputs()
    }

    fn read_at(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        (**self).read_at(offset, len)
    }
}

impl ByteSource for Vec<u8> {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(self.len());
        let end = start.saturating_add(len).min(self.len());
        Ok(self[start..end].to_vec())
    }
}
