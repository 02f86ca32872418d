//! The startup buffer: messages from before the service, or a session of it, is there.
//!
//! It is a session whose chunks nobody forwards: it keeps the first messages that fit, and counts
//! the others as dropped. The first session of the service that starts takes its place, and gets
//! its messages, those of its own levels. Each message is in one of the two.
//!
//! Invariant: what threads that ended leave takes memory in proportion to the buffer
//! ([`Startup::tidy`]).

use super::outlet::{Outlet, PATIENCE, ServiceWriter};
use crate::error::Error;
use crate::loss::LossCount;
use crate::session::filter::Config;
use crate::session::forwarded::counts::ForwardedCounts;
use crate::session::forwarded::{ForwardedSession, Settings};
use crate::writer::Writer;
use protolog_core::Level;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

/// See the module.
#[derive(Debug)]
pub(super) struct Startup {
    pub(super) session: Arc<ForwardedSession>,
    /// Writers whose threads have ended, and that have chunks in the buffer.
    ended: Vec<Arc<Writer>>,
}

/// The way of kept messages to the service.
struct Handover<'a> {
    target: u32,
    writers: HashMap<u16, Option<ServiceWriter>>,
    counts: &'a mut ForwardedCounts,
    outlet: &'a mut Outlet,
    /// Drops whose packet found no room.
    unreported: Vec<LossCount>,
}

impl Startup {
    /// Keeps messages from `log_from` up from now on, in a buffer of `bytes` bytes.
    pub(super) fn start(bytes: usize, log_from: Level) -> Result<Self, Error> {
        let config = Config { default_log_from: Some(log_from), ..Config::default() };
        let settings = Settings { config, chunk_timeout: None, buffer: bytes };
        Ok(Self { session: ForwardedSession::keep(settings)?, ended: Vec::new() })
    }

    /// Forgets threads that ended and have nothing in the buffer, but for their drops.
    pub(super) fn tidy(&mut self) {
        self.ended.extend(self.session.take_ended());
        if !self.ended.is_empty() {
            self.session.forget_absent(&mut self.ended);
        }
    }

    /// Passes the messages that `session`, which has taken its place, enables to the service's
    /// buffer `target`, and counts them there. Returns drops that no packet reports.
    pub(super) fn forward(
        mut self,
        session: &ForwardedSession,
        target: u32,
        counts: &mut ForwardedCounts,
        outlet: &mut Outlet,
    ) -> io::Result<Vec<LossCount>> {
        let own = Arc::clone(&self.session);
        own.stop_writers();
        let (writers, unreported) = (HashMap::new(), Vec::new());
        let mut to = Handover { target, writers, counts, outlet, unreported };
        let mut result = Ok(());
        own.take_kept(session, |writer, packets| {
            let written = if result.is_ok() { to.write(writer, &packets) } else { Ok(0) };
            let count = written.unwrap_or_else(|error| {
                result = Err(error);
                0
            });
            to.counts.count_packets(&packets[..count]);
            to.counts.lose_packets(&packets[count..]);
        });
        result?;
        session.note_reported_by(&own);
        let ended = std::mem::take(&mut self.ended);
        for writer in own.take_writers().into_iter().chain(ended) {
            to.end(&own, session, &writer)?;
        }
        session.take_unattributed_of(&own).into_iter().for_each(|lost| {
            lost.add_to(&mut to.unreported);
        });
        for writer in to.writers.values().flatten() {
            to.outlet.unregister(writer)?;
        }
        Ok(to.unreported)
    }
}

impl Drop for Startup {
    fn drop(&mut self) {
        self.session.begin_end();
        self.session.finish();
    }
}

impl Handover<'_> {
    /// Writes packets of a writer; returns the number of those that are written.
    fn write(&mut self, writer: u16, packets: &[Vec<u8>]) -> io::Result<usize> {
        let Some((writer, outlet)) = self.writer(writer)? else { return Ok(0) };
        let written = outlet.write_packed(writer, packets)?;
        if written > 0 {
            // The service reads, however slowly.
            outlet.wait_at_most(PATIENCE);
        }
        Ok(written)
    }

    /// Writes the last packet of a writer.
    fn end(
        &mut self,
        own: &ForwardedSession,
        session: &ForwardedSession,
        writer: &Writer,
    ) -> io::Result<()> {
        let losses = own.take_losses(writer);
        session.note(&losses);
        let packet = own.sequence_end(writer, &losses);
        let is_written = match self.writer(writer.id)? {
            Some((writer, outlet)) => outlet.write(writer, &packet)?,
            None => false,
        };
        if !is_written {
            for lost in losses {
                lost.add_to(&mut self.unreported);
            }
        }
        Ok(())
    }

    /// Returns the service's writer for one of ours; none where it has as many as can be.
    fn writer(&mut self, id: u16) -> io::Result<Option<(&mut ServiceWriter, &mut Outlet)>> {
        if !self.writers.contains_key(&id) {
            let new = self.outlet.register(self.target)?;
            self.writers.insert(id, new);
        }
        let writer = self.writers.get_mut(&id).and_then(Option::as_mut);
        Ok(writer.map(|writer| (writer, &mut *self.outlet)))
    }
}
