//! Signals that end the process, of which there are none.

use std::io;

/// The effect that a signal has besides ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code)] // As on Unix.
pub(crate) enum Effect {
    /// The process dies.
    Dies,
    /// A handler of the program runs.
    Handled,
}

/// Installs handlers, which can't be done.
pub(crate) fn handle(_: fn(Effect)) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
