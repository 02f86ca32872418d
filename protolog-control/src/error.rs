//! Why a program could not be asked, or what it says is wrong.

use std::path::PathBuf;
use std::{fmt, io};

/// Why a program could not be asked, or what it says is wrong.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The directory of sockets can't be read.
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// Nobody is behind the socket: its program ended.
    Gone,
    /// The program can't be reached, or does not answer in time.
    Connection(io::Error),
    /// What came is no answer.
    Protocol {
        /// What came.
        line: String,
    },
    /// The program refused.
    Refused {
        /// What it says is wrong.
        what: String,
        /// What it says to do about it.
        help: String,
    },
    /// The memory that came is not as it must be to be used.
    Memory(&'static str),
}

impl Error {
    /// What to do about it; begins with a verb.
    pub fn help(&self) -> &str {
        match self {
            Self::Directory { .. } => "run as the user of the programs, or as root",
            Self::Gone => "start the program again",
            Self::Connection(_) => "look whether the program is stopped or too busy",
            Self::Protocol { .. } | Self::Memory(_) => {
                "use a protologtool of the version that the program was built with"
            }
            Self::Refused { help, .. } => help,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory { path, error } => {
                write!(f, "can't read `{}`: {error}", path.display())
            }
            Self::Gone => f.write_str("the program has ended"),
            Self::Connection(error) => match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                    f.write_str("the program does not answer")
                }
                _ => write!(f, "can't talk to the program: {error}"),
            },
            Self::Protocol { line } => write!(f, "the program answered `{line}`"),
            Self::Refused { what, .. } => f.write_str(what),
            Self::Memory(what) => write!(f, "the program's memory can't be used: {what}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Directory { error, .. } | Self::Connection(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound => Self::Gone,
            _ => Self::Connection(error),
        }
    }
}
