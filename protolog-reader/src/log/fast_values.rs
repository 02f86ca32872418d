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
use crate::dictionary::{Dictionary, Message};
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

    /// The bits of the next value, if it is of this kind, and no string.
    #[inline]
    pub(crate) fn next_number(&mut self, kind: ParamKind) -> Option<u64> {
        match kind {
            ParamKind::Str => None,
            ParamKind::Int => self.next_integer().map(|value| value as u64),
            ParamKind::Float => self.next_float().map(f64::to_bits),
            ParamKind::Bool => self.next_varint(message_fields::BOOL).map(|value| value.min(1)),
        }
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
    fn next_float(&mut self) -> Option<f64> {
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

    /// Returns whether no value is left over.
    pub(crate) fn are_done(&self) -> bool {
        self.rest.is_empty()
    }
}

/// Messages of the dictionary by id, each with what a writer prepares for all of its entries.
#[derive(Debug)]
pub(crate) struct Prepared<T> {
    /// Those with several messages, or none, too.
    all: Vec<Option<T>>,
    /// Indices.
    by_id: HashMap<u64, u32>,
    /// Ids that were asked for last, with their indices, each at a place that it chooses.
    recent: [(u64, u32); RECENT],
}

/// A power of two. Programs have more messages, but log few of them often.
const RECENT: usize = 64;

impl<T> Default for Prepared<T> {
    fn default() -> Self {
        // No id is asked for at another place than its own.
        let recent = std::array::from_fn(|place| (place as u64 + 1, u32::MAX));
        Self { all: Vec::new(), by_id: HashMap::default(), recent }
    }
}

impl<T> Prepared<T> {
    /// Returns what is prepared for the message with this id, unless there are none or several, or
    /// there is nothing to prepare. `prepare` is called once for each.
    #[inline]
    pub(crate) fn get(
        &mut self,
        dictionary: &Dictionary,
        id: u64,
        prepare: impl FnOnce(&Message) -> Option<T>,
    ) -> Option<&T> {
        let place = id as usize % RECENT;
        if self.recent[place].0 != id {
            self.recent[place] = (id, self.find(dictionary, id, prepare));
        }
        self.all.get(self.recent[place].1 as usize)?.as_ref()
    }

    #[cold]
    fn find(
        &mut self,
        dictionary: &Dictionary,
        id: u64,
        prepare: impl FnOnce(&Message) -> Option<T>,
    ) -> u32 {
        *self.by_id.entry(id).or_insert_with(|| {
            let message = dictionary.message(id).filter(|_| dictionary.others(id).is_empty());
            self.all.push(message.and_then(prepare));
            self.all.len() as u32 - 1
        })
    }
}
