//! The result of moving log calls of other libraries to this one, whatever the language.
//!
//! Invariants: a call is moved or listed with its reason, never passed over; the bytes outside the
//! edits stay.

use crate::diagnostic::{Code, Diagnostic};
use crate::rewrite::Edit;
use crate::source::Source;
use std::ops::Range;
use std::path::PathBuf;

/// A logging library whose calls are moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SourceLibrary {
    /// The crate `log`.
    Log,
    /// The crate `tracing`.
    Tracing,
    /// SLF4J.
    Slf4j,
}

impl SourceLibrary {
    /// The name that code calls it by.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Tracing => "tracing",
            Self::Slf4j => "org.slf4j",
        }
    }
}

/// The choices of the command line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MoveChoice<'a> {
    pub(crate) library: SourceLibrary,
    /// The group of all calls; none to make one of each module or package.
    pub(crate) group: Option<&'a str>,
    /// The name of the enum that is made where no group is given.
    pub(crate) enum_name: &'a str,
}

/// A file with calls of the library.
#[derive(Debug)]
pub(crate) struct FileMoves {
    pub(crate) source: Source,
    /// The edits, disjoint, in any order.
    pub(crate) edits: Vec<Edit>,
    /// The number of calls that move.
    pub(crate) moved: usize,
    /// The calls that don't.
    pub(crate) listed: Vec<Diagnostic>,
}

/// All that a run would change, and what is left to do.
#[derive(Debug, Default)]
pub(crate) struct Migration {
    /// In the order of the inputs.
    pub(crate) files: Vec<FileMoves>,
    /// Files that come into being, with their contents.
    pub(crate) created: Vec<(PathBuf, String)>,
    /// Facts about the moved calls.
    pub(crate) notes: Vec<String>,
    /// Things that the user has to do; each begins with a verb.
    pub(crate) steps: Vec<String>,
}

/// The reason why a call stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stays {
    /// The part of the call that is the reason; the whole call where none is.
    pub(crate) range: Option<Range<usize>>,
    pub(crate) reason: String,
    pub(crate) help: String,
}

impl Stays {
    pub(crate) fn new(reason: impl Into<String>, help: impl Into<String>) -> Self {
        Self { range: None, reason: reason.into(), help: help.into() }
    }

    /// At this part of the call.
    pub(crate) fn at(self, range: Range<usize>) -> Self {
        Self { range: Some(range), ..self }
    }

    /// The warning about the call `written` at `range`.
    pub(crate) fn warning(self, range: &Range<usize>, written: &str) -> Diagnostic {
        let message = format!("`{written}` is not moved: {}", self.reason);
        let range = self.range.unwrap_or_else(|| range.clone());
        Diagnostic::warning(Code::NotMoved, range, message).help(self.help)
    }
}
