//! The failure that stops a run: a message, and what to do about it.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;

use protolog_reader::printable;

/// Says something on standard error. A run goes on without a reader of that: what it does is worth
/// more.
pub(crate) fn say(message: &dyn fmt::Display) {
    let _ = writeln!(io::stderr(), "{message}");
}

/// Prints a text on standard output. Somebody who has read enough of it is no failure.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = io::stdout();
    printed(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// The outcome of writing to standard output.
pub(crate) fn printed(written: io::Result<()>) -> Result<()> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("can't write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Something that stops a run.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    help: Option<String>,
}

/// A result of a step of a run.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// With this message: lower case, no full stop, the offending text in backticks.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None }
    }

    /// A file or directory that can't be read.
    pub(crate) fn cant_read(path: &Path, error: &dyn fmt::Display) -> Self {
        Self::new(format!("can't read `{}`: {error}", path.display()))
    }

    /// A file or directory that can't be written.
    pub(crate) fn cant_write(path: &Path, error: &io::Error) -> Self {
        Self::new(format!("can't write `{}`: {error}", path.display()))
    }

    /// Its lines where the run goes on without what it is about.
    pub(crate) fn as_warning(&self) -> String {
        self.to_string().replacen("error", "warning", 1)
    }

    /// With what to do about it; begins with a verb.
    #[must_use]
    pub(crate) fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Names in it may come from a trace.
        write!(f, "error: {}", printable(&self.message))?;
        match &self.help {
            Some(help) => write!(f, "\nhelp: {}", printable(help)),
            None => Ok(()),
        }
    }
}
