//! The records of messages: where the bytes of each are, and which strings they refer to.
//!
//! The usual message is taken in one pass, with the plan that the dictionary has for it; any other
//! is read field by field.
//!
//! Invariant: a message that is damaged has a record, too, with the values before the damage.

use protolog_core::ParamKind;
use protozero::{DecodeError, Reader};

use super::text_budget::take_template;
use super::{Collected, MessageRecord, NO_STRING, Pass, UNDEFINED_STRING};
use crate::bytes::blocks::Span;
use crate::clocks::Moment;
use crate::decode::value_fit::count_values;
use crate::packets::message_fields::{self, MessageField};
use crate::sequences::sequence_state::SequenceState;

impl Collected {
    /// Notes the time of a message.
    #[inline]
    fn survey_message(&mut self, sequence: &SequenceState, moment: Moment) {
        self.segment.add(moment);
        if let Some(inputs) = &mut self.inputs {
            inputs.note_time(self.threads.get(sequence.thread), moment);
        }
        self.order.need_state(self.segment.index, sequence.begun_in);
        // The guess rests on the packets read before.
        if moment.guessed {
            self.order.keep_order_of_file();
        }
    }

    /// Keeps a record of a message, which has this address, if it has just the values that its
    /// template takes; none if it may be another one.
    #[inline]
    pub(super) fn usual_message(
        &mut self,
        sequence: &SequenceState,
        (at, bytes): (u64, &[u8]),
        moment: Moment,
    ) -> Option<()> {
        let (fits, refs) = (&mut self.fits, &mut self.string_refs);
        let first = refs.len();
        if !fits.take_usual(&self.dictionary, &sequence.strings, bytes, refs) {
            refs.truncate(first);
            return None;
        }
        let stack_trace = self.take_texts(first, NO_STRING);
        self.records.push(MessageRecord {
            moment,
            message: Span { at, len: bytes.len() as u32 },
            strings: first as u32,
            segment: self.segment.index,
            stack_trace,
            thread: sequence.thread,
        });
        Some(())
    }

    /// Applies a message: notes its time in a survey, else keeps a record of it with the strings
    /// that it refers to.
    pub(super) fn message(
        &mut self,
        sequence: &SequenceState,
        fields: Reader<'_>,
        moment: Moment,
    ) -> Result<(), DecodeError> {
        if self.pass == Pass::Survey {
            self.survey_message(sequence, moment);
        }
        if self.pass == Pass::Survey
            || self.is_skipping
            || !self.choice.admits(moment.ns, sequence.thread)
        {
            return Ok(());
        }
        self.has_guesses |= moment.guessed;
        // A run of plain messages goes on with the request of its first one.
        self.requests.note(fields.offset(), sequence.request);
        let message = Span { at: fields.offset(), len: fields.rest().len() as u32 };
        let bytes = fields.rest();
        if self.pass == Pass::Entries
            && self.usual_message(sequence, (message.at, bytes), moment).is_some()
        {
            return Ok(());
        }
        let strings = self.string_refs.len() as u32;
        let (thread, segment) = (sequence.thread, self.segment.index);
        let record =
            |stack_trace| MessageRecord { moment, message, strings, segment, stack_trace, thread };
        let (mut stack_trace, mut missing) = (NO_STRING, 0);
        let mut index_of = |known: Option<u32>| {
            missing += u64::from(known.is_none());
            known.unwrap_or(UNDEFINED_STRING)
        };
        let (mut id, mut counts) = (0, [0; 4]);
        let done = message_fields::visit(fields, |value| match value {
            MessageField::MessageId(message) => id = message,
            MessageField::String(iid) => {
                counts[ParamKind::Str as usize] += 1;
                self.string_refs.push(index_of(sequence.strings.get(iid)));
            }
            MessageField::Int(_) => counts[ParamKind::Int as usize] += 1,
            MessageField::Float(_) => counts[ParamKind::Float as usize] += 1,
            MessageField::Bool(_) => counts[ParamKind::Bool as usize] += 1,
            MessageField::StackTrace(iid) => stack_trace = index_of(sequence.stack_traces.get(iid)),
            MessageField::Unsigned(_)
            | MessageField::RateOf(_)
            | MessageField::RateKept(_)
            | MessageField::RateBy(_) => {}
        });
        // Otherwise the dictionary may not be whole yet.
        if self.pass == Pass::Entries {
            let origin = self.threads.get(thread).origin;
            count_values(&mut self.stats, &self.dictionary, (id, origin), counts);
        }
        // Of a damaged message, the values before the damage are shown.
        self.stats.missing_strings += missing;
        stack_trace = self.take_texts(strings as usize, stack_trace);
        if self.pass == Pass::Entries {
            let budget = (&mut self.texts, &mut self.stats);
            stack_trace = take_template(&self.dictionary, id, stack_trace, budget);
        }
        self.records.push(record(stack_trace));
        done
    }
}
