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
//! Wording: lower case, no full stop, what the user wrote in backticks; the help starts with a
//! verb.

mod code;
mod json;
mod render;
mod reporter;
mod reporting;
mod sarif;

pub use code::Code;
pub use render::{Style, render, summary};
pub(crate) use reporter::{Gathered, Reporter};
pub(crate) use reporting::{MessageFormat, Reporting};
pub(crate) use sarif::uri;

use crate::source::{Position, Source};
use std::fmt;
use std::ops::Range;

/// Diagnostics of one source.
#[derive(Debug)]
pub struct Report {
    /// The source.
    pub source: Source,
    /// The diagnostics, in source order.
    pub diagnostics: Vec<Diagnostic>,
}

impl Report {
    /// Number of errors.
    pub fn errors(&self) -> usize {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count()
    }
}

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
    /// Changes of the source, each of which follows the advice.
    pub fixes: Vec<Fix>,
}

/// The limit on the characters of a new text in the title of its change.
const MAX_TITLE: usize = 60;

/// A change of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The change in words, beginning with a verb.
    pub title: String,
    /// The bytes that are replaced.
    pub range: Range<usize>,
    /// The new text.
    pub text: String,
    /// True if it is right in every case; else somebody has to choose it.
    pub is_certain: bool,
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
        Self { severity, code, range, message, help: None, fixes: Vec::new() }
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

    /// With a change that follows the advice and is right in every case.
    #[must_use]
    pub fn fix(self, range: Range<usize>, text: impl Into<String>) -> Self {
        self.change(range, text.into(), true)
    }

    /// With a change that follows the advice, for people to choose.
    #[must_use]
    pub fn suggest(self, range: Range<usize>, text: impl Into<String>) -> Self {
        self.change(range, text.into(), false)
    }

    fn change(mut self, range: Range<usize>, text: String, is_certain: bool) -> Self {
        let title = title(&range, &text);
        self.fixes.push(Fix { title, range, text, is_certain });
        self
    }
}

/// The title of a change, which shows the new text on one line.
fn title(range: &Range<usize>, text: &str) -> String {
    let verb = if range.is_empty() { "add" } else { "write" };
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = line.char_indices().nth(MAX_TITLE) {
        line.truncate(end);
        line.push('…');
    }
    if text.is_empty() { "remove this".to_owned() } else { format!("{verb} `{line}`") }
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

/// A part of a source, as tools read it.
struct Region {
    bytes: Range<usize>,
    start: Position,
    end: Position,
}

impl Region {
    fn of(range: &Range<usize>, source: &Source) -> Self {
        let length = source.bytes().len();
        let start = range.start.min(length);
        let end = range.end.clamp(start, length);
        Self { bytes: start..end, start: source.position(start), end: source.position(end) }
    }
}
