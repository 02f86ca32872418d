//! Errors for traces that can't be read at all. Partial reads are no errors, see
//! [`Stats`](crate::Stats).

use crate::bytes::looks::Looks;
use std::{fmt, io};

/// The error if nothing of a trace can be read.
#[derive(Debug)]
pub struct ReadError {
    kind: ReadErrorKind,
}

/// The kinds of [`ReadError`].
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The file can't be read.
    Io(io::Error),
    /// The bytes are not a trace, nor the start of one, but look like something else.
    NotATrace(Looks),
    /// The trace, or its log, does not fit the memory.
    OutOfMemory,
    /// The whole trace is compressed, so that it can't be read while it is being written.
    Compressed,
    /// A trace that is being written is damaged from this offset on, in bytes of the part read
    /// last.
    Damaged(u64),
}

impl ReadError {
    /// The kind of the error.
    pub fn kind(&self) -> &ReadErrorKind {
        &self.kind
    }

    /// The help line, which starts with a verb.
    pub fn help(&self) -> &'static str {
        match &self.kind {
            ReadErrorKind::Io(_) => "check the path and its permissions",
            ReadErrorKind::NotATrace(looks) => looks.help(),
            ReadErrorKind::OutOfMemory => {
                "read it where there is more memory, or raise the limit (`ulimit -v`)"
            }
            ReadErrorKind::Compressed => "read it when it is complete",
            ReadErrorKind::Damaged(_) => "read it as far as it goes, without following it",
        }
    }
}

impl From<ReadErrorKind> for ReadError {
    fn from(kind: ReadErrorKind) -> Self {
        Self { kind }
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        ReadErrorKind::Io(error).into()
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ReadErrorKind::Io(error) => write!(f, "{error}"),
            ReadErrorKind::NotATrace(looks) => match looks.name() {
                Some(name) => write!(f, "not a trace, but {name}"),
                None => f.write_str("not a trace"),
            },
            ReadErrorKind::OutOfMemory => f.write_str("too large for the memory of this process"),
            ReadErrorKind::Compressed => {
                f.write_str("compressed as a whole, so it can't be followed")
            }
            ReadErrorKind::Damaged(_) => {
                f.write_str("damaged, so it can't be followed any further")
            }
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            ReadErrorKind::Io(error) => Some(error),
            _ => None,
        }
    }
}
