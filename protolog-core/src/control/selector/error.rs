//! The problems of a selector, each with its column and a help line.

use crate::control::words::OneLine;
use core::fmt;

/// An invalid selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectorError<'a> {
    /// The column of the offending text, in characters from 1.
    pub column: usize,
    /// The offending text; empty at the end of the selector.
    pub text: &'a str,
    /// The problem.
    pub problem: SelectorProblem,
}

/// The ways in which a selector can be invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectorProblem {
    /// There is nothing.
    Empty,
    /// There is nothing after `and`.
    NoCondition,
    /// Two conditions stand side by side.
    NoAnd,
    /// It asks for a function, which nothing knows of a call.
    Function,
    /// There is no name after `group`, `module` or `file`.
    NoName,
    /// A name has characters that need quotation marks.
    BadName,
    /// There is no id after `#`.
    BadId,
    /// The lines after a file are none.
    BadLines,
    /// The first level is more severe than the last.
    BadLevels,
    /// A condition on an argument has no such number, comparison or value.
    BadArgument,
    /// A quotation mark is not closed, or an escape is unknown.
    NoQuote,
    /// There are more conditions than a selector may have.
    TooMany,
    /// The text is longer than a selector may be.
    TooLong,
}

impl SelectorError<'_> {
    /// The help line, which begins with a verb.
    pub const fn help(&self) -> &'static str {
        self.problem.help()
    }
}

impl SelectorProblem {
    /// The help line, which begins with a verb.
    pub const fn help(self) -> &'static str {
        match self {
            Self::Empty => {
                "name a group or module (`net`), a file (`net.rs:120-180`), a text of the template (`\"retry\"`), an id (`#58f2c41b9a07d36e`), a level (`debug`) or the value of an argument (`arg1 == 42`)"
            }
            Self::NoCondition => "write a condition after `and`, as in `net and debug`",
            Self::NoAnd => "write `and` between conditions, as in `net and debug`",
            Self::Function => {
                "name its lines, as in `net.rs:120-180`; `protologtool configuration site list 'fn send'` finds them in the sources"
            }
            Self::NoName => "write a name after it, as in `group net`",
            Self::BadName => {
                "write `group` and the name in quotation marks, as in `group \"my logger\"`"
            }
            Self::BadId => {
                "write `#` and up to 16 hexadecimal digits, as `configuration site list` prints them"
            }
            Self::BadLines => "write one line or two, from 1, as in `net.rs:120-180`",
            Self::BadLevels => "write the less severe level first, as in `verbose-debug`",
            Self::BadArgument => {
                "write an argument from 1 to 15, one of `==`, `!=`, `<`, `<=`, `>` and `>=`, and an integer, as in `arg1 == 42`"
            }
            Self::NoQuote => {
                "close the quotation mark; between two of them, `\\\"` and `\\\\` stand for `\"` and `\\`"
            }
            Self::TooMany => "write at most 8 conditions",
            Self::TooLong => "write at most 2,048 bytes",
        }
    }
}

impl fmt::Display for SelectorError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.problem {
            SelectorProblem::Empty => "empty selector",
            SelectorProblem::NoCondition => "missing condition after `and`",
            SelectorProblem::NoAnd => "missing `and` before",
            SelectorProblem::Function => "no call is known by its function in",
            SelectorProblem::NoName => "missing name after",
            SelectorProblem::BadName => "invalid name",
            SelectorProblem::BadId => "invalid id",
            SelectorProblem::BadLines => "invalid lines in",
            SelectorProblem::BadLevels => "no level in",
            SelectorProblem::BadArgument => "invalid condition on an argument",
            SelectorProblem::NoQuote => "open quotation mark in",
            SelectorProblem::TooMany => "too many conditions",
            SelectorProblem::TooLong => "selector is too long",
        };
        write!(f, "column {}: {what}", self.column)?;
        if !self.text.is_empty() && self.problem != SelectorProblem::NoCondition {
            write!(f, " `{}`", OneLine(self.text))?;
        }
        Ok(())
    }
}

impl core::error::Error for SelectorError<'_> {}
