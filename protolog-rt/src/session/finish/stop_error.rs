//! The error of a session's end, with what the session has counted.

use crate::error::Error;
use crate::stats::Summary;
use std::fmt;

/// The error of [`Session::try_stop`](crate::Session::try_stop). Its `Debug` form is the message
/// with its help line.
pub struct StopError(Box<(Error, Summary)>);

impl StopError {
    pub(in crate::session) fn new(error: Error, summary: Summary) -> Self {
        Self(Box::new((error, summary)))
    }

    /// Returns the reason.
    pub fn error(&self) -> &Error {
        &self.0.0
    }

    /// Returns what the session has counted: the messages that its file has, or of a session that
    /// keeps them those in the buffer, and the losses.
    pub fn summary(&self) -> &Summary {
        &self.0.1
    }
}

impl From<Error> for StopError {
    fn from(error: Error) -> Self {
        Self::new(error, Summary::default())
    }
}

impl From<StopError> for Error {
    fn from(error: StopError) -> Self {
        error.0.0
    }
}

impl fmt::Display for StopError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.error(), f)
    }
}

impl fmt::Debug for StopError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.error(), f)
    }
}

impl std::error::Error for StopError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error().source()
    }
}
