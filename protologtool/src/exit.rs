//! The end of a run: its exit code, and the failure that stops it.

use protolog_reader::printable;
use std::borrow::Cow;
use std::fmt;
use std::process::ExitCode;

/// The exit code of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All is done.
    Done = 0,
    /// There are problems in the sources, and nothing was written; or two runs differ.
    Problems = 1,
    /// The command line is wrong, or a file can't be read or written.
    Failed = 2,
    /// The data is incomplete, and so is the result.
    Incomplete = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Something that stops a run and is no problem in a source: what, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    message: String,
    help: Option<Cow<'static, str>>,
}

impl Failure {
    /// With this message: lower case, no full stop, the offending text in backticks.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None }
    }

    /// With what to do about it; begins with a verb.
    #[must_use]
    pub fn help(self, help: impl Into<Cow<'static, str>>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// The same, with another message.
    #[must_use]
    pub fn with_message(self, message: impl Into<String>) -> Self {
        Self { message: message.into(), ..self }
    }

    /// Its lines where the run goes on without what it is about.
    pub fn as_warning(&self) -> String {
        let text = self.to_string();
        format!("warning: {}\n", text.strip_prefix("error: ").unwrap_or(&text))
    }

    /// The message, without the help.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Names in it may come from a trace.
        write!(f, "error: {}", printable_lines(&self.message))?;
        match &self.help {
            Some(help) => write!(f, "\nhelp: {}", printable_lines(help)),
            None => Ok(()),
        }
    }
}

/// As [`printable`], with line ends as they are.
pub(crate) fn printable_lines(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

impl std::error::Error for Failure {}
