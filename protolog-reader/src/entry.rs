//! One entry: a message that was logged, with its values.

use std::fmt;

use protolog_core::{Arg, Level, ParamKind};
use protozero::Reader;

use crate::collect::{MISSING_TEXT, Record};
use crate::dictionary::{Group, Message};
use crate::log::Log;
use crate::render::{self, Rendering};
use crate::thread::Thread;
use crate::values::{self, RawValue};

/// Stands for a text that was never defined.
const MISSING_STRING: &str = "[MISSING_STRING]";

/// A message that was logged.
#[derive(Clone, Copy)]
pub struct Entry<'a> {
    log: &'a Log,
    record: &'a Record,
}

/// The values of an entry, and the message that they belong to.
#[derive(Clone, Debug)]
pub struct Values<'a> {
    pub(crate) message_id: u64,
    pub(crate) message: Option<&'a Message>,
    /// In the order of the wire.
    pub(crate) args: Vec<Arg<'a>>,
    /// Bit `i` is set where argument `i` is an unsigned integer, as the dictionary or the message itself says.
    pub(crate) unsigned: u32,
}

impl<'a> Entry<'a> {
    pub(crate) fn new(log: &'a Log, record: &'a Record) -> Self {
        Self { log, record }
    }

    /// When: nanoseconds of the trace's clock.
    pub fn time(&self) -> i64 {
        self.record.moment.ns
    }

    /// Whether [`time`](Self::time) is a guess from the packets around, since the packet has no timestamp of its own that
    /// can be understood.
    pub fn time_is_guess(&self) -> bool {
        self.record.moment.guessed
    }

    /// When: nanoseconds since 1970 (UTC), where the trace relates its clock to the wall clock.
    pub fn wall_time(&self) -> Option<i64> {
        self.log.wall_time(self.time())
    }

    /// Who.
    pub fn thread(&self) -> &'a Thread {
        self.log.thread(self.record.thread)
    }

    /// The name of the process.
    pub fn process_name(&self) -> Option<&'a str> {
        self.log.process_name(self.thread().pid?)
    }

    /// What: the message's id, 0 where it has none.
    pub fn message_id(&self) -> u64 {
        self.counts().0
    }

    /// What: the message in the dictionary.
    pub fn message(&self) -> Option<&'a Message> {
        self.log.dictionary().message(self.message_id())
    }

    /// The stack trace that was logged with the message.
    pub fn stack_trace(&self) -> Option<&'a str> {
        match self.record.stack_trace {
            MISSING_TEXT => Some(MISSING_STRING),
            index => self.log.stack_trace(index),
        }
    }

    /// The message with its values: all that takes reading it. Whoever needs several of these asks once.
    pub fn values(&self) -> Values<'a> {
        let mut strings = self.log.strings_from(self.record.strings).iter();
        let mut values = Values { message_id: 0, message: None, args: Vec::new(), unsigned: 0 };
        self.for_each(|value| match value {
            RawValue::MessageId(id) => values.message_id = id,
            RawValue::Int(value) => values.args.push(Arg::Int(value)),
            RawValue::Float(value) => values.args.push(Arg::Float(value)),
            RawValue::Bool(value) => values.args.push(Arg::Bool(value)),
            RawValue::String(_) => {
                let text = strings.next().and_then(|index| self.log.interned(*index));
                values.args.push(Arg::Str(text.unwrap_or(MISSING_STRING)));
            }
            RawValue::Unsigned(bits) => values.unsigned |= bits,
            RawValue::StackTrace(_) => {}
        });
        values.find_message(self.log);
        values
    }

    /// The message's id, and how many values of each kind it has.
    pub(crate) fn counts(&self) -> (u64, [usize; 4]) {
        let (mut id, mut counts) = (0, [0; 4]);
        self.for_each(|value| match value {
            RawValue::MessageId(message) => id = message,
            RawValue::String(_) => counts[ParamKind::Str as usize] += 1,
            RawValue::Int(_) => counts[ParamKind::Int as usize] += 1,
            RawValue::Float(_) => counts[ParamKind::Float as usize] += 1,
            RawValue::Bool(_) => counts[ParamKind::Bool as usize] += 1,
            RawValue::Unsigned(_) | RawValue::StackTrace(_) => {}
        });
        (id, counts)
    }

    fn for_each(&self, each: impl FnMut(RawValue)) {
        let span = self.record.message;
        let fields = Reader::with_offset(self.log.blocks().bytes(span), span.at);
        let done = values::for_each(fields, each);
        debug_assert!(done.is_ok(), "the message was read before");
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

impl<'a> Values<'a> {
    fn find_message(&mut self, log: &'a Log) {
        self.message = log.dictionary().message(self.message_id);
        match self.message {
            Some(message) => self.unsigned |= message.unsigned,
            // Without a template, values are shown as they came.
            None => {
                for (arg, index) in self.args.iter_mut().zip(0..) {
                    if render::is_set(self.unsigned, index) {
                        *arg = render::as_unsigned(*arg);
                    }
                }
            }
        }
    }

    /// The message's id, 0 where it has none.
    pub fn message_id(&self) -> u64 {
        self.message_id
    }

    /// The message in the dictionary.
    pub fn message(&self) -> Option<&'a Message> {
        self.message
    }

    /// The level, where the dictionary knows it.
    pub fn level(&self) -> Option<Level> {
        self.message?.level
    }

    /// The group, in the dictionary of `log`.
    pub fn group(&self, log: &'a Log) -> Option<&'a Group> {
        log.dictionary().group(self.message?.group)
    }

    /// The values in the order of the template's conversions; in that of the wire, where there is no template. Those that
    /// the template has no place for come last.
    pub fn args(&self) -> Vec<Arg<'a>> {
        render::in_order(self)
    }

    /// Writes the text. A message that is in no dictionary becomes `#<id in hexadecimal> (<values>)`.
    pub fn write(&self, out: &mut dyn fmt::Write, rendering: Rendering) -> fmt::Result {
        render::write(out, rendering, self)
    }

    /// The text.
    pub fn text(&self, rendering: Rendering) -> String {
        let mut text = String::new();
        self.write(&mut text, rendering).expect("a string takes every write");
        text
    }
}
