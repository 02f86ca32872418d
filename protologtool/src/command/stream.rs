//! Traces that come through a pipe or standard input, and are read to their end.
//!
//! Whoever named the wrong thing may have named one without an end (`/dev/zero`), which would fill the memory or the disk.
//!
//! Invariant: of what is no trace, only as much is read as it takes to see that.

use crate::system::System;
use protolog_reader::Recording;
use std::io::{self, Read, Write};
use std::path::Path;

/// The bytes that decide.
const HEAD: u64 = 64 << 10;

/// The most zeros before the first packet, as where somebody has emptied a file that is written.
const MOST_ZEROS: u64 = 64 << 20;

/// The bytes at `path`, `-` for standard input.
pub(super) fn read(path: &Path, system: &dyn System) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut input = if path == Path::new("-") { system.input()? } else { system.open(path)? };
    copy(&mut input, &mut bytes)?;
    Ok(bytes)
}

/// Copies a trace; of what is none, its beginning.
pub(super) fn copy(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let (mut part, mut copied) = (Vec::new(), 0);
    loop {
        part.clear();
        from.take(HEAD).read_to_end(&mut part)?;
        to.write_all(&part)?;
        let is_begin = copied == 0;
        copied += part.len() as u64;
        if part.is_empty() || is_begin && !may_begin(&part) || copied > MOST_ZEROS {
            return Ok(());
        }
        if part.iter().any(|byte| *byte != 0) {
            return io::copy(from, to).map(drop);
        }
    }
}

/// Returns whether a trace may begin with these bytes, plain or compressed, or a recording.
fn may_begin(bytes: &[u8]) -> bool {
    let compressed: [&[u8]; 2] = [&[0x1f, 0x8b], &[0x28, 0xb5, 0x2f, 0xfd]];
    matches!(bytes.first(), Some(0 | 0x0a))
        || compressed.iter().any(|magic| bytes.starts_with(magic))
        || Recording::matches(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of bytes that are copied of these, of which the last one goes on without an end, or for a while.
    fn copied(begin: &[u8], last: u8, count: u64) -> u64 {
        let mut out = Vec::new();
        copy(&mut begin.chain(io::repeat(last).take(count)), &mut out).expect("it can be read");
        out.len() as u64
    }

    #[test]
    fn only_traces_are_read_to_their_end() {
        let long = 3 * MOST_ZEROS;
        for begin in [&b"text"[..], b"\x7fELF", b"{", b"\0\0\0x"] {
            let is_hole = begin[0] == 0;
            assert_eq!(copied(begin, b'x', long) > HEAD, is_hole, "{begin:?}");
        }
        assert_eq!(copied(b"", 0, u64::MAX), MOST_ZEROS + HEAD);
        for begin in [&b"\x0a"[..], b"\x1f\x8b", b"\x28\xb5\x2f\xfd"] {
            assert_eq!(copied(begin, b'x', long), long + begin.len() as u64, "{begin:?}");
        }
        assert_eq!(copied(b"\0\0\x0a", b'x', 9), 12);
        assert_eq!(copied(&vec![0; 1 << 20], b'x', long), long + (1 << 20), "a trace after a hole");
        assert_eq!(copied(b"", 0, 0), 0);
    }
}
