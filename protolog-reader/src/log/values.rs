//! The values of one entry, with the message that they belong to.
//!
//! Invariant: `args` holds the values in the order of the wire; [`crate::log::render`] puts them
//! into the order of the template.

use protolog_core::{Arg, Level};
use std::borrow::Cow;

use crate::decode::value_fit::SHORT;
use crate::dictionary::message_plan::is_set;
use crate::dictionary::{Group, Message};
use crate::log::Log;

/// Placeholder for a text that is left out, since the texts of a trace expand to more than their
/// limit.
pub(crate) const CUT_TEXT: &str = "[CUT_TEXT]";

/// The values of an entry, and the message that they belong to.
#[derive(Clone, Debug, Default)]
pub struct Values<'a> {
    pub(crate) message_id: u64,
    pub(crate) message: Option<&'a Message>,
    /// In the order of the wire.
    pub(crate) args: Vec<Arg<'a>>,
    /// Bit `i` is set if argument `i` is an unsigned integer, as the dictionary or the message
    /// itself says.
    pub(crate) unsigned: u32,
    /// Only the beginning of the template stands for the text.
    pub(crate) is_cut: bool,
    /// The id is that of several messages, and the values do not tell which one is meant.
    pub(crate) is_guess: bool,
}

impl<'a> Values<'a> {
    /// The message's id; 0 if it has none.
    pub fn message_id(&self) -> u64 {
        self.message_id
    }

    /// The message in the dictionary.
    pub fn message(&self) -> Option<&'a Message> {
        self.message
    }

    /// True if the message is a guess: its id is that of several ones, of which not just one takes
    /// these values.
    pub fn message_is_guess(&self) -> bool {
        self.is_guess
    }

    /// The argument with this number, from 1, in the order of the template.
    pub(crate) fn argument(&self, number: usize) -> Option<Arg<'a>> {
        self.args().get(number.checked_sub(1)?).copied()
    }

    /// The level, if the dictionary has one.
    pub fn level(&self) -> Option<Level> {
        self.message?.level
    }

    /// The group, in the dictionary of `log`.
    pub fn group(&self, log: &'a Log) -> Option<&'a Group> {
        log.dictionary().group(self.message?.group)
    }

    /// The template, or its beginning if that is all that is shown of it.
    pub(crate) fn template(&self) -> Option<&'a str> {
        let template = self.message?.template();
        Some(if self.is_cut { beginning(template, SHORT) } else { template })
    }

    /// Sets the message that they belong to, and marks its unsigned arguments.
    pub(crate) fn resolve(&mut self, message: Option<&'a Message>) {
        self.message = message;
        match self.message {
            Some(message) => self.unsigned |= message.unsigned,
            // Without a template, values are shown as they came.
            None => {
                for (arg, index) in self.args.iter_mut().zip(0..) {
                    if is_set(self.unsigned, index) {
                        *arg = as_unsigned(*arg);
                    }
                }
            }
        }
    }
}

/// The characters that fit into the first bytes of a text, so many.
pub fn beginning(text: &str, most: usize) -> &str {
    (0..=most).rev().find_map(|end| text.get(..end)).unwrap_or_default()
}

/// The text, or the beginning of one with more bytes than `most`, which says that it is cut: for
/// texts that are shown or kept again and again.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return text.into();
    }
    format!("{}{CUT_TEXT}", beginning(text, most)).into()
}

/// The value as an unsigned integer, if it is an integer.
pub(crate) fn as_unsigned(arg: Arg<'_>) -> Arg<'_> {
    match arg {
        Arg::Int(value) => Arg::Uint(value as u64),
        arg => arg,
    }
}
