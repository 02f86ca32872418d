//! Records of how often a message was repeated, among the messages of a chunk.
//!
//! ```text
//! 9a 3f n {…}      loss: group, cause 11, count, times, the message's id
//! ```
//!
//! A session that streams has the counts reported once: here, in the packet that a chunk begins
//! with, or by its own thread. One that keeps messages in memory has all of them in its counters
//! until its end, as chunks may be overwritten; there these records say which message was repeated
//! when, and whoever makes a trace takes them off the total.
#![allow(unsafe_code)] // Access to what belongs to the writer's thread.

use super::Writer;
use super::fields::Fields;
use super::held_back::EndedRepeats;
use super::own::{Own, SharedMoment};
use super::state::{MAX_LOSS, loss_record, record_field};
use crate::loss::{LossCause, LossCount};
use protolog_core::FillPolicy;

/// The most bytes of such a packet.
const MAX_RECORD: usize = MAX_LOSS + 3;

impl Writer {
    /// Writes how often a message was repeated, before another one of its call; or, where the
    /// buffer is full, leaves that to whoever reports what was counted. The thread is within a
    /// message, which all sessions get at the moment `shared`, if there may be several.
    pub(super) fn report_repeats(&self, ended: EndedRepeats, shared: SharedMoment) {
        let EndedRepeats { group, message, count, times } = ended;
        self.gate.enter();
        // SAFETY: *busy*: this is the writer's thread, and what interrupts it sees the phase.
        let own = unsafe { &mut *self.own.get() };
        if !own.is_forked() && !own.is_stopped() && self.losses.has_repeated(group, message) {
            if own.streams() {
                let lost = self.losses.take_repeated(group, message);
                if let Some(lost) = lost.filter(|lost| !own.append_record(self, *lost, shared)) {
                    self.losses.restore(lost);
                }
            } else {
                // The run may be one of other sessions alone.
                let count = self.losses.unrecorded(group, message).min(count);
                let lost = LossCount::new(group, LossCause::Repeated, count);
                let lost = LossCount { times: Some(times), message, ..lost };
                if count > 0 && own.put_record(self, lost, shared) {
                    self.losses.note_recorded(group, message, count);
                }
            }
        }
        self.gate.exit();
    }
}

impl Own {
    /// Returns whether the session streams its chunks.
    fn streams(&self) -> bool {
        let policy = self.core.as_ref().map(|core| core.buffer.fill_policy());
        policy == Some(FillPolicy::Stream)
    }

    /// Writes a record, and notes that its messages are reported. False where there is no chunk.
    fn append_record(&mut self, writer: &Writer, lost: LossCount, shared: SharedMoment) -> bool {
        let is_written = self.put_record(writer, lost, shared);
        if let Some(core) = self.core.as_ref().filter(|_| is_written) {
            core.reported.add(lost.group, lost.cause, lost.count);
        }
        is_written
    }

    /// Writes a record into the chunk, or into the next one if it has no room for it.
    fn put_record(&mut self, writer: &Writer, lost: LossCount, shared: SharedMoment) -> bool {
        let mut packet = Fields::<MAX_RECORD>::new();
        packet.nested(record_field(lost.cause), &loss_record(lost));
        self.close(writer);
        let mut is_written = self.has_chunk() && self.append(packet.bytes());
        if !is_written {
            self.complete(writer);
            if self.begin(writer, MAX_RECORD, shared).is_err() {
                return false;
            }
            self.close(writer);
            is_written = self.has_chunk() && self.append(packet.bytes());
        }
        self.others += u16::from(is_written);
        // Messages of another request come after a mark.
        if self.has_chunk() && !self.mark_request() {
            self.complete(writer);
        } else {
            self.allow(writer);
        }
        is_written
    }
}
