//! One entry: a logged message with its time, its thread and its values.

use std::fmt;

use protolog_core::control::rate::Rate;
use protolog_core::randomness::randomness;
use protolog_core::volume::Volume;
use protolog_core::{Arg, ParamKind};
use protozero::Reader;

use crate::decode::collect::{CUT_STRING, CUT_TEMPLATE, MessageRecord, UNDEFINED_STRING};
use crate::dictionary::Message;
use crate::dictionary::collision;
use crate::log::Log;
use crate::log::fast_values::{BlockHints, FastValues};
use crate::log::render;
use crate::log::values::{CUT_TEXT, Values};
use crate::packets::message_fields::{self, MessageField};
use crate::sequences::thread::Thread;
use crate::spans::around::SpanAround;

/// Placeholder for a string that was never defined.
const MISSING_STRING: &str = "[MISSING_STRING]";

/// A message that was logged.
#[derive(Clone, Copy)]
pub struct Entry<'a> {
    log: &'a Log,
    record: &'a MessageRecord,
}

impl<'a> Entry<'a> {
    pub(crate) fn new(log: &'a Log, record: &'a MessageRecord) -> Self {
        Self { log, record }
    }

    /// The time, in nanoseconds of the trace's clock.
    pub fn time(&self) -> i64 {
        self.record.moment.ns
    }

    /// True if [`time`](Self::time) is a guess from neighbouring packets, because the packet has no
    /// usable timestamp.
    pub fn time_is_guess(&self) -> bool {
        self.record.moment.guessed
    }

    /// The wall clock, in nanoseconds since 1970 (UTC); none if the trace does not relate its clock
    /// to it.
    pub fn wall_time(&self) -> Option<i64> {
        self.log.wall_time(self.time())
    }

    /// The thread that logged.
    pub fn thread(&self) -> &'a Thread {
        self.log.thread(self.record.thread)
    }

    /// The spans that the message was logged in, the outermost first, if the trace was read with
    /// spans.
    pub fn spans(&self) -> Vec<SpanAround<'a>> {
        self.log.spans_at(self.record.thread, self.time())
    }

    /// The id of the request that it belongs to, if its thread was in one.
    #[inline]
    pub fn request(&self) -> Option<&'a str> {
        self.log.request_at(self.record.message.at)
    }

    pub(crate) fn thread_index(&self) -> u32 {
        self.record.thread
    }

    /// The name of the thread's process.
    pub fn process_name(&self) -> Option<&'a str> {
        self.log.process_name(self.thread())
    }

    /// The message's id; 0 if it has none.
    pub fn message_id(&self) -> u64 {
        message_fields::message_id(self.fields())
    }

    /// The rate at which it was sampled: it stands for [`Rate::weight`] messages. None if every
    /// message was kept.
    pub fn rate(&self) -> Option<Rate> {
        // As nearly all messages are.
        let bytes = self.log.blocks().bytes(self.record.message);
        if message_fields::outline(bytes, |_| {}).is_some() {
            return None;
        }
        let (mut kept, mut of, mut by) = (1, None, None);
        self.visit_fields(|field| match field {
            MessageField::RateOf(number) => of = Some(number),
            MessageField::RateKept(number) => kept = number,
            MessageField::RateBy(number) => by = Some(number),
            _ => {}
        });
        let rate = Rate::new(kept, of?)?;
        by.map_or(Some(rate), |by| rate.by_argument(u8::try_from(by).ok()?))
    }

    /// The randomness of the argument by which it was kept, which messages have in common that were
    /// kept together. None where its value is not known, and of one that was kept for itself.
    pub fn randomness(&self) -> Option<u64> {
        let by = self.rate()?.by()?;
        let values = self.values();
        let is_known = |arg: &Arg<'_>| !matches!(arg, Arg::Str(MISSING_STRING | CUT_TEXT));
        values.argument(by.into()).filter(is_known).map(randomness)
    }

    /// The size of the message in the trace, in bytes, without its packet's timestamp and without
    /// its strings.
    pub fn encoded_size(&self) -> usize {
        self.log.blocks().bytes(self.record.message).len()
    }

    /// The size of the message with its texts, in bytes, as programs sample bytes by: that of its
    /// packet where each text is new ([`protolog_core::volume`]).
    pub fn volume(&self) -> u64 {
        let mut volume = Volume::new();
        self.values().args().into_iter().for_each(|arg| volume.add(arg));
        volume.bytes()
    }

    /// The message in the dictionary.
    pub fn message(&self) -> Option<&'a Message> {
        let origin = self.thread().origin;
        collision::choose(self.log.dictionary(), self.message_id(), origin, || self.counts().1)
    }

    /// The stack trace that was logged with the message.
    pub fn stack_trace(&self) -> Option<&'a str> {
        match self.record.stack_trace {
            UNDEFINED_STRING => Some(MISSING_STRING),
            CUT_STRING => Some(CUT_TEXT),
            index => self.log.stack_trace(index),
        }
    }

    /// Decodes the message with its values. Call it once and reuse the result.
    pub fn values(&self) -> Values<'a> {
        let mut strings = self.log.strings_from(self.record.strings as usize).iter();
        let is_cut = self.record.stack_trace == CUT_TEMPLATE;
        let mut values = Values { is_cut, ..Values::default() };
        self.visit_fields(|value| match value {
            MessageField::MessageId(id) => values.message_id = id,
            MessageField::Int(value) => values.args.push(Arg::Int(value)),
            MessageField::Float(value) => values.args.push(Arg::Float(value)),
            MessageField::Bool(value) => values.args.push(Arg::Bool(value)),
            MessageField::String(_) => {
                let index = strings.next().copied().unwrap_or(UNDEFINED_STRING);
                let mark = if index == CUT_STRING { CUT_TEXT } else { MISSING_STRING };
                values.args.push(Arg::Str(self.log.interned(index).unwrap_or(mark)));
            }
            MessageField::Unsigned(bits) => values.unsigned |= bits,
            MessageField::StackTrace(_)
            | MessageField::RateOf(_)
            | MessageField::RateKept(_)
            | MessageField::RateBy(_) => {}
        });
        let (dictionary, id) = (self.log.dictionary(), values.message_id);
        let counts = || render::counts(&values.args);
        let chosen = collision::choose_or_guess(dictionary, id, self.thread().origin, counts);
        values.is_guess = chosen.is_some_and(|(_, is_guess)| is_guess);
        values.resolve(chosen.map(|(message, _)| message));
        values
    }

    /// The message's id, and its values in the usual form.
    #[expect(
        clippy::inline_always,
        reason = "its result would be written and read again for each line, 2 % of the time"
    )]
    #[inline(always)]
    pub(crate) fn fast_values<'p>(
        &self,
        hints: &'p mut BlockHints,
    ) -> Option<(u64, FastValues<'a, 'p>)> {
        FastValues::of(self.log, self.record, hints)
    }

    /// The message's id, and its number of values of each kind.
    pub(crate) fn counts(&self) -> (u64, [usize; 4]) {
        let (mut id, mut counts) = (0, [0; 4]);
        self.visit_fields(|value| match value {
            MessageField::MessageId(message) => id = message,
            MessageField::String(_) => counts[ParamKind::Str as usize] += 1,
            MessageField::Int(_) => counts[ParamKind::Int as usize] += 1,
            MessageField::Float(_) => counts[ParamKind::Float as usize] += 1,
            MessageField::Bool(_) => counts[ParamKind::Bool as usize] += 1,
            MessageField::Unsigned(_)
            | MessageField::StackTrace(_)
            | MessageField::RateOf(_)
            | MessageField::RateKept(_)
            | MessageField::RateBy(_) => {}
        });
        (id, counts)
    }

    fn visit_fields(&self, visitor: impl FnMut(MessageField)) {
        // A damaged message was counted when it was read; it is shown as far as it goes.
        let _ = message_fields::visit(self.fields(), visitor);
    }

    fn fields(&self) -> Reader<'a> {
        let span = self.record.message;
        Reader::with_offset(self.log.blocks().bytes(span), span.at)
    }
}

impl fmt::Debug for Entry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("time", &self.time())
            .field("thread", self.thread())
            .field("values", &self.values())
            .finish_non_exhaustive()
    }
}
