//! Signals that a fault of the process raises, of which there are none.

use std::fs::File;
use std::io;

/// Memory of a recording in which fatal signals leave marks.
#[derive(Debug)]
pub(crate) struct SignalMarks {
    _none: (),
}

impl SignalMarks {
    /// Marks fatal signals in a recording, which can't be done.
    pub(crate) fn new(_: &File) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
