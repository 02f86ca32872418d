//! The end of a session of the service: the rest is forwarded, or counted as lost.
//!
//! Invariant: what no packet reports is in [`Status::lost`](crate::producer::Status), also where
//! the connection ended before the session.

use super::{Instance, PATIENCE};
use crate::loss::{LossCause, LossCount};
use crate::producer::outlet::Outlet;
use crate::session::forwarded::{ForwardedSession, exit_deadline};
use std::io;
use std::sync::Arc;

/// The most records of drops in the last packet, so that it fits the chunk that is reserved for it.
const MAX_LAST_LOSSES: usize = 32;

impl Instance {
    /// Ends the session, and forwards all of it. What the service does not take in time is counted,
    /// in the trace as well.
    pub(in crate::producer) fn stop(mut self, outlet: &mut Outlet) -> io::Result<()> {
        let result = self.forward_and_end(outlet);
        if let Err(error) = &result {
            self.note_end(&error.to_string());
            let unknown = self.sequences.values().filter(|sequence| {
                sequence.writer.as_ref().is_some_and(|writer| !outlet.is_known(writer))
            });
            self.unknown = unknown.map(|sequence| sequence.messages).sum();
        }
        result
    }

    /// Notes why the connection ended before the session.
    pub(in crate::producer) fn note_end(&mut self, reason: &str) {
        self.end_reason.get_or_insert_with(|| reason.to_owned());
    }

    fn forward_and_end(&mut self, outlet: &mut Outlet) -> io::Result<()> {
        outlet.wait_at_most(PATIENCE);
        self.session.begin_end();
        // Threads that are within a message may finish it.
        loop {
            let progress = self.forward_patiently(None, outlet)?;
            if progress.is_full || !progress.has_copied {
                break;
            }
        }
        self.lose_rest();
        let result = self.write_end(outlet);
        self.has_ended = result.is_ok();
        result
    }

    /// Takes the drops that no packet reports: all, where the connection ended before the session.
    /// Returns the number of messages that are missing, without those that sampling passed over.
    fn take_untold(&mut self) -> u64 {
        let mut untold = std::mem::take(&mut self.unreported);
        let ended = std::mem::take(&mut self.ended);
        for writer in self.session.take_writers().into_iter().chain(ended) {
            untold.extend(self.session.take_losses(&writer));
        }
        untold.extend(self.session.take_unattributed(&mut self.before));
        untold.extend(self.counts.lost_reports());
        let is_missing = |cause: LossCause| !cause.is_in_log();
        let missing = untold.iter().filter(|lost| lost.cause.lost().is_some_and(is_missing));
        missing.map(|lost| lost.count).sum()
    }

    /// Counts all that is left in the buffer as lost.
    fn lose_rest(&mut self) {
        let session = Arc::clone(&self.session);
        let mut reader = session.buffer().reader();
        for info in self.find(&mut reader, true) {
            if let Some(chunk) = reader.read(&info) {
                self.counts.lose(info.writer_id, &chunk.committed(), info.is_complete);
            }
        }
    }

    fn write_end(&mut self, outlet: &mut Outlet) -> io::Result<()> {
        let ended = std::mem::take(&mut self.ended);
        for writer in self.session.take_writers().into_iter().chain(ended) {
            self.end_sequence(&writer, outlet)?;
        }
        self.write_head(outlet)?;
        for sequence in self.sequences.values_mut() {
            sequence.close(outlet)?;
        }
        self.write_last(outlet)?;
        // All of it is in the memory: the service finds it there, if it can't be told any more.
        for sequence in self.sequences.values().filter_map(|sequence| sequence.writer.as_ref()) {
            outlet.unregister(sequence)?;
        }
        outlet.unregister(&self.own)?;
        if exit_deadline().is_some() { outlet.finish() } else { outlet.commit(None) }
    }

    /// Writes the last packet, with all drops that no packet reports.
    fn write_last(&mut self, outlet: &mut Outlet) -> io::Result<()> {
        let mut losses = std::mem::take(&mut self.unreported);
        let unattributed = self.session.take_unattributed(&mut self.before);
        let lost = self.session.take_lost(&self.counts);
        unattributed.into_iter().chain(lost).for_each(|lost| lost.add_to(&mut losses));
        let packet = self.session.last(&fitting(losses, MAX_LAST_LOSSES));
        let is_written = match self.reserved.take() {
            Some(chunk) => outlet.write_reserved(&mut self.own, chunk, &packet),
            None => outlet.write(&mut self.own, &packet),
        };
        is_written.map(|_| ())
    }
}

impl Drop for Instance {
    /// Ends the session, also where there is nobody to forward to any more.
    fn drop(&mut self) {
        self.session.begin_end();
        self.lose_rest();
        let untold = if self.has_ended { 0 } else { self.take_untold() };
        let lost = self.counts.lost() + untold + self.unknown;
        self.state.update(|status| status.lost += lost);
        // After an exit nobody can ask for the status.
        if self.has_ended {
            ForwardedSession::report_lost(None, &self.counts, lost);
        } else if exit_deadline().is_some() {
            let reason = self.end_reason.as_deref().unwrap_or("the service closed the connection");
            ForwardedSession::report_lost(Some(reason), &self.counts, lost);
        }
        self.session.finish();
    }
}

/// Returns the same drops in at most `most` records: where there are more, small ones are of a
/// group that is not known.
fn fitting(mut losses: Vec<LossCount>, most: usize) -> Vec<LossCount> {
    if losses.len() > most {
        losses.sort_by_key(|lost| std::cmp::Reverse(lost.count));
        // A group that is not known has as many records as there are reasons.
        for lost in losses.split_off(most - LossCause::ALL.len() - 1) {
            let cause = lost.cause.of_unknown_group();
            LossCount { group: 0, cause, ..lost }.add_to(&mut losses);
        }
    }
    losses
}
