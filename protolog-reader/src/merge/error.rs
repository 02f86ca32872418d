//! Why traces can't be merged.

use std::{fmt, io};

/// Why traces can't be merged. Nothing of the result is of use then.
#[derive(Debug)]
#[non_exhaustive]
pub enum MergeError {
    /// An input can't be read.
    Read {
        /// Its name.
        input: String,
        /// What the system says.
        error: io::Error,
    },
    /// An input is no trace.
    NotATrace {
        /// Its name.
        input: String,
    },
    /// An input is compressed with zstd.
    Zstd {
        /// Its name.
        input: String,
    },
    /// Inputs are of different boots of the machine, or of different machines.
    Boots {
        /// The names of two of them.
        inputs: [String; 2],
    },
    /// One id stands for two messages, or for two groups.
    Clash {
        /// The id, and what it is of.
        what: String,
        /// What it stands for and where, twice.
        meanings: [String; 2],
    },
    /// There are more clock snapshots than can be put into order.
    Snapshots,
    /// The result can't be written.
    Write(io::Error),
}

impl MergeError {
    /// What to do about it: a sentence that starts with a verb.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Read { .. } => "check the path and its permissions",
            Self::NotATrace { .. } => {
                "give Perfetto traces, as they are or compressed with gzip; make one of a recording with `recover`"
            }
            Self::Zstd { .. } => "decompress it with `zstd -d` first",
            Self::Boots { .. } => {
                "merge the traces of each boot; times since one boot say nothing about another one"
            }
            Self::Clash { .. } => {
                "read the traces one by one; each is right with its own dictionary only"
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
            Self::NotATrace { input } => write!(f, "`{input}` is not a trace"),
            Self::Zstd { input } => write!(f, "`{input}` is compressed with zstd"),
            Self::Boots { inputs: [first, second] } => {
                write!(f, "`{first}` and `{second}` are not of the same boot of the same machine")
            }
            Self::Clash { what, meanings: [first, second] } => {
                write!(f, "{what} is {first}, but {second}")
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
