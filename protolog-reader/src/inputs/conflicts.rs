//! Several traces whose bytes follow each other, read as one without a merge.
//!
//! A sequence's id means something else in each of them, so states are kept by input and id. What a
//! merge would change or leave out beside these ids is found here, and then the inputs have to be
//! merged: messages that several have, processes of one pid, clocks that differ, and traces of
//! several boots.
//!
//! Invariant: inputs without such a conflict have the same log as their merge.

use protolog_core::schema::packet;
use protozero::{DecodeError, Field};

use crate::clocks::{ClockSnapshot, Moment};
use crate::inputs::input_clocks::InputClocks;
use crate::inputs::overlaps::Overlaps;
use crate::inputs::thread_ids::ThreadIds;
use crate::packets::trace_packet::Packet;
use crate::sequences::process_info::process_info;
use crate::sequences::thread::Thread;

/// The findings of a survey about its inputs.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    /// The input that is surveyed.
    current: usize,
    overlaps: Overlaps,
    clocks: InputClocks,
}

impl Inputs {
    /// Goes on to an input.
    pub(crate) fn begin(&mut self, input: usize) {
        self.current = input;
    }

    /// Notes the fields beside a message in a packet of this thread, and their times.
    pub(crate) fn note(
        &mut self,
        packet: &Packet<'_>,
        field: Field<'_>,
        (thread, moment, loss_moment): (&Thread, Moment, Moment),
    ) -> Result<(), DecodeError> {
        if packet.track_event.is_some() {
            self.note_time(thread, moment);
        }
        if packet.has_losses || packet.dropped {
            self.note_time(thread, loss_moment);
        }
        if packet.sequence_info.is_some() { self.note_process(field) } else { Ok(()) }
    }

    /// Notes the process info of a packet.
    fn note_process(&mut self, packet: Field<'_>) -> Result<(), DecodeError> {
        for field in packet.as_message()? {
            let field = field?;
            if field.number != packet::SEQUENCE_INFO {
                continue;
            }
            let info = process_info(field)?;
            if let Some(process) = info.process {
                self.overlaps.add_process(self.current, process);
            }
            if let Some(boot) = info.boot {
                self.clocks.add_boot(self.current, boot);
            }
        }
        Ok(())
    }

    /// Notes a time at which a thread has something.
    #[inline]
    pub(crate) fn note_time(&mut self, thread: &Thread, moment: Moment) {
        self.overlaps.add(self.current, ThreadIds::of(thread), moment);
    }

    pub(crate) fn note_clocks(&mut self, snapshot: &ClockSnapshot) {
        self.clocks.add(self.current, snapshot);
    }

    /// Returns whether a merge would change anything but ids of sequences.
    pub(crate) fn have_conflicts(&self) -> bool {
        let is_shared =
            !self.overlaps.concerned().is_empty() || !self.overlaps.shared_pids().is_empty();
        is_shared || self.clocks.differ()
    }
}
