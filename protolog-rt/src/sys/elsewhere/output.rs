//! Standard error: writes that never wait, and writes that may.

use std::io::{self, ErrorKind, Write};

/// The outcome of a write that does not wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code)] // As on Unix.
pub(crate) enum Attempt {
    /// So many bytes were written, at least one.
    Wrote(usize),
    /// Nothing was written: a write would wait, or may wait.
    WouldWait,
    /// Nothing can be written.
    Failed,
}

/// Writes some of `bytes`, of which there is at least one, to standard error, as far as that is
/// possible at once: Windows can't be asked for that. Where there is one thread, nobody else would
/// write it.
pub(crate) fn try_write_to_stderr(bytes: &[u8]) -> Attempt {
    if cfg!(windows) {
        return Attempt::WouldWait;
    }
    match io::stderr().write(bytes) {
        Ok(0) => Attempt::Failed,
        Ok(written) => Attempt::Wrote(written),
        Err(error) if error.kind() == ErrorKind::Interrupted => Attempt::WouldWait,
        Err(_) => Attempt::Failed,
    }
}

/// Writes `bytes` to standard error, however long that takes. False where they could not be
/// written.
pub(crate) fn write_to_stderr(bytes: &[u8]) -> bool {
    io::stderr().write_all(bytes).is_ok()
}
