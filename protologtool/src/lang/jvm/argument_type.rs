//! Types of arguments that are evident from the source, held against the conversions that take
//! them.
//!
//! ```text
//! void f(double ms) { ProtoLog.d(NET, "took %d ms", ms); }      `ms` is a double, and `%d` takes a whole number
//! ```
//!
//! Without this the compiler complains about rewritten code, or in Android's dialects nobody does,
//! and the call fails when it runs. Invariant: a type that is not evident fits every conversion.

use crate::diagnostic::{Code, Diagnostic};
use protolog_core::{Conversion, ParamKind, Template};
use std::ops::Range;

/// The type of an argument, as far as conversions tell types apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArgumentType {
    /// A string.
    Text,
    /// A whole number, also in a box.
    Integer,
    /// A `double` or a `float`, also in a box.
    Float,
    Char,
    Bool,
}

impl ArgumentType {
    /// The type that Java and Kotlin call this; none if it may be any.
    pub(in crate::lang) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "String" | "CharSequence" | "StringBuilder" => Self::Text,
            "byte" | "short" | "int" | "long" | "Byte" | "Short" | "Int" | "Integer" | "Long" => {
                Self::Integer
            }
            "float" | "double" | "Float" | "Double" => Self::Float,
            "char" | "Char" | "Character" => Self::Char,
            "boolean" | "Boolean" => Self::Bool,
            _ => return None,
        })
    }

    fn fits(self, kind: ParamKind) -> bool {
        match kind {
            ParamKind::Str => true,
            ParamKind::Int => matches!(self, Self::Integer | Self::Char),
            ParamKind::Float => matches!(self, Self::Integer | Self::Float | Self::Char),
            ParamKind::Bool => self == Self::Bool,
        }
    }

    /// Its kind, in words, and the conversion that takes it.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Text => ("a string", "%s"),
            Self::Integer => ("a whole number", "%d"),
            Self::Float => ("a floating-point number", "%f"),
            Self::Char => ("a character", "%s"),
            Self::Bool => ("a boolean", "%b"),
        }
    }
}

/// The errors for arguments, by their bytes, whose types do not fit the conversions of the
/// template.
pub(in crate::lang) fn misfits(
    source: &[u8],
    template: &Template<'_>,
    arguments: impl IntoIterator<Item = (Range<usize>, Option<ArgumentType>)>,
) -> Vec<Diagnostic> {
    let pairs = template.conversions().zip(arguments);
    let misfit = |(conversion, (range, is)): (Conversion, (Range<usize>, Option<ArgumentType>))| {
        let kind = conversion.verb.kind();
        let (words, fitting) = is.filter(|is| !is.fits(kind))?.words();
        let takes = match kind {
            ParamKind::Int => "a whole number",
            ParamKind::Float => "a number",
            ParamKind::Bool => "a boolean",
            ParamKind::Str => "anything",
        };
        let written = String::from_utf8_lossy(&source[range.clone()]);
        let written: String = written.split_whitespace().collect::<Vec<_>>().join(" ");
        let shown: String = written.chars().take(40).collect();
        let verb = &template.text()[conversion.range()];
        let message = format!("`{shown}` is {words}, and `{verb}` takes {takes}");
        let help = format!("write `{fitting}` for it, or pass {takes}");
        Some(Diagnostic::error(Code::ArgumentType, range, message).help(help))
    };
    pairs.filter_map(misfit).collect()
}
