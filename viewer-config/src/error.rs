//! Why a dictionary could not be read.

use crate::{Problem, Problems};
use protozero::DecodeError;
use std::fmt;

/// Why a dictionary could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadError {
    /// Bytes that are not protobuf, or not of this message.
    Pb(DecodeError),
    /// A message without an id, in bytes that are otherwise protobuf; they are hardly a dictionary.
    NoId {
        /// Where the message starts, in bytes.
        offset: u64,
    },
    /// A text that is not JSON, or not of this form.
    Json {
        /// The problem.
        message: String,
        /// Where, from 1; 0 where it is the text as a whole.
        line: usize,
        /// Where in the line, in bytes from 1; 0 where it is the line as a whole.
        column: usize,
    },
    /// Bytes that are not gzip, or too many of them.
    Gzip(String),
    /// A dictionary that contradicts itself.
    Refused(Problems),
}

impl ReadError {
    /// The advice; begins with a verb.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Pb(_) | Self::NoId { .. } | Self::Gzip(_) => {
                "create the file again; the content must be that of a `.pb`, `.json` or `.json.gz` dictionary"
            }
            Self::Json { .. } => {
                "correct the line, or make the file again; the form is the one with `\"version\": \"2.0.0\"`"
            }
            Self::Refused(problems) => problems.as_slice().first().map_or("", Problem::help),
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pb(error) => write!(f, "not a dictionary in protobuf: {error}"),
            Self::NoId { offset } => {
                write!(
                    f,
                    "not a dictionary in protobuf: a message without an id at offset {offset}"
                )
            }
            Self::Json { message, line: 0, .. } => write!(f, "not a dictionary in JSON: {message}"),
            Self::Json { message, line, column } => {
                write!(f, "not a dictionary in JSON: {message} at line {line} column {column}")
            }
            Self::Gzip(message) => write!(f, "not a dictionary in gzip: {message}"),
            Self::Refused(problems) => problems.fmt(f),
        }
    }
}

impl std::error::Error for ReadError {}

impl From<DecodeError> for ReadError {
    fn from(error: DecodeError) -> Self {
        Self::Pb(error)
    }
}

impl From<Problems> for ReadError {
    fn from(problems: Problems) -> Self {
        Self::Refused(problems)
    }
}
