//! Bytes on their way from one step to the next, in memory or, if they are many, in a file without
//! a name.
//!
//! Writers may write a few bytes at a time: they are collected before the system is called.
//!
//! Invariant: nobody else can open the file, and it is gone when the value is.

use super::os;
use protolog_reader::{ByteSource, FileBytes};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use tempfile::{SpooledData, SpooledTempFile};

/// The bytes that stay in memory.
const MOST_IN_MEMORY: usize = 4 << 20;

/// See the module. The file is in the directory that `TMPDIR` names, or `/tmp`.
#[derive(Debug)]
pub(crate) struct Spool(BufWriter<SpooledTempFile>);

/// The bytes that are written at once.
const BLOCK: usize = 256 << 10;

/// Returns a new file without a name, in the same directory.
pub(crate) fn unnamed_file() -> io::Result<File> {
    tempfile::tempfile()
}

impl Spool {
    pub(crate) fn new() -> Self {
        Self::with_memory(MOST_IN_MEMORY)
    }

    fn with_memory(most: usize) -> Self {
        Self(BufWriter::with_capacity(BLOCK, SpooledTempFile::new(most)))
    }

    /// The bytes that are free where the file is.
    pub(crate) fn room() -> u64 {
        os::room_for_temporary_files()
    }

    /// The bytes that were written, for a caller that reads parts of them.
    pub(crate) fn into_source(self) -> io::Result<Box<dyn ByteSource>> {
        let spooled = self.0.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(match spooled.into_inner() {
            SpooledData::InMemory(bytes) => Box::new(bytes.into_inner()),
            SpooledData::OnDisk(file) => Box::new(FileBytes::new(file)?),
        })
    }

    /// All that was written.
    pub(crate) fn into_bytes(self) -> io::Result<Vec<u8>> {
        let source = self.into_source()?;
        source.read_at(0, usize::try_from(source.size()).unwrap_or(usize::MAX))
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_from_memory_and_from_a_file() {
        for most in [2, 1000] {
            let filled = || {
                let mut spool = Spool::with_memory(most);
                spool.write_all(b"some ").unwrap();
                spool.write_all(b"bytes").unwrap();
                spool.flush().unwrap();
                assert_eq!(spool.0.get_ref().is_rolled(), most == 2);
                spool
            };
            assert_eq!(filled().into_bytes().unwrap(), b"some bytes");
            let source = filled().into_source().unwrap();
            assert_eq!((source.size(), source.read_at(5, 9).unwrap()), (10, b"bytes".to_vec()));
        }
    }

    #[test]
    fn many_small_writes_are_few_calls_of_the_system() {
        let calls = || {
            let counters = std::fs::read_to_string("/proc/thread-self/io").unwrap();
            let line = counters.lines().find_map(|line| line.strip_prefix("syscw: "));
            line.and_then(|count| count.parse::<u64>().ok()).expect("a number of writes")
        };
        let mut spool = Spool::with_memory(0);
        let before = calls();
        for number in 0..100_000_u32 {
            spool.write_all(&number.to_le_bytes()).unwrap();
        }
        assert_eq!(spool.into_bytes().unwrap().len(), 400_000);
        assert!(calls() - before < 10);
    }
}
