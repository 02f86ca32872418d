//! The errors of a merge.

use crate::bytes::looks::Looks;
use std::{fmt, io};

/// A merge failed; its result is unusable.
#[derive(Debug)]
#[non_exhaustive]
pub enum MergeError {
    /// An input can't be read.
    Read {
        /// Its name.
        input: String,
        /// The system's error.
        error: io::Error,
    },
    /// An input is not a trace.
    NotATrace {
        /// Its name.
        input: String,
        /// The kind of file that it looks like.
        looks: Looks,
    },
    /// Two inputs are of different boots of the machine, or of different machines.
    Boots {
        /// Their names.
        inputs: [String; 2],
    },
    /// One id stands for two messages, or for two groups.
    Clash {
        /// The kind of the id, and the id.
        id: String,
        /// Both meanings, with their locations.
        meanings: [String; 2],
    },
    /// There are too many clock snapshots to sort.
    Snapshots,
    /// The result can't be written.
    Write(io::Error),
}

impl MergeError {
    /// Returns whether the others can be merged without the input that it is about.
    pub(super) fn is_of_one_input(&self) -> bool {
        matches!(self, Self::Read { .. } | Self::NotATrace { .. })
    }

    /// The help line, which starts with a verb.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Read { .. } => "check the path and its permissions",
            Self::NotATrace { looks: Looks::Dictionary, .. } => {
                "leave it out, and read the merged trace with it by `read-log --viewer-config`"
            }
            Self::NotATrace { looks: Looks::Unknown, .. } => {
                "give Perfetto traces, plain or compressed with gzip or zstd; make one from a recording with `recover`"
            }
            Self::NotATrace { looks, .. } => looks.help(),
            Self::Boots { .. } => {
                "merge the traces of each boot separately: without clock snapshots, their times are not comparable"
            }
            Self::Clash { .. } => {
                "read the traces separately; each is valid only with its own dictionary"
            }
            Self::Snapshots => "merge fewer or shorter traces",
            Self::Write(_) => "check that there is space",
        }
    }
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { input, error } => write!(f, "can't read `{input}`: {error}"),
            Self::NotATrace { input, looks } => {
                write!(f, "`{input}` is not a trace")?;
                looks.name().map_or(Ok(()), |name| write!(f, ", but {name}"))
            }
            Self::Boots { inputs: [first, second] } => {
                write!(f, "`{first}` and `{second}` are not of the same boot of the same machine")
            }
            Self::Clash { id, meanings: [first, second] } => {
                write!(f, "{id} is {first}, but {second}")
            }
            Self::Snapshots => f.write_str("too many clock snapshots"),
            Self::Write(error) => write!(f, "can't write the trace: {error}"),
        }
    }
}

impl std::error::Error for MergeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read { error, .. } | Self::Write(error) => Some(error),
            _ => None,
        }
    }
}
