//! The errors of requests to a target process.

use std::path::PathBuf;
use std::{fmt, io};

/// A request failed, or the process refused it.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A directory of sockets can't be read.
    Directory {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// Nobody listens on the socket: its process has ended.
    Ended,
    /// A process of another user listens on the socket, who is neither this one, nor root, nor the
    /// owner of its directory.
    OtherUser {
        /// The user's id.
        user: u32,
    },
    /// The entry of this name is none that a program made as its socket, for this reason.
    Socket(&'static str),
    /// The process can't be reached, or does not reply in time.
    Connection(io::Error),
    /// The reply is invalid.
    Protocol {
        /// The line that was received.
        line: String,
    },
    /// The replies that share a limit are longer than that together.
    TooMuch,
    /// The process refused the request.
    Refused {
        /// Its error message.
        message: String,
        /// Its help line.
        help: String,
    },
    /// The shared memory is unusable, for this reason.
    Memory(&'static str),
}

impl Error {
    /// True if the process did not answer in time.
    pub fn is_late(&self) -> bool {
        use io::ErrorKind::{TimedOut, WouldBlock};
        matches!(self, Self::Connection(error) if matches!(error.kind(), WouldBlock | TimedOut))
    }

    /// The help line, which begins with a verb.
    pub fn help(&self) -> &str {
        match self {
            Self::Directory { .. } => "run as the user of the programs, or as root",
            Self::Ended => "start the program again",
            Self::OtherUser { .. } => "remove the socket, and look who made it",
            Self::Socket(_) => "remove it, and look who made it",
            Self::Connection(_) => "check whether the program is stopped or too busy",
            Self::Protocol { .. } | Self::Memory(_) => {
                "use a protologtool of the version that the program was built with"
            }
            Self::TooMuch => "end those that are not needed, or leave other users out with `--own`",
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
            Self::Ended => f.write_str("the program has ended"),
            Self::OtherUser { user } => write!(f, "user {user} listens there"),
            Self::Socket(reason) => f.write_str(reason),
            Self::Connection(_) if self.is_late() => f.write_str("the program does not answer"),
            Self::Connection(error) => match error.kind() {
                io::ErrorKind::NotConnected => {
                    f.write_str("the program is not asked again, since an answer failed")
                }
                io::ErrorKind::ConnectionAborted => {
                    f.write_str("the program closed the connection")
                }
                _ => write!(f, "can't reach the program: {error}"),
            },
            Self::Protocol { line } => write!(f, "unexpected reply `{line}`"),
            Self::TooMuch => f.write_str("the programs of its user answer too much together"),
            Self::Refused { message, .. } => f.write_str(message),
            Self::Memory(reason) => write!(f, "unusable shared memory: {reason}"),
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
            io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound => Self::Ended,
            _ => Self::Connection(error),
        }
    }
}
