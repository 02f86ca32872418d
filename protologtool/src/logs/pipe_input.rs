//! Traces that come through a pipe or standard input, and are read to their end.
//!
//! A user who names the wrong file may name one without an end (`/dev/zero`), which would fill the
//! memory or the disk; and the writer of bytes that begin as a trace need not end it.
//!
//! Invariants
//! - Of an input that is no trace, only as much is read as it takes to see that.
//! - Bytes kept in memory have a limit ([`MOST_IN_MEMORY`]), and bytes kept on the disk one that
//!   leaves others as much room ([`spool`]).

use crate::system::{Spool, System};
use protolog_reader::{Recording, is_winscope_log};
use std::io::{self, Read, Write};
use std::path::Path;

/// The bytes that decide.
const HEAD: u64 = 64 << 10;

/// The most zeros before the first packet, as where somebody has emptied a file that is written.
const MOST_ZEROS: u64 = 64 << 20;

/// The most bytes that are kept in memory.
pub(crate) const MOST_IN_MEMORY: u64 = 4 << 30;

/// The bytes at `path`, `-` for standard input.
pub(crate) fn read(path: &Path, system: &dyn System) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    copy(&mut open(path, system)?, &mut bytes, MOST_IN_MEMORY)?;
    Ok(bytes)
}

/// The same, for a caller that reads parts of them: many bytes are in a file without a name.
pub(crate) fn spool(path: &Path, system: &dyn System) -> io::Result<Spool> {
    let mut spool = Spool::new();
    let most = MOST_IN_MEMORY.max(Spool::room() / 2);
    copy(&mut open(path, system)?, &mut spool, most)?;
    Ok(spool)
}

fn open(path: &Path, system: &dyn System) -> io::Result<Box<dyn Read>> {
    if path == Path::new("-") { system.input() } else { system.open(path) }
}

/// Reads `from` to its end, with an error if there are more bytes than these.
pub(crate) fn read_up_to(most: u64, from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    io::copy(&mut from.take(most), to)?;
    if from.read(&mut [0])? > 0 {
        let text =
            "more comes through it than there is room for; write it to a file, and name that";
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    Ok(())
}

/// Copies a trace of up to so many bytes; of any other input, its beginning.
fn copy(from: &mut impl Read, to: &mut impl Write, most: u64) -> io::Result<()> {
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
            return read_up_to(most.saturating_sub(copied), from, to);
        }
    }
}

/// Returns whether a trace may begin with these bytes, plain or compressed, or a recording, or a
/// log of Android before it had Perfetto.
fn may_begin(bytes: &[u8]) -> bool {
    let compressed: [&[u8]; 2] = [&[0x1f, 0x8b], &[0x28, 0xb5, 0x2f, 0xfd]];
    matches!(bytes.first(), Some(0 | 0x0a))
        || compressed.iter().any(|magic| bytes.starts_with(magic))
        || Recording::matches(bytes)
        || is_winscope_log(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of bytes that are copied of these, of which the last one goes on without an end,
    /// or for a while.
    fn copied(begin: &[u8], last: u8, count: u64) -> u64 {
        let mut out = Vec::new();
        let mut from = begin.chain(io::repeat(last).take(count));
        copy(&mut from, &mut out, u64::MAX).expect("it can be read");
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
        for begin in [&b"\x0a"[..], b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x09PROTOLOG"] {
            assert_eq!(copied(begin, b'x', long), long + begin.len() as u64, "{begin:?}");
        }
        assert_eq!(copied(b"\0\0\x0a", b'x', 9), 12);
        assert_eq!(copied(&vec![0; 1 << 20], b'x', long), long + (1 << 20), "a trace after a hole");
        assert_eq!(copied(b"", 0, 0), 0);
    }

    #[test]
    fn a_trace_that_never_ends_has_a_limit() {
        let most = 3 * HEAD;
        let copied = |count| {
            let mut from = b"\x0a".chain(io::repeat(b'x').take(count));
            copy(&mut from, &mut io::sink(), most)
        };
        assert!(copied(most - 1).is_ok());
        for count in [most, u64::MAX] {
            let error = copied(count).expect_err("it is too long");
            assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        }
    }
}
