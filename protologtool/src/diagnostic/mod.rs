//! Problems in sources, as values: what, where, why, and what to do about it.
//!
//! ```text
//! src/com/foo/Bar.java:12:20: error: `com.foo.AppLog` has no group `NETT` [unknown-group]
//!    |
//! 12 |         ProtoLog.d(NETT, "hi");
//!    |                    ^^^^
//!    = help: use `NET`
//! ```
//!
//! Wording: lower case, no full stop, what the user wrote in backticks; the help starts with a verb.

mod code;
mod json;
mod render;
mod reporter;
mod sarif;

pub use code::Code;
pub use render::{Style, render, summary};
pub(crate) use reporter::Reporter;

use crate::source::{Position, Source};
use std::fmt;
use std::ops::Range;

/// One problem in one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// The kind of problem.
    pub code: Code,
    /// Where: a byte range of the source.
    pub range: Range<usize>,
    /// The message.
    pub message: String,
    /// The advice.
    pub help: Option<String>,
    /// A change of the source that follows the advice, where there is one that is right in every case.
    pub fix: Option<Box<Fix>>,
}

/// A change of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The bytes that are replaced.
    pub range: Range<usize>,
    /// The new text.
    pub text: String,
}

/// The severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Note,
    /// Likely a mistake; taken for an error on demand.
    Warning,
    /// Nothing may be written.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

impl Diagnostic {
    /// An error at `range`.
    pub fn error(code: Code, range: Range<usize>, message: impl Into<String>) -> Self {
        let (severity, message) = (Severity::Error, message.into());
        Self { severity, code, range, message, help: None, fix: None }
    }

    /// A warning at `range`.
    pub fn warning(code: Code, range: Range<usize>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, range, message) }
    }

    /// A note at `range`.
    pub fn note(code: Code, range: Range<usize>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Note, ..Self::error(code, range, message) }
    }

    /// With what to do about it.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// With a change that follows the advice.
    #[must_use]
    pub fn fix(self, range: Range<usize>, text: impl Into<String>) -> Self {
        Self { fix: Some(Box::new(Fix { range, text: text.into() })), ..self }
    }
}

/// A problem that has no place in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) severity: Severity,
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} [{}]", self.severity, self.message, self.code.name())?;
        match &self.help {
            Some(help) => write!(f, "\nhelp: {help}"),
            None => Ok(()),
        }
    }
}

/// The part of a source that a diagnostic is about, as tools read it.
struct Region {
    bytes: Range<usize>,
    start: Position,
    end: Position,
}

impl Region {
    fn of(diagnostic: &Diagnostic, source: &Source) -> Self {
        let length = source.bytes().len();
        let start = diagnostic.range.start.min(length);
        let end = diagnostic.range.end.clamp(start, length);
        Self { bytes: start..end, start: source.position(start), end: source.position(end) }
    }
}
