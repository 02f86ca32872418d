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

mod render;

pub use render::{Style, render, summary};

use std::fmt;
use std::ops::Range;

/// One problem in one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What kind of problem it is.
    pub code: Code,
    /// Where: a byte range of the source.
    pub range: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Note,
    /// Nothing may be written.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Error => "error",
        })
    }
}

/// The kinds of problems. Their names are for tools and for searching; they do not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Code {
    /// The group argument is no group that the tool knows.
    UnknownGroup,
    /// More or fewer arguments than the template takes, or no template at all.
    ArgumentCount,
    /// The template is not of the grammar.
    BadTemplate,
    /// The template is not a constant.
    NonConstantTemplate,
    /// One array in the place of the arguments.
    ArrayArguments,
    /// The call stands where no statement can.
    NoStatement,
    /// The name that rewritten code must use means something else where the call stands.
    HiddenName,
    /// The declaration that holds a call can't be parsed.
    Syntax,
    /// Two different messages have one id.
    IdClash,
    /// A group's source can't be evaluated.
    Groups,
    /// A source in a language that is copied unchanged.
    NotRewritten,
}

impl Code {
    /// The name, in lower case with hyphens.
    pub const fn name(self) -> &'static str {
        match self {
            Self::UnknownGroup => "unknown-group",
            Self::ArgumentCount => "argument-count",
            Self::BadTemplate => "bad-template",
            Self::NonConstantTemplate => "non-constant-template",
            Self::ArrayArguments => "array-arguments",
            Self::NoStatement => "no-statement",
            Self::HiddenName => "hidden-name",
            Self::Syntax => "syntax",
            Self::IdClash => "id-clash",
            Self::Groups => "groups",
            Self::NotRewritten => "not-rewritten",
        }
    }
}

impl Diagnostic {
    /// An error at `range`.
    pub fn error(code: Code, range: Range<usize>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, code, range, message: message.into(), help: None }
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
}
