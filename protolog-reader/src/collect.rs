//! What the packets say, kept for the entries that will be made of it.
//!
//! A record is a reference to a message's bytes, with the time and the texts that its sequence's state gives it at that
//! moment. The dictionary and the relations of clocks may come at any place of a trace, so they are applied when all is
//! read (`log.rs`).
//!
//! Within a packet the order is: loss, clear, defaults, interned texts, clock snapshot, thread, timestamp, message.

use std::collections::HashMap;

use protolog_core::schema::{interned_data, packet as number};
use protozero::{DecodeError, Field};

use crate::LossReason;
use crate::blocks::{Blocks, Span};
use crate::clock::relations::Relations;
use crate::clock::{
    ClockSnapshot, CustomClocks, Moment, TRACE_CLOCK, default_clock, is_of_sequence,
};
use crate::dictionary::Dictionary;
use crate::loss::{self, Losses};
use crate::message_fields::{self, MessageField};
use crate::packet::Packet;
use crate::sequence::SequenceState;
use crate::stats::{self, ServiceLosses, Stats};
use crate::thread::{self, Source, Threads};

/// Stands for a text that the message does not name.
pub(crate) const NO_TEXT: u32 = u32::MAX;
/// Stands for a text that was never defined.
pub(crate) const MISSING_TEXT: u32 = u32::MAX - 1;

/// A message as it was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MessageRecord {
    pub(crate) moment: Moment,
    /// The bytes of the `ProtoLogMessage`.
    pub(crate) message: Span,
    /// Where its strings start in `Collected::strings`.
    pub(crate) strings: usize,
    /// Index of a text, [`MISSING_TEXT`] or [`NO_TEXT`].
    pub(crate) stack_trace: u32,
    pub(crate) thread: u32,
}

/// All that the packets say.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    pub(crate) blocks: Blocks,
    pub(crate) records: Vec<MessageRecord>,
    /// Indices into `texts`, in the order in which the messages name them.
    pub(crate) strings: Vec<u32>,
    pub(crate) texts: Vec<Span>,
    pub(crate) threads: Threads,
    /// Names of processes by pid.
    pub(crate) processes: HashMap<u32, String>,
    pub(crate) dictionary: Dictionary,
    pub(crate) relations: Relations,
    pub(crate) losses: Losses,
    pub(crate) stats: Stats,
    shared_clocks: CustomClocks,
    /// The largest time so far.
    latest: Option<Moment>,
    /// The loss that counts packets that can't be decoded, while they follow each other.
    malformed: Option<u32>,
    good_packets: u64,
}

impl Collected {
    /// Applies a packet. After an error, what came before it in the order of the module's doc holds.
    pub(crate) fn apply(
        &mut self,
        sequence: &mut SequenceState,
        packet: &Packet<'_>,
        field: Field<'_>,
    ) -> Result<(), DecodeError> {
        // The service also sets the flag where it can't know, on the first packet that a writer ever wrote.
        let lost = packet.dropped && (sequence.started || !packet.first_on_sequence);
        sequence.started = true;
        if lost {
            sequence.lose();
        }
        if packet.cleared {
            sequence.clear();
        }
        if let Some(defaults) = packet.defaults {
            sequence.default_clock = default_clock(defaults)?;
        }
        if let Some(interned) = packet.interned {
            self.intern(sequence, interned)?;
        }
        let read = match packet.snapshot {
            Some(snapshot) => self.snapshot(sequence, snapshot)?,
            None => None,
        };
        self.identify(sequence, packet)?;
        let moment = self.moment(sequence, packet);
        if lost || packet.has_losses {
            let moment = read.filter(|_| moment.guessed).unwrap_or(moment);
            self.lose(sequence, field, lost, moment)?;
        }
        self.describe(packet)?;
        match packet.message {
            Some(_) if packet.needs_state && !sequence.valid => {
                let run = &mut sequence.stateless;
                self.losses.count(run, LossReason::MissingState, sequence.thread, moment);
                Ok(())
            }
            Some(message) => self.message(sequence, message, moment),
            None => Ok(()),
        }
    }

    /// The packet before was in order.
    pub(crate) fn well_formed(&mut self) {
        self.malformed = None;
        self.good_packets += 1;
    }

    /// Counts a packet that can't be decoded.
    pub(crate) fn malformed(&mut self) {
        let moment = self.latest.unwrap_or(UNKNOWN_MOMENT).guess();
        self.losses.count(&mut self.malformed, LossReason::Malformed, thread::UNKNOWN, moment);
    }

    /// Whether there was a packet that could be decoded.
    pub(crate) fn has_good_packets(&self) -> bool {
        self.good_packets > 0
    }

    fn intern(
        &mut self,
        sequence: &mut SequenceState,
        interned: Field<'_>,
    ) -> Result<(), DecodeError> {
        if !sequence.valid {
            return Ok(());
        }
        for field in interned.as_message()? {
            let field = field?;
            let table = match field.number {
                interned_data::PROTOLOG_STRING_ARGS => &mut sequence.strings,
                interned_data::PROTOLOG_STACKTRACE => &mut sequence.stack_traces,
                _ => continue,
            };
            let consistent = table.define(field, &mut self.texts, &mut self.blocks)?;
            self.stats.redefined_strings += u64::from(!consistent);
        }
        Ok(())
    }

    /// Takes over a clock snapshot. Gives its moment.
    fn snapshot(
        &mut self,
        sequence: &mut SequenceState,
        field: Field<'_>,
    ) -> Result<Option<Moment>, DecodeError> {
        let snapshot = ClockSnapshot::parse(field)?;
        self.stats.ignored_clocks += snapshot.ignored;
        self.relations.add(snapshot.shared(), snapshot.primary);
        let moment = snapshot.moment(self.relations.primary());
        snapshot.define(moment, &mut sequence.clocks, &mut self.shared_clocks);
        if let Some(moment) = moment {
            self.note_time(sequence, moment);
        }
        Ok(moment)
    }

    fn identify(
        &mut self,
        sequence: &mut SequenceState,
        packet: &Packet<'_>,
    ) -> Result<(), DecodeError> {
        if let (Some(pid), true) = (packet.trusted_pid, sequence.thread_source <= Source::Service) {
            let thread = thread::Thread { pid: Some(pid), ..thread::Thread::default() };
            sequence.set_thread(Source::Service, thread, &mut self.threads);
        }
        if let Some(descriptor) = packet.thread {
            let thread = thread::parse_descriptor(descriptor)?;
            sequence.set_thread(Source::Descriptor, thread, &mut self.threads);
        }
        if let Some(info) = packet.sequence_info {
            let thread = thread::parse_sequence_info(info)?;
            sequence.set_thread(Source::Sequence, thread, &mut self.threads);
        }
        Ok(())
    }

    /// The time of a packet; a guess where it has none that can be understood.
    fn moment(&mut self, sequence: &mut SequenceState, packet: &Packet<'_>) -> Moment {
        let clock = match packet.clock {
            TRACE_CLOCK => sequence.default_clock.unwrap_or(TRACE_CLOCK),
            clock => clock,
        };
        let moment = packet.timestamp.and_then(|ticks| {
            if is_of_sequence(clock) {
                sequence.clocks.moment(clock, ticks)
            } else {
                self.shared_clocks.shared_moment(clock, ticks)
            }
        });
        match moment {
            Some(moment) => {
                self.note_time(sequence, moment);
                moment
            }
            None => sequence.last.or(self.latest).unwrap_or(UNKNOWN_MOMENT).guess(),
        }
    }

    fn note_time(&mut self, sequence: &mut SequenceState, moment: Moment) {
        sequence.last = Some(moment);
        if self.latest.is_none_or(|latest| latest.ns <= moment.ns) {
            self.latest = Some(moment);
        }
    }

    /// Notes the losses before this packet: those that the writer recorded, else that there was one.
    fn lose(
        &mut self,
        sequence: &SequenceState,
        packet: Field<'_>,
        lost: bool,
        moment: Moment,
    ) -> Result<(), DecodeError> {
        let mut explained = false;
        for field in packet.as_message()? {
            let field = field?;
            if field.number == number::LOSS {
                let record = loss::LossRecord::parse(field)?;
                explained |= self.losses.recorded(&record, sequence.thread, moment);
            }
        }
        if lost && !explained {
            self.losses.dropped(sequence.thread, moment);
        }
        Ok(())
    }

    /// What a packet says of the whole trace.
    fn describe(&mut self, packet: &Packet<'_>) -> Result<(), DecodeError> {
        if let Some(viewer_config) = packet.viewer_config {
            self.dictionary.add_packet(viewer_config)?;
        }
        if let Some(process) = packet.process {
            let (pid, name) = thread::parse_process(process)?;
            self.processes.insert(pid, name);
        }
        if let Some(stats) = packet.trace_stats {
            match stats::parse_buffer_stats(stats)? {
                Some(buffer) => self.stats.buffer = Some(buffer),
                None => self.stats.service = ServiceLosses::parse(stats)?,
            }
        }
        Ok(())
    }

    fn message(
        &mut self,
        sequence: &SequenceState,
        message: Field<'_>,
        moment: Moment,
    ) -> Result<(), DecodeError> {
        let fields = message.as_message()?;
        let span = Span { at: fields.offset(), len: message.as_bytes()?.len() as u32 };
        let strings = self.strings.len();
        let (mut stack_trace, mut missing) = (NO_TEXT, 0);
        let mut text = |known: Option<u32>| {
            missing += u64::from(known.is_none());
            known.unwrap_or(MISSING_TEXT)
        };
        let done = message_fields::visit(fields, |value| match value {
            MessageField::String(iid) => self.strings.push(text(sequence.strings.get(iid))),
            MessageField::StackTrace(iid) => stack_trace = text(sequence.stack_traces.get(iid)),
            _ => {}
        });
        if done.is_err() {
            self.strings.truncate(strings);
            return done;
        }
        self.stats.missing_strings += missing;
        let thread = sequence.thread;
        self.records.push(MessageRecord { moment, message: span, strings, stack_trace, thread });
        Ok(())
    }
}

/// Where nothing is known of time.
const UNKNOWN_MOMENT: Moment = Moment { ns: 0, clock: TRACE_CLOCK, guessed: true };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_small() {
        assert_eq!(size_of::<MessageRecord>(), 48, "as the documentation of `Limits` says");
    }
}
