//! Systems on which no operator is listened to.

use super::{ServeError, WatchedSettings};
use std::io;
use std::path::PathBuf;

/// A socket, of which there is none.
#[derive(Debug)]
pub(super) struct Socket {
    pub(super) path: PathBuf,
    pub(super) displaced: Option<ServeError>,
}

impl Socket {
    pub(super) fn new(_: Option<PathBuf>) -> Result<Self, ServeError> {
        Err(ServeError::Unsupported)
    }
}

/// The thread that serves, of which there is none.
#[derive(Debug)]
pub(super) enum ServerThread {}

impl ServerThread {
    pub(super) fn start(_: Socket, _: WatchedSettings) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn stop(self) {
        match self {}
    }
}
