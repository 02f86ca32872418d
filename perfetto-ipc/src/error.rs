//! Errors of a connection with a service.

use crate::frame::FrameError;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a request to the service failed.
#[derive(Debug)]
pub enum Error {
    /// Nobody listens on the socket.
    Connect {
        /// The socket.
        socket: PathBuf,
        /// The system's reason.
        error: io::Error,
    },
    /// Another user's service listens at a place where every user may make a socket.
    OtherUser {
        /// The socket.
        socket: PathBuf,
        /// The user.
        user: u32,
        /// The variable of the environment by which the socket could be named.
        variable: &'static str,
    },
    /// The connection broke.
    Connection(io::Error),
    /// The service closed the connection.
    Closed,
    /// The bytes received are no frame.
    Frame(FrameError),
    /// A packet of a trace has no end.
    PacketTooLong {
        /// The bytes that it may have.
        most: usize,
    },
    /// The service has no method of this name, or no such service.
    Missing(String),
    /// The service refused a request, with its reason.
    Refused(String),
    /// The service did not clone a session, with its reason.
    NotCloned(String),
    /// A configuration that the service would take for another one, or for none.
    Config(&'static str),
    /// No answer came in time.
    Timeout,
    /// The trace could not be passed on.
    Output(io::Error),
}

impl Error {
    /// Returns what to do about it: a verb and its object.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Connect { error, .. } if error.kind() == io::ErrorKind::PermissionDenied => {
                "run it as a user who may write to the socket, or let yours write to it"
            }
            Self::Connect { .. } => {
                "start `traced`, or name its socket in PERFETTO_CONSUMER_SOCK_NAME"
            }
            Self::OtherUser { .. } => "name the socket in PERFETTO_CONSUMER_SOCK_NAME to trust it",
            Self::Missing(_) | Self::Frame(_) => "use a service of Perfetto 20 or later",
            Self::Refused(_) => "change what the service names, and try again",
            Self::NotCloned(_) => "name a session that runs, by its `unique_session_name`",
            Self::Config(_) => "write a TraceConfig with a buffer and data sources",
            Self::Output(_) => "make room for the trace",
            Self::Connection(_) | Self::Closed | Self::Timeout | Self::PacketTooLong { .. } => {
                "look at the output of `traced`, and try again"
            }
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect { socket, error } => {
                write!(f, "can't connect to the tracing service at `{}`: {error}", socket.display())
            }
            Self::OtherUser { socket, user, variable } => {
                let socket = socket.display();
                write!(f, "the service at `{socket}` is of user {user}, and {variable} is not set")
            }
            Self::Connection(error) => write!(f, "the connection to the service broke: {error}"),
            Self::Closed => f.write_str("the service closed the connection"),
            Self::Frame(error) => write!(f, "the service sent {error}"),
            Self::PacketTooLong { most } => {
                write!(f, "the service sent a packet of more than {most} bytes")
            }
            Self::Missing(name) => write!(f, "the service has no `{name}`"),
            Self::NotCloned(reason) => write!(f, "the service cloned no session: {reason}"),
            Self::Config(reason) => write!(f, "the configuration {reason}"),
            Self::Refused(reason) => write!(f, "the service refused: {reason}"),
            Self::Output(error) => write!(f, "can't write the trace: {error}"),
            Self::Timeout => f.write_str("the service did not answer in time"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Connect { error, .. } | Self::Connection(error) | Self::Output(error) => {
                Some(error)
            }
            Self::Frame(error) => Some(error),
            _ => None,
        }
    }
}

impl From<FrameError> for Error {
    fn from(error: FrameError) -> Self {
        Self::Frame(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_without_access_is_not_one_without_a_service() {
        let help = |kind: io::ErrorKind| {
            Error::Connect { socket: "/run/socket".into(), error: kind.into() }.help()
        };
        assert!(help(io::ErrorKind::PermissionDenied).starts_with("run it as a user who may"));
        for kind in [io::ErrorKind::NotFound, io::ErrorKind::ConnectionRefused] {
            assert!(help(kind).starts_with("start `traced`"), "{kind}");
        }
    }
}
