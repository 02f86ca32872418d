//! Log levels. A level has a severity (`Ord`), a number on the wire, and a name, which must not be
//! confused.
//!
//! Invariant: severity is VERBOSE < DEBUG < INFO < WARN < ERROR < WTF, while the wire numbers DEBUG
//! before VERBOSE (Perfetto's `ProtoLogLevel`). Nothing outside this file compares wire numbers.

use core::{fmt, str::FromStr};

/// The severity of a message. Ordered by severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Level {
    /// Details that only the developers of this code need.
    Verbose = 0,
    /// Information for finding a fault.
    Debug = 1,
    /// Information for an operator.
    Info = 2,
    /// Something is wrong, but the program can cope with it.
    Warn = 3,
    /// Something failed.
    Error = 4,
    /// Something happened that can't happen.
    Wtf = 5,
}

impl Level {
    /// All levels, least severe first.
    pub const ALL: [Self; 6] =
        [Self::Verbose, Self::Debug, Self::Info, Self::Warn, Self::Error, Self::Wtf];

    /// The number in traces and dictionaries (Perfetto's `ProtoLogLevel`; 0 there means undefined).
    pub const fn wire(self) -> u32 {
        match self {
            Self::Debug => 1,
            Self::Verbose => 2,
            Self::Info => 3,
            Self::Warn => 4,
            Self::Error => 5,
            Self::Wtf => 6,
        }
    }

    /// The level with this number in a trace; none for 0 and unknown numbers.
    pub const fn from_wire(number: u64) -> Option<Self> {
        Some(match number {
            1 => Self::Debug,
            2 => Self::Verbose,
            3 => Self::Info,
            4 => Self::Warn,
            5 => Self::Error,
            6 => Self::Wtf,
            _ => return None,
        })
    }

    /// The escape sequence for the level's color on a terminal; empty for none.
    pub const fn terminal_color(self) -> &'static str {
        match self {
            Self::Verbose => "",
            Self::Debug => "\x1b[34m",
            Self::Info => "\x1b[32m",
            Self::Warn => "\x1b[33m",
            Self::Error => "\x1b[31m",
            Self::Wtf => "\x1b[1;31m",
        }
    }

    /// Position in the order of severity: 0 for verbose to 5 for wtf. Also the level's bit in a set
    /// of levels.
    pub const fn severity(self) -> u8 {
        self as u8
    }

    /// The level at this position in the order of severity.
    pub const fn from_severity(severity: u8) -> Option<Self> {
        if severity < 6 { Some(Self::ALL[severity as usize]) } else { None }
    }

    /// The name in dictionaries and ids: `VERBOSE` … `WTF`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Verbose => "VERBOSE",
            Self::Debug => "DEBUG",
            Self::Info => "INFO",
            Self::Warn => "WARN",
            Self::Error => "ERROR",
            Self::Wtf => "WTF",
        }
    }

    /// The letter of logcat's formats: `V D I W E F` (logcat prints a wtf as fatal).
    pub const fn letter(self) -> char {
        match self {
            Self::Verbose => 'V',
            Self::Debug => 'D',
            Self::Info => 'I',
            Self::Warn => 'W',
            Self::Error => 'E',
            Self::Wtf => 'F',
        }
    }

    /// The name of the log methods and macros of this level: `v d i w e wtf`.
    pub const fn method(self) -> &'static str {
        match self {
            Self::Verbose => "v",
            Self::Debug => "d",
            Self::Info => "i",
            Self::Warn => "w",
            Self::Error => "e",
            Self::Wtf => "wtf",
        }
    }

    /// Other names that people give the level, in lower case: letters of logcat, and the words of
    /// syslog and of other loggers.
    pub const fn aliases(self) -> &'static [&'static str] {
        match self {
            Self::Verbose => &["v", "trace"],
            Self::Debug => &["d"],
            Self::Info => &["i", "information"],
            Self::Warn => &["w", "warning"],
            Self::Error => &["e", "err"],
            Self::Wtf => &["f", "fatal", "a", "assert"],
        }
    }

    /// The level of a log method or macro called `method`.
    pub fn from_method(method: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.method() == method)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The error for a text that names no level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownLevel;

impl fmt::Display for UnknownLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a level: expected verbose, debug, info, warn, error or wtf, or a first letter of one")
    }
}

impl core::error::Error for UnknownLevel {}

/// Parses a name or one of the [aliases](Level::aliases), in any case.
impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(text: &str) -> Result<Self, UnknownLevel> {
        let named = |level: &Self| {
            let mut names = core::iter::once(level.name()).chain(level.aliases().iter().copied());
            names.any(|name| text.eq_ignore_ascii_case(name))
        };
        Self::ALL.into_iter().find(named).ok_or(UnknownLevel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wire_numbers_are_those_of_perfetto() {
        let wire: std::vec::Vec<_> = Level::ALL.iter().map(|level| level.wire()).collect();
        assert_eq!(wire, [2, 1, 3, 4, 5, 6]);
        for level in Level::ALL {
            assert_eq!(Level::from_wire(level.wire() as u64), Some(level));
            assert_eq!(Level::from_severity(level.severity()), Some(level));
            assert_eq!(Level::from_method(level.method()), Some(level));
            assert_eq!(level.name().parse(), Ok(level));
        }
        assert_eq!(
            (Level::from_wire(0), Level::from_wire(7), Level::from_severity(6)),
            (None, None, None)
        );
    }

    #[test]
    fn levels_are_displayed() {
        let shown = Level::ALL.map(|level| std::format!("{level:>7}|{}", level.terminal_color()));
        assert_eq!(
            shown,
            [
                "VERBOSE|",
                "  DEBUG|\x1b[34m",
                "   INFO|\x1b[32m",
                "   WARN|\x1b[33m",
                "  ERROR|\x1b[31m",
                "    WTF|\x1b[1;31m"
            ]
        );
        let error = "loud".parse::<Level>().unwrap_err();
        assert!(std::format!("{error}").starts_with("not a level: expected verbose, debug"));
    }

    #[test]
    fn severity_orders() {
        assert!(Level::ALL.is_sorted());
        assert!(Level::Debug > Level::Verbose, "although 1 < 2 on the wire");
    }

    #[test]
    fn levels_are_parsed() {
        for (text, level) in [
            ("w", Level::Warn),
            ("Wtf", Level::Wtf),
            ("f", Level::Wtf),
            ("A", Level::Wtf),
            ("i", Level::Info),
            ("WARNING", Level::Warn),
            ("err", Level::Error),
            ("Information", Level::Info),
            ("trace", Level::Verbose),
            ("fatal", Level::Wtf),
        ] {
            assert_eq!(text.parse(), Ok(level), "{text}");
        }
        for text in ["", "x", "warnings", "IN"] {
            assert_eq!(text.parse::<Level>(), Err(UnknownLevel), "{text}");
        }
    }
}
