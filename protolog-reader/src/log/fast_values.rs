//! The fast path of messages: values that stand in the order of their template, straight from the
//! bytes of a page.
//!
//! A writer of lines asks for one value after the other, and appends it where it belongs, so that
//! nothing is collected in between. Where anything is unusual (a value of another kind, a string
//! that is missing, two messages of one id, a stack trace), the answer is none, and the slow path
//! takes over, by [`Values`](crate::Values).
//!
//! Invariant: lines of the fast path are those of the slow one.

use std::slice;

use foldhash::HashMap;
use protolog_core::ParamKind;
use protozero::wire::unzigzag;

use crate::bytes::blocks::BlockHint;
use crate::decode::collect::{MessageRecord, NO_STRING};
use crate::dictionary::message_plan::{self, FastValue, Form, Part, is_set};
use crate::dictionary::{Dictionary, Message};
use crate::formatting::snippet::push_start;
use crate::log::Log;
use crate::packets::message_fields;

/// The hints in a log where the last message and the last string of each thread were found, near
/// which the next ones are.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockHints(Vec<ThreadHints>);

#[derive(Clone, Copy, Debug, Default)]
struct ThreadHints {
    message: BlockHint,
    string: BlockHint,
}

impl BlockHints {
    #[inline]
    fn of(&mut self, thread: u32) -> &mut ThreadHints {
        let place = thread as usize;
        if self.0.len() <= place {
            self.0.resize(place + 1, ThreadHints::default());
        }
        &mut self.0[place]
    }
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
    #[expect(
        clippy::inline_always,
        reason = "its result would be written and read again for each line, 2 % of the time"
    )]
    #[inline(always)]
    pub(crate) fn of(
        log: &'a Log,
        record: &MessageRecord,
        hints: &'p mut BlockHints,
    ) -> Option<(u64, Self)> {
        if record.stack_trace != NO_STRING {
            return None;
        }
        let hints = hints.of(record.thread);
        let bytes = log.blocks().bytes_near(record.message, &mut hints.message);
        let [message_fields::MESSAGE_ID, rest @ ..] = bytes else { return None };
        let (id, rest) = rest.split_first_chunk()?;
        let strings = log.strings_from(record.strings as usize).iter();
        Some((u64::from_le_bytes(*id), Self { log, rest, strings, hint: &mut hints.string }))
    }

    /// The next value, if it is of this kind.
    #[inline]
    pub(crate) fn next(&mut self, kind: ParamKind) -> Option<FastValue<'a>> {
        Some(match kind {
            ParamKind::Str => {
                let (window, len) = self.next_string()?;
                FastValue::Str(window.get(..len)?)
            }
            ParamKind::Int => FastValue::Int(self.next_integer()?),
            ParamKind::Float => FastValue::Float(self.next_float()?),
            ParamKind::Bool => FastValue::Bool(self.next_bool()?),
        })
    }

    /// The next value, if it is a string: its bytes with the rest of their block, and their number.
    #[inline]
    pub(crate) fn next_string(&mut self) -> Option<(&'a [u8], usize)> {
        self.next_varint(message_fields::STRING)?;
        let index = *self.strings.next()?;
        self.log.interned_near(index, self.hint)
    }

    /// The next value, if it is of this kind.
    #[inline]
    pub(crate) fn next_integer(&mut self) -> Option<i64> {
        self.next_varint(message_fields::INT).map(unzigzag)
    }

    /// The next value, if it is of this kind.
    #[inline]
    pub(crate) fn next_bool(&mut self) -> Option<bool> {
        self.next_varint(message_fields::BOOL).map(|value| value != 0)
    }

    /// The next value, if it is of this kind.
    #[inline]
    pub(crate) fn next_float(&mut self) -> Option<f64> {
        let [message_fields::DOUBLE, rest @ ..] = self.rest else { return None };
        let (bytes, rest) = rest.split_first_chunk()?;
        self.rest = rest;
        Some(f64::from_le_bytes(*bytes))
    }

    #[inline]
    fn next_varint(&mut self, tag: u8) -> Option<u64> {
        let [first, rest @ ..] = self.rest else { return None };
        let (value, rest) = message_fields::varint(rest).filter(|_| *first == tag)?;
        self.rest = rest;
        Some(value)
    }

    /// Appends the text of `message`, if these are just the values that it takes.
    pub(crate) fn push_text(&mut self, message: &Message, out: &mut Vec<u8>) -> Option<()> {
        let mut index = 0;
        for part in message.plan().parts() {
            let (conversion, form) = match part {
                Part::Text(text) => {
                    text.push(out);
                    continue;
                }
                Part::Conversion(conversion, form) => (conversion, *form),
            };
            let is_unsigned = is_set(message.unsigned, index);
            index += 1;
            match form {
                Form::Str => {
                    let (window, len) = self.next_string()?;
                    push_start(out, window, len);
                }
                Form::Decimal => {
                    message_plan::push_decimal(out, conversion, self.next_integer()?, is_unsigned);
                }
                Form::Bool => out.extend_from_slice(message_plan::bool_text(self.next_bool()?)),
                Form::Hex => {
                    message_plan::push_hex(out, conversion, self.next_integer()? as u64);
                }
                Form::Fixed(precision) => {
                    message_plan::push_fixed(out, conversion, precision, self.next_float()?);
                }
                Form::Other => {
                    let value = self.next(conversion.verb.kind())?;
                    message_plan::push_value(out, (conversion, form), value, is_unsigned)?;
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
pub(crate) struct Prepared<'a, T> {
    /// Those with several messages, or none, too.
    all: Vec<Option<(&'a Message, T)>>,
    /// Indices.
    by_id: HashMap<u64, u32>,
    /// Ids that were asked for last, with their indices, each at a place that it chooses.
    recent: [(u64, u32); RECENT],
}

/// A power of two. Programs have more messages, but log few of them often.
const RECENT: usize = 64;

impl<T> Default for Prepared<'_, T> {
    fn default() -> Self {
        Self { all: Vec::new(), by_id: HashMap::default(), recent: [(0, u32::MAX); RECENT] }
    }
}

impl<'a, T> Prepared<'a, T> {
    /// The message with this id, unless there are none or several. `prepare` is called once for
    /// each.
    #[inline]
    pub(crate) fn get(
        &mut self,
        dictionary: &'a Dictionary,
        id: u64,
        prepare: impl FnOnce(&'a Message) -> T,
    ) -> Option<(&'a Message, &T)> {
        let place = id as usize % RECENT;
        if self.recent[place].0 != id || self.recent[place].1 == u32::MAX {
            self.recent[place] = (id, self.find(dictionary, id, prepare));
        }
        let known = self.all.get(self.recent[place].1 as usize)?;
        known.as_ref().map(|(message, prepared)| (*message, prepared))
    }

    fn find(
        &mut self,
        dictionary: &'a Dictionary,
        id: u64,
        prepare: impl FnOnce(&'a Message) -> T,
    ) -> u32 {
        *self.by_id.entry(id).or_insert_with(|| {
            let message = dictionary.message(id).filter(|_| dictionary.others(id).is_empty());
            self.all.push(message.map(|message| (message, prepare(message))));
            self.all.len() as u32 - 1
        })
    }
}
