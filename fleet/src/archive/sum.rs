//! The checksum of a file that an export writes, which its record has: a CRC-32, as gzip has it.
//!
//! It finds what a bad disk changes, and no change that somebody makes on purpose.

use std::fs::File;
use std::io::{self, Read, Write};

use flate2::Crc;

/// A file whose bytes are summed up as they are written.
pub(super) struct SummedFile {
    file: File,
    sum: Crc,
}

impl SummedFile {
    /// Of a file without content.
    pub(super) fn new(file: File) -> Self {
        Self { file, sum: Crc::new() }
    }

    /// The checksum of all that was written.
    pub(super) fn sum(&self) -> u32 {
        self.sum.sum()
    }
}

impl Write for SummedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The checksum of a file from here to its end.
pub(super) fn sum_of(mut file: &File) -> io::Result<u32> {
    let (mut sum, mut bytes) = (Crc::new(), vec![0; 64 << 10]);
    loop {
        let read = file.read(&mut bytes)?;
        if read == 0 {
            return Ok(sum.sum());
        }
        sum.update(&bytes[..read]);
    }
}
