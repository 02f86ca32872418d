//! The fast path of messages: values that stand in the order of their template, straight from the bytes of a page.
//!
//! A writer of lines asks for one value after the other, and appends it where it belongs, so that nothing is collected in between. Where
//! anything is unusual (a value of another kind, a string that is missing, two messages of one id, a stack trace), the answer is none,
//! and the slow path takes over, by [`Values`](crate::Values).
//!
//! Invariant: lines of the fast path are those of the slow one.

use std::slice;

use foldhash::HashMap;
use protolog_core::ParamKind;

use crate::blocks::BlockHint;
use crate::collect::{MessageRecord, NO_STRING};
use crate::dictionary::{Dictionary, Message};
use crate::log::Log;
use crate::message_fields::{self, MessageField};
use crate::plan::{self, FastValue, Part, is_set};

/// The hints in a log where the last message and the last string were found, near which the next ones are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BlockHints {
    message: BlockHint,
    string: BlockHint,
}

/// The values of one message, after its id.
#[derive(Debug)]
pub(crate) struct FastValues<'a, 'p> {
    log: &'a Log,
    rest: &'a [u8],
    strings: slice::Iter<'a, u32>,
    hint: &'p mut BlockHint,
}

impl<'a, 'p> FastValues<'a, 'p> {
    /// The id of a message, and its values.
    pub(crate) fn of(
        log: &'a Log,
        record: &MessageRecord,
        hints: &'p mut BlockHints,
    ) -> Option<(u64, Self)> {
        if record.stack_trace != NO_STRING {
            return None;
        }
        let bytes = log.blocks().bytes_near(record.message, &mut hints.message);
        let (MessageField::MessageId(id), rest) = message_fields::usual(bytes)? else {
            return None;
        };
        let strings = log.strings_from(record.strings as usize).iter();
        Some((id, Self { log, rest, strings, hint: &mut hints.string }))
    }

    /// The next value, if it is of this kind.
    #[inline]
    pub(crate) fn next(&mut self, kind: ParamKind) -> Option<FastValue<'a>> {
        let (field, rest) = message_fields::usual(self.rest)?;
        let value = match (kind, field) {
            (ParamKind::Int, MessageField::Int(value)) => FastValue::Int(value),
            (ParamKind::Float, MessageField::Float(value)) => FastValue::Float(value),
            (ParamKind::Bool, MessageField::Bool(value)) => FastValue::Bool(value),
            (ParamKind::Str, MessageField::String(_)) => {
                let index = *self.strings.next()?;
                FastValue::Str(self.log.interned_near(index, self.hint)?)
            }
            _ => return None,
        };
        self.rest = rest;
        Some(value)
    }

    /// Appends the text of `message`, if these are just the values that it takes.
    pub(crate) fn push_text(&mut self, message: &Message, out: &mut Vec<u8>) -> Option<()> {
        let mut index = 0;
        for part in message.plan().parts() {
            match part {
                Part::Text(text) => out.extend_from_slice(text.as_bytes()),
                Part::Conversion(conversion) => {
                    let value = self.next(conversion.verb.kind())?;
                    let is_unsigned = is_set(message.unsigned, index);
                    plan::push_value(out, conversion, value, is_unsigned)?;
                    index += 1;
                }
            }
        }
        self.are_done().then_some(())
    }

    /// Returns whether no value is left over.
    pub(crate) fn are_done(&self) -> bool {
        self.rest.is_empty()
    }
}

/// Messages of the dictionary by id, each with what a writer prepares for all of its entries.
#[derive(Debug)]
pub(crate) struct Prepared<'a, T>(HashMap<u64, Option<(&'a Message, T)>>);

impl<T> Default for Prepared<'_, T> {
    fn default() -> Self {
        Self(HashMap::default())
    }
}

impl<'a, T> Prepared<'a, T> {
    /// The message with this id, unless there are none or several. `prepare` is called once for each.
    pub(crate) fn get(
        &mut self,
        dictionary: &'a Dictionary,
        id: u64,
        prepare: impl FnOnce(&'a Message) -> T,
    ) -> Option<(&'a Message, &T)> {
        let known = self.0.entry(id).or_insert_with(|| {
            let message = dictionary.message(id).filter(|_| dictionary.others(id).is_empty())?;
            Some((message, prepare(message)))
        });
        known.as_ref().map(|(message, prepared)| (*message, prepared))
    }
}
