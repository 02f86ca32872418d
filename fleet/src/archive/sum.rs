//! The checksum of a file of an archive: SHA-256, which `sha256sum` and engines compute, too.
//!
//! A record has those of its files. Templates, which exports share, have the beginning of it in
//! their names, so that a view can leave out those that are damaged. It finds what a bad disk
//! changes, and no change that somebody makes on purpose.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Write};

use ring::digest::{Context, SHA256};

/// A file whose bytes are summed up as they are written.
pub(super) struct SummedFile {
    file: File,
    sum: Context,
}

impl SummedFile {
    /// Of a file without content.
    pub(super) fn new(file: File) -> Self {
        Self { file, sum: Context::new(&SHA256) }
    }

    /// The checksum of all that was written.
    pub(super) fn sum(self) -> String {
        shown(self.sum)
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
pub(super) fn sum_of(mut file: &File) -> io::Result<String> {
    let (mut sum, mut bytes) = (Context::new(&SHA256), vec![0; 64 << 10]);
    loop {
        let read = file.read(&mut bytes)?;
        if read == 0 {
            return Ok(shown(sum));
        }
        sum.update(&bytes[..read]);
    }
}

/// In hexadecimal, as `sha256sum` prints it.
fn shown(sum: Context) -> String {
    sum.finish().as_ref().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The digits of a checksum that a name has.
const DIGITS: usize = 8;

/// The name of a file with its checksum: `CONTENT-SUM.parquet`.
pub(super) fn with_sum(name: &str, sum: &str) -> String {
    let stem = name.strip_suffix(".parquet").unwrap_or(name);
    format!("{stem}-{}.parquet", &sum[..DIGITS])
}

/// The beginning of its checksum that the name of a file has; none in names of other forms.
pub(super) fn sum_in(file: &str) -> Option<&str> {
    let (content, sum) = file.strip_suffix(".parquet")?.split_once('-')?;
    let is_hex = |text: &str, digits| text.len() == digits && text.bytes().all(is_digit);
    (is_hex(content, 16) && is_hex(sum, DIGITS)).then_some(sum)
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)
}
