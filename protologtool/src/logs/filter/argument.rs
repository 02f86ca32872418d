//! Values of arguments among the options of a filter: `bytes=42`, `0=42`.

use super::{Filter, Filters};
use protolog_core::is_name;
use protolog_reader::{Arg, Entry, Log, Values};
use std::collections::BTreeSet;

/// An argument that is asked for.
struct WantedArgument<'a> {
    /// The name, or the number.
    argument: &'a str,
    value: &'a str,
}

/// Parses an option of the command line.
pub(super) fn argument(text: &str) -> Result<String, String> {
    let help = "help: give the name of an argument, or its number from 0 on, and its value, as in `bytes=42`";
    match WantedArgument::of(text) {
        Some(wanted) if is_argument(wanted.argument) => Ok(text.to_owned()),
        _ => Err(format!("`{text}` names no argument with its value\n{help}")),
    }
}

/// Parses an option that names an argument alone.
pub(crate) fn name(text: &str) -> Result<String, String> {
    if is_argument(text) {
        return Ok(text.to_owned());
    }
    let help = "help: give a name, as in `bytes`, or a number from 0 on";
    Err(format!("`{text}` names no argument\n{help}"))
}

/// The value of the argument with this name or number.
pub(crate) fn value<'a>(values: &Values<'a>, argument: &str) -> Option<Arg<'a>> {
    match index(argument) {
        Some(index) => values.args().get(index).copied(),
        None => {
            let mut fields = values.fields().into_iter();
            fields.find(|(name, _)| *name == argument).map(|(_, value)| value)
        }
    }
}

fn is_argument(text: &str) -> bool {
    index(text).is_some() || is_name(text)
}

fn index(argument: &str) -> Option<usize> {
    argument.parse().ok()
}

impl<'a> WantedArgument<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let (argument, value) = text.split_once('=')?;
        Some(Self { argument, value })
    }

    fn is_in(&self, values: &Values<'_>) -> bool {
        value(values, self.argument).is_some_and(|found| is_value(found, self.value))
    }
}

impl Filters {
    /// Returns whether a message of the log has an argument of the name that this option asks for.
    /// Any message may have one of a number.
    pub(super) fn is_argument(wanted: &str, log: &Log) -> bool {
        WantedArgument::of(wanted).is_none_or(|wanted| {
            let mut messages = log.dictionary().messages();
            index(wanted.argument).is_some()
                || messages.any(|message| message.names().index_of(wanted.argument).is_some())
        })
    }

    /// The names of all arguments.
    pub(super) fn argument_names(log: &Log) -> BTreeSet<String> {
        let messages = log.dictionary().messages();
        messages.flat_map(|message| message.names().iter().flatten().map(str::to_owned)).collect()
    }
}

impl Filter<'_> {
    /// Returns whether an entry has one of the values that are asked for, or none is.
    pub(super) fn admits_arguments(&self, entry: &Entry<'_>) -> bool {
        let wanted = &self.options.arg;
        if wanted.is_empty() {
            return true;
        }
        let values = entry.values();
        wanted
            .iter()
            .filter_map(|text| WantedArgument::of(text))
            .any(|wanted| wanted.is_in(&values))
    }
}

/// Returns whether a value is what a text means: numbers by their value, in any notation.
fn is_value(found: Arg<'_>, text: &str) -> bool {
    let integer = || match text.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    match found {
        Arg::Str(found) => found == text,
        Arg::Int(found) => integer() == Some(found.into()),
        Arg::Uint(found) => integer() == Some(found.into()),
        Arg::Float(found) => text.parse() == Ok(found),
        Arg::Bool(found) => text.parse() == Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_any_notation() {
        for (found, text, expected) in [
            (Arg::Int(-42), "-42", true),
            (Arg::Int(42), "0x2a", true),
            (Arg::Int(42), "42.0", false),
            (Arg::Uint(u64::MAX), "18446744073709551615", true),
            (Arg::Float(0.5), ".5", true),
            (Arg::Float(2.0), "2", true),
            (Arg::Float(2.0), "two", false),
            (Arg::Bool(true), "true", true),
            (Arg::Bool(true), "1", false),
            (Arg::Str("a=b"), "a=b", true),
            (Arg::Str("42"), "042", false),
        ] {
            assert_eq!(is_value(found, text), expected, "{found:?} {text}");
        }
    }

    #[test]
    fn an_option_has_a_name_or_number_and_a_value() {
        for text in ["bytes=42", "0=", "größe=a b=c", "http.status=200"] {
            assert_eq!(argument(text).as_deref(), Ok(text));
        }
        for text in ["bytes", "=42", "a b=1", "-1=2", ""] {
            assert!(argument(text).is_err_and(|error| error.contains("\nhelp: ")), "{text}");
        }
        assert_eq!((name("bytes"), name("1")), (Ok("bytes".to_owned()), Ok("1".to_owned())));
        assert!(name("bytes=1").is_err_and(|error| error.contains("\nhelp: ")));
    }
}
