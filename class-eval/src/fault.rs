//! Why an evaluation ended without a value, and where.

use std::fmt;

/// Why an evaluation ended without a value, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(Box<Inner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    kind: FaultKind,
    location: Option<Location>,
    cause: Cause,
}

/// The machine's options after a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// It ends the evaluation.
    Final,
    /// A class, field or method is not here: the machine may go on without it.
    Missing,
    /// A value is needed that is not known: the number of the fault that says why.
    Unknown(u32),
}

/// Why an evaluation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// A class, method, field or kind of instruction that the evaluator doesn't have.
    Unsupported(String),
    /// The code threw an exception.
    Thrown {
        /// The exception's class.
        class: String,
        /// Its message, empty if it has none.
        message: String,
    },
    /// More steps, memory, classes or calls within calls than groups can need.
    Limit(&'static str),
    /// Bytes that no compiler makes.
    Malformed(String),
}

/// An instruction of a class file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The class, as `Class.getName()` gives it.
    pub class: String,
    /// The method's name and descriptor.
    pub method: String,
    /// The line in the source; 0 where the class file doesn't say.
    pub line: u16,
    /// The instruction with its operands.
    pub instruction: String,
}

/// Characters of an exception's message that are kept.
const MAX_MESSAGE: usize = 200;

impl Fault {
    /// The kind of the fault.
    pub fn kind(&self) -> &FaultKind {
        &self.0.kind
    }

    /// Where; `None` if no instruction was under way.
    pub fn location(&self) -> Option<&Location> {
        self.0.location.as_ref()
    }

    pub(crate) fn unsupported(what: impl Into<String>) -> Self {
        Self::new(FaultKind::Unsupported(what.into()))
    }

    /// For a class, field or method that is not here.
    pub(crate) fn missing(what: impl Into<String>) -> Self {
        let mut fault = Self::unsupported(what);
        fault.0.cause = Cause::Missing;
        fault
    }

    /// For a value that is needed and not known.
    pub(crate) fn unknown(origin: u32) -> Self {
        let mut fault = Self::unsupported("a value is not known");
        fault.0.cause = Cause::Unknown(origin);
        fault
    }

    pub(crate) fn cause(&self) -> Cause {
        self.0.cause
    }

    pub(crate) fn malformed(what: impl Into<String>) -> Self {
        Self::new(FaultKind::Malformed(what.into()))
    }

    pub(crate) fn limit(what: &'static str) -> Self {
        Self::new(FaultKind::Limit(what))
    }

    pub(crate) fn thrown(class: impl Into<String>, message: impl Into<String>) -> Self {
        let mut message = message.into();
        if let Some((end, _)) = message.char_indices().nth(MAX_MESSAGE) {
            message.truncate(end);
            message.push('…');
        }
        Self::new(FaultKind::Thrown { class: class.into(), message })
    }

    /// The exception that the machine itself throws where a reference is null.
    pub(crate) fn null() -> Self {
        Self::thrown("java.lang.NullPointerException", "")
    }

    /// With the location, unless one is known already: the innermost one counts.
    pub(crate) fn at(mut self, location: impl FnOnce() -> Option<Location>) -> Self {
        if self.0.location.is_none() {
            self.0.location = location();
        }
        self
    }

    fn new(kind: FaultKind) -> Self {
        Self(Box::new(Inner { kind, location: None, cause: Cause::Final }))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind().fmt(f)?;
        self.location().map_or(Ok(()), |location| write!(f, ", at {location}"))
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported(what) => f.write_str(what),
            Self::Thrown { class, message } if message.is_empty() => {
                write!(f, "the code throws `{class}`")
            }
            Self::Thrown { class, message } => {
                write!(f, "the code throws `{class}` with `{message}`")
            }
            Self::Limit(what) => write!(f, "the code needs {what}"),
            Self::Malformed(what) => write!(f, "malformed class file: {what}"),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` in `{}.{}`", self.instruction, self.class, self.method)?;
        if self.line > 0 {
            write!(f, ", line {}", self.line)?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}
