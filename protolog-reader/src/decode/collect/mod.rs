//! The contents of the packets, collected for the entries of the log.
//!
//! A record refers to a message's bytes, with the time and the strings that the state of its
//! sequence gives it. The dictionary and the relations of clocks may come anywhere in a trace, so
//! they are applied after the last packet (`log.rs`).
//!
//! A packet is applied in this order: loss, clear, defaults, interned strings, clock snapshot,
//! request, thread, timestamp, message.

mod message_records;
pub(crate) mod plain_run;
mod segment_bounds;
mod table_sizes;
pub(crate) mod text_budget;
mod trace_wide;

use std::collections::BTreeSet;
use std::mem;
use std::sync::Arc;

use foldhash::HashMap;

use protolog_core::schema::{interned_data, packet as number};
use protozero::{DecodeError, Field, Reader};

use crate::bytes::blocks::{Blocks, Span};
use crate::clocks::relations::Relations;
use crate::clocks::{
    ClockSnapshot, CustomClocks, Moment, TRACE_CLOCK, default_clock, is_of_sequence,
};
use crate::decode::entry_choice::Choice;
use crate::decode::plain_message::PlainMessage;
use crate::decode::segment::Segment;
use crate::decode::segment_order::SegmentOrder;
use crate::decode::value_fit::KnownFits;
use crate::dictionary::Dictionary;
use crate::inputs::conflicts::Inputs;
use crate::losses::loss::LossReason;
use crate::losses::loss::{self, Losses};
use crate::losses::passed_over::{self, PassedOverCounts};
use crate::losses::stats::Stats;
use crate::packets::trace_packet::Packet;
use crate::sequences::requests::{NO_REQUEST, Requests};
use crate::sequences::sequence_state::{SequenceState, parse_interned, usual_string_arg};
use crate::sequences::sessions::Sessions;
use crate::sequences::thread::{self, Source, Threads};
use crate::spans::slices::SliceEvents;
use text_budget::TextBudget;

/// Index for "no string".
pub(crate) const NO_STRING: u32 = u32::MAX;
/// Index of a string that was never defined.
pub(crate) const UNDEFINED_STRING: u32 = u32::MAX - 1;
/// Index of a text that is left out, since it does not fit its budget.
pub(crate) const CUT_STRING: u32 = u32::MAX - 2;
/// In place of a stack trace: the message's template does not fit the budget of texts.
pub(crate) const CUT_TEMPLATE: u32 = u32::MAX - 3;

/// A message as it was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MessageRecord {
    pub(crate) moment: Moment,
    /// The bytes of the `ProtoLogMessage`.
    pub(crate) message: Span,
    /// Index of its first string in `Collected::string_refs`.
    pub(crate) strings: u32,
    /// The segment that it is in, if the trace is read by segments: of one time, the first in the
    /// file comes first.
    pub(crate) segment: u32,
    /// Index into `Collected::strings`, or one of the indices above, [`NO_STRING`] if there is
    /// none.
    pub(crate) stack_trace: u32,
    pub(crate) thread: u32,
}

/// The parts of the contents that are collected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Pass {
    /// All.
    #[default]
    Whole,
    /// All but entries and their strings: of the former, only when they were logged.
    Survey,
    /// Entries and their strings, with the results of an earlier survey of the same trace.
    Entries,
}

/// The contents of all packets.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    pub(crate) pass: Pass,
    /// Entries are left out: only the state of sequences is wanted.
    pub(crate) is_skipping: bool,
    /// The entries that are wanted of a page; all others are left out before their values are
    /// looked at.
    pub(crate) choice: Choice,
    /// The segment that is surveyed, those before it, and the order in which they are read.
    pub(crate) segment: Segment,
    pub(crate) segments: Vec<Segment>,
    pub(crate) order: SegmentOrder,
    /// A segment of so many bytes ends before another sequence begins, and a much smaller one
    /// before one that goes on from long ago.
    pub(crate) least_segment: u64,
    /// Where the packet that is applied begins in the file, or the bundle that has it, when
    /// surveyed.
    pub(crate) packet_at: u64,
    /// The same of the last packet with a sequence. A segment can't end within a bundle.
    bound_at: Option<u64>,
    pub(crate) blocks: Blocks,
    pub(crate) records: Vec<MessageRecord>,
    /// Some of them have a guessed time, or had so in an earlier page.
    pub(crate) has_guesses: bool,
    /// Indices into `strings`, in the order of the messages' arguments.
    pub(crate) string_refs: Vec<u32>,
    pub(crate) strings: Vec<Span>,
    /// The budget of the texts that messages name.
    pub(crate) texts: TextBudget,
    pub(crate) threads: Arc<Threads>,
    /// Names of threads by pid and tid, for threads whose sequence names none.
    pub(crate) thread_names: HashMap<(u32, u32), String>,
    /// Names of processes by pid, and by the fingerprint that tells several with one pid apart.
    pub(crate) processes: Arc<HashMap<(u32, Option<u64>), String>>,
    /// The tracks of processes, by the pids of their descriptors.
    pub(crate) process_tracks: Arc<HashMap<u32, u64>>,
    /// Pids of descriptors that stand for others; see `merge/processes_apart.rs`.
    pub(crate) told_apart: Arc<BTreeSet<u32>>,
    pub(crate) dictionary: Arc<Dictionary>,
    pub(crate) relations: Relations,
    pub(crate) losses: Losses,
    pub(crate) passed_over: PassedOverCounts,
    pub(crate) stats: Stats,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) slices: SliceEvents,
    pub(crate) requests: Requests,
    /// Findings about several traces that are surveyed as one.
    pub(crate) inputs: Option<Box<Inputs>>,
    fits: KnownFits,
    shared_clocks: CustomClocks,
    /// The first moment in the file, and the latest one so far.
    pub(crate) first: Option<Moment>,
    latest: Option<Moment>,
    /// The loss that counts a run of packets that can't be decoded.
    malformed: Option<u32>,
    framed_packets: u64,
}

impl Collected {
    /// Applies a packet. Steps that fail are left out, the others are applied; the first error is
    /// returned.
    pub(crate) fn apply(
        &mut self,
        sequence: &mut SequenceState,
        packet: &Packet<'_>,
        field: Field<'_>,
    ) -> Result<(), DecodeError> {
        // The service also sets the flag on the first packet that a writer ever wrote, where it
        // can't know.
        let lost = packet.dropped && (sequence.started || !packet.first_on_sequence);
        sequence.started = true;
        if self.pass == Pass::Survey && packet.has_state() {
            self.bind(sequence);
        }
        if lost {
            sequence.invalidate();
        }
        if packet.cleared {
            sequence.clear();
        }
        let mut done = Ok(());
        if let Some(defaults) = packet.defaults {
            done = default_clock(defaults).map(|clock| sequence.default_clock = clock);
        }
        if let Some(interned) = packet.interned {
            done = done.and(interned.as_message().and_then(|fields| self.intern(sequence, fields)));
        }
        let read = packet.snapshot.map_or(Ok(None), |snapshot| self.snapshot(sequence, snapshot));
        let (read, snapshot) = (read.unwrap_or_default(), read.map(drop));
        done = done.and(snapshot).and(self.identify(sequence, packet));
        let mut moment = self.moment(sequence, packet.timestamp, packet.clock);
        if packet.time_is_guess {
            moment = moment.guess();
        }
        if self.pass == Pass::Entries {
            return match packet.message {
                Some(_) if packet.needs_state && !sequence.valid => done,
                Some(message) => {
                    done.and(message.as_message().and_then(|it| self.message(sequence, it, moment)))
                }
                None => done,
            };
        }
        if packet.begins_anew() {
            sequence.begun_in = self.segment.index;
        }
        let loss_moment = read.filter(|_| moment.guessed).unwrap_or(moment);
        if lost || packet.has_losses {
            done = done.and(self.record_losses(sequence, field, lost, loss_moment));
        }
        if let Some(inputs) = &mut self.inputs {
            let thread = self.threads.get(sequence.thread);
            done = done.and(inputs.note(packet, field, (thread, moment, loss_moment)));
        }
        done = done.and(self.apply_trace_wide(sequence.thread, packet));
        Arc::make_mut(&mut self.sessions).note(packet.sequence, packet);
        if self.slices.are_wanted {
            done = done.and(self.apply_slices(sequence, (packet, field), moment));
        }
        match packet.message {
            Some(_) if packet.needs_state && !sequence.valid => {
                let run = &mut sequence.stateless;
                self.losses.extend_run(run, LossReason::MissingState, sequence.thread, moment);
                done
            }
            Some(message) => {
                done.and(message.as_message().and_then(|it| self.message(sequence, it, moment)))
            }
            None => done,
        }
    }

    /// Applies a plain message that is applicable, whose packet has these bytes at this address.
    /// False if a part of it can't be decoded.
    #[inline]
    pub(crate) fn apply_plain(
        &mut self,
        sequence: &mut SequenceState,
        plain: &PlainMessage,
        (packet, address): (&[u8], u64),
    ) -> bool {
        let fields = |(at, len): (usize, usize)| {
            let bytes = packet.get(at..at + len).unwrap_or_default();
            Reader::with_offset(bytes, address + at as u64)
        };
        if self.pass == Pass::Survey {
            self.bind(sequence);
        }
        let is_interned = match plain.interned {
            Some(interned) if self.pass != Pass::Survey => {
                self.intern(sequence, fields(interned)).is_ok()
            }
            _ => true,
        };
        let moment = self.moment(sequence, plain.timestamp, TRACE_CLOCK);
        let is_taken = self.message(sequence, fields(plain.message), moment).is_ok();
        is_interned && is_taken
    }

    /// Counts a packet that was decoded, which ends a run of malformed ones.
    pub(crate) fn count_good(&mut self) {
        self.malformed = None;
        self.framed_packets += 1;
    }

    /// Counts a packet that can't be decoded, or not in all of its parts, and whether its fields
    /// can be told apart.
    pub(crate) fn count_malformed(&mut self, is_framed: bool) {
        self.framed_packets += u64::from(is_framed);
        let moment = self.latest.or(self.first).unwrap_or(Moment::UNKNOWN).guess();
        self.losses.extend_run(&mut self.malformed, LossReason::Malformed, thread::UNKNOWN, moment);
    }

    /// Goes on from a survey to the entries, from the beginning.
    pub(crate) fn begin_entries(&mut self) {
        self.pass = Pass::Entries;
        self.fits.clear();
        (self.shared_clocks, self.latest, self.malformed) = Default::default();
    }

    /// Takes the parts of the page that was read, with all entries, for a log of its own. Data of
    /// the whole trace is in both. `used` is a page that nobody needs any more, whose memory the
    /// next one takes.
    pub(crate) fn take_page(&mut self, used: Self) -> Self {
        let Self { mut blocks, mut records, mut string_refs, mut strings, .. } = used;
        blocks.clear();
        records.clear();
        string_refs.clear();
        strings.clear();
        let page = Self {
            pass: self.pass,
            blocks: mem::replace(&mut self.blocks, blocks),
            records: mem::replace(&mut self.records, records),
            string_refs: mem::replace(&mut self.string_refs, string_refs),
            strings: mem::replace(&mut self.strings, strings),
            stats: mem::take(&mut self.stats),
            dictionary: Arc::clone(&self.dictionary),
            threads: Arc::clone(&self.threads),
            processes: Arc::clone(&self.processes),
            told_apart: Arc::clone(&self.told_apart),
            sessions: Arc::clone(&self.sessions),
            requests: self.requests.take_page(),
            ..Self::default()
        };
        self.losses.0.clear();
        self.end_malformed_run();
        page
    }

    /// Makes the next malformed packet begin a run of its own.
    pub(crate) fn end_malformed_run(&mut self) {
        self.malformed = None;
    }

    /// True if the fields of a packet can be told apart, whatever is in them. A file without such a
    /// packet is no trace, to a merge as well.
    pub(crate) fn has_framed_packets(&self) -> bool {
        self.framed_packets > 0
    }

    /// Takes the slice events of a packet.
    fn apply_slices(
        &mut self,
        sequence: &SequenceState,
        (packet, field): (&Packet<'_>, Field<'_>),
        moment: Moment,
    ) -> Result<(), DecodeError> {
        let thread = (sequence.thread, self.threads.get(sequence.thread).process);
        let (id, slices) = (packet.sequence, &mut self.slices);
        if packet.cleared {
            slices.clear(id);
        }
        let defaults = packet.defaults.map_or(Ok(()), |it| slices.defaults(id, it));
        let interned = packet.interned.map_or(Ok(()), |it| slices.intern(id, it));
        let event = packet
            .track_event
            .filter(|_| !packet.is_for_ui)
            .map_or(Ok(()), |event| slices.event(id, thread, moment, (event, field)));
        defaults.and(interned).and(event)
    }

    fn intern(
        &mut self,
        sequence: &mut SequenceState,
        mut interned: Reader<'_>,
    ) -> Result<(), DecodeError> {
        if !sequence.valid || self.pass == Pass::Survey {
            return Ok(());
        }
        let mut bytes = interned.rest();
        while let Some((iid, text, rest)) = usual_string_arg(bytes) {
            let at = interned.offset() + (interned.rest().len() - rest.len() - text.len()) as u64;
            let string = (iid, text, at);
            let consistent = sequence.strings.define(string, &mut self.strings, &mut self.blocks);
            self.stats.redefined_strings += u64::from(!consistent);
            bytes = rest;
        }
        interned.advance(interned.rest().len() - bytes.len());
        for field in interned {
            let field = field?;
            let table = match field.number {
                interned_data::PROTOLOG_STRING_ARGS => &mut sequence.strings,
                interned_data::PROTOLOG_STACKTRACE => &mut sequence.stack_traces,
                _ => continue,
            };
            let string = parse_interned(field)?;
            let consistent = table.define(string, &mut self.strings, &mut self.blocks);
            self.stats.redefined_strings += u64::from(!consistent);
        }
        Ok(())
    }

    /// Applies a clock snapshot and returns its moment.
    fn snapshot(
        &mut self,
        sequence: &mut SequenceState,
        field: Field<'_>,
    ) -> Result<Option<Moment>, DecodeError> {
        let snapshot = ClockSnapshot::parse(field)?;
        self.stats.ignored_clocks += snapshot.ignored;
        if self.pass != Pass::Entries {
            self.relations.add(snapshot.shared(), snapshot.primary);
        }
        if let Some(inputs) = &mut self.inputs {
            inputs.note_clocks(&snapshot);
        }
        if self.pass == Pass::Survey && snapshot.has_shared_custom() {
            self.order.keep_order_of_file();
        } else if self.pass == Pass::Survey && snapshot.has_custom() {
            self.bind(sequence);
        }
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
        if let Some(mark) = packet.request {
            // That of messages after a mark that can't be read is not known.
            sequence.request = NO_REQUEST;
            sequence.request = self.requests.index(mark)?;
        }
        let trusted = packet.trusted_pid;
        sequence.trusted_pid = trusted.or(sequence.trusted_pid);
        if trusted.is_some() && sequence.thread_source <= Source::Service {
            let thread = thread::Thread::default().of_service(trusted);
            sequence.set_thread(Source::Service, thread, &mut self.threads);
        }
        if let Some(descriptor) = packet.thread {
            let mut thread = thread::parse_descriptor(descriptor)?;
            thread.pid = packet.local_pid.or(thread.pid);
            let thread = thread.of_service(trusted);
            sequence.set_thread(Source::Descriptor, thread, &mut self.threads);
        }
        if let Some(info) = packet.sequence_info {
            let thread = thread::parse_sequence_info(info)?.of_service(trusted);
            sequence.set_thread(Source::Sequence, thread, &mut self.threads);
        }
        Ok(())
    }

    /// The moment of a packet; a guess if it has no usable timestamp.
    #[inline]
    fn moment(
        &mut self,
        sequence: &mut SequenceState,
        timestamp: Option<u64>,
        clock: u32,
    ) -> Moment {
        let clock = match clock {
            TRACE_CLOCK => sequence.default_clock.unwrap_or(TRACE_CLOCK),
            clock => clock,
        };
        // The default clock may be one that was named in a hole.
        let known = timestamp.filter(|_| clock != TRACE_CLOCK || !sequence.is_torn);
        let moment = known.and_then(|ticks| {
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
            None => {
                let before = sequence.last.or(self.latest);
                before.or(self.first).unwrap_or(Moment::UNKNOWN).guess()
            }
        }
    }

    fn note_time(&mut self, sequence: &mut SequenceState, moment: Moment) {
        sequence.last = Some(moment);
        if self.latest.is_none_or(|latest| latest.ns <= moment.ns) {
            self.first.get_or_insert(moment);
            self.latest = Some(moment);
        }
    }

    /// Records the losses before this packet: those that the writer reported, or else one of
    /// unknown size; and what sampling passed over.
    fn record_losses(
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
                explained |= self.losses.add_reported(&record, sequence.thread, moment);
            } else if field.number == number::PASSED_OVER {
                let (kind, count) = passed_over::parse(field)?;
                let sum = self.stats.passed_over.entry(kind).or_default();
                *sum = sum.saturating_add(count);
                self.passed_over.add(sequence.thread, kind, moment, count);
            }
        }
        if lost && !explained {
            self.losses.add_dropped(sequence.thread, moment);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_small() {
        assert_eq!(size_of::<MessageRecord>(), 48, "as the documentation of `Limits` says");
    }
}
