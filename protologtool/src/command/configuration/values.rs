//! Values of flags: selectors, and what becomes of repeats.

use crate::logs::functions::FunctionSelector;
use protolog_core::control::selector::Selector;
use protolog_core::control::site_rule::{BY_ARGUMENT, BY_ARGUMENT_HELP};

/// What becomes of messages that say the same as the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum RepeatSwitch {
    /// Their number is written
    On,
    /// Each is written
    Off,
}

/// Parses a selector of a limit, a rate or repeats.
pub(super) fn selector_of_calls(text: &str) -> Result<String, String> {
    let read = selector(text)?;
    let calls =
        FunctionSelector::of(&read)?.map_or_else(|| read.clone(), |it| it.others().to_owned());
    if Selector::parse(&calls).is_ok_and(|it| it.is_by_arguments()) {
        return Err(format!("{BY_ARGUMENT}\nhelp: {BY_ARGUMENT_HELP}"));
    }
    Ok(read)
}

/// Parses a selector of the command line, which may have a condition on the function.
pub(super) fn selector(text: &str) -> Result<String, String> {
    if let Some(function) = FunctionSelector::of(text)? {
        let rest = selector(function.others())?;
        let and = if function.rest.is_empty() { String::new() } else { format!(" and {rest}") };
        return Ok(format!("fn {}{and}", function.name));
    }
    match Selector::parse(text) {
        Ok(selector) => Ok(selector.text().to_owned()),
        Err(error) => Err(format!("{error}\nhelp: {}", error.help())),
    }
}
