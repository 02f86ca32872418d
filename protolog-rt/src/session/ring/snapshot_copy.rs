//! The way of a sequence's packets from the ring's chunks into a trace.
//!
//! Invariant: each message of a sequence up to the last one in the trace is in the trace or
//! counted.

use crate::loss::{LossCause, LossCount};
use crate::session::packets::copied::{sequence_id, split};
use crate::session::packets::sequence_state;
use crate::session::stream::drain::PacketSink;
use crate::session::stream::trace::Trace;
use protolog_core::schema::{packet, sequence_info};
use protozero::Reader;

/// Copies a sequence into the trace, and counts its messages.
pub(super) struct SnapshotCopy<'a> {
    trace: &'a mut Trace,
    sequence: u32,
    /// Messages in the trace.
    messages: u64,
    /// Messages in the trace or counted.
    numbered: u64,
}

impl<'a> SnapshotCopy<'a> {
    pub(super) fn new(trace: &'a mut Trace, writer_id: u16) -> Self {
        Self { trace, sequence: sequence_id(writer_id), messages: 0, numbered: 0 }
    }

    fn count(&mut self, messages: u64) {
        self.messages += messages;
        self.numbered += messages;
    }

    /// The numbers of messages in the trace, and in the trace or counted.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.messages, self.numbered)
    }

    /// Counts a message that is left out on purpose.
    pub(super) fn pass_over(&mut self) {
        self.numbered += 1;
    }

    /// Reports the messages that are missing before packets, if they are the first of a chunk.
    pub(super) fn report_missing(&mut self, sized: &[u8]) {
        // The packet that a chunk begins with comes first, or after the end of a packet that came
        // in pieces.
        let Some(begin) = split(sized).and_then(|(first, _)| Begin::read(first)) else { return };
        let missing = begin.number.saturating_sub(self.numbered);
        if missing > 0 {
            let lost = overwritten(missing);
            self.trace.report_gap_of(self.sequence, begin.time, begin.info, lost);
            self.numbered = begin.number;
        }
    }
}

impl PacketSink for SnapshotCopy<'_> {
    fn packet(&mut self, packet: &[u8]) {
        self.trace.note_records(packet);
        let is_message = self.trace.file.copy(self.sequence, packet);
        self.count(is_message as u64);
    }

    fn packets(&mut self, sized: &[u8], count: u16) {
        self.report_missing(sized);
        let mut rest = sized;
        for _ in 0..count {
            let Some((packet, after)) = split(rest) else { break };
            self.trace.note_records(packet);
            rest = after;
        }
        let messages = self.trace.file.packets(self.sequence, sized, count);
        self.count(messages);
    }
}

/// Overwritten messages, of unknown groups.
pub(super) fn overwritten(count: u64) -> LossCount {
    LossCount::new(0, LossCause::Overwritten, count)
}

/// The packet that a chunk begins with, decoded.
pub(super) struct Begin<'a> {
    /// The number of messages that the sequence had before.
    number: u64,
    /// The sequence's clock, in nanoseconds of BOOTTIME.
    pub(super) time: u64,
    /// Process and thread.
    info: &'a [u8],
}

impl<'a> Begin<'a> {
    pub(super) fn read(packet: &'a [u8]) -> Option<Self> {
        let (mut time, mut info) = (None, None);
        for field in Reader::new(packet).map_while(Result::ok) {
            match field.number {
                packet::CLOCK_SNAPSHOT => time = sequence_state::time(field),
                packet::SEQUENCE_INFO => info = field.as_bytes().ok(),
                _ => {}
            }
        }
        let info = info?;
        let mut fields = Reader::new(info).map_while(Result::ok);
        let number = fields.find(|field| field.number == sequence_info::MESSAGES)?.as_u64().ok()?;
        Some(Self { number, time: time?, info })
    }
}
