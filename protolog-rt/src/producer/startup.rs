//! The startup buffer: messages from before the service, or a session of it, is there.
//!
//! It is a session whose chunks nobody forwards: it keeps the first messages that fit, and counts
//! the others as dropped. The first session of the service that starts takes its place, and gets
//! its messages, those of its own levels. Each message is in one of the two.
//!
//! Invariant: what threads that ended leave takes memory in proportion to the buffer
//! ([`Startup::tidy`]).

use super::instance::Instance;
use super::outlet::{Outlet, PATIENCE, ServiceWriter};
use crate::error::Error;
use crate::session::filter::Config;
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
    /// The session that gets them.
    to: &'a mut Instance,
    writers: HashMap<u16, Option<ServiceWriter>>,
    outlet: &'a mut Outlet,
    /// The first error, after which nothing more is written.
    result: io::Result<()>,
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

    /// Passes the messages that the session of `to`, which has taken its place, enables to the
    /// service, each after its text, and counts them there: as lost from an error on.
    pub(super) fn forward(mut self, to: &mut Instance, outlet: &mut Outlet) -> io::Result<()> {
        let (own, session) = (Arc::clone(&self.session), Arc::clone(&to.session));
        own.stop_writers();
        let mut handover = Handover { to, writers: HashMap::new(), outlet, result: Ok(()) };
        own.take_kept(&session, |writer, packets| {
            let count = handover.attempt(|it| it.write(writer, &packets)).unwrap_or(0);
            handover.to.counts.count_packets(&packets[..count]);
            handover.to.counts.lose_packets(&packets[count..]);
        });
        session.note_reported_by(&own);
        let ended = std::mem::take(&mut self.ended);
        for writer in own.take_writers().into_iter().chain(ended) {
            handover.end(&own, &session, &writer);
        }
        session.take_unattributed_of(&own).into_iter().for_each(|lost| {
            lost.add_to(&mut handover.to.unreported);
        });
        handover.result?;
        for writer in handover.writers.values().flatten() {
            handover.outlet.unregister(writer)?;
        }
        Ok(())
    }
}

impl Drop for Startup {
    fn drop(&mut self) {
        self.session.begin_end();
        self.session.finish();
    }
}

impl Handover<'_> {
    /// Writes packets of a writer after texts that they need; returns the number of those that are
    /// written.
    fn write(&mut self, writer: u16, packets: &[Vec<u8>]) -> io::Result<usize> {
        if !self.to.write_texts_of(packets, self.outlet)? {
            return Ok(0);
        }
        let Some((writer, outlet)) = self.writer(writer)? else { return Ok(0) };
        let written = outlet.write_packed(writer, packets)?;
        if written > 0 {
            // The service reads, however slowly.
            outlet.wait_at_most(PATIENCE);
        }
        Ok(written)
    }

    /// Writes the last packet of a writer, or notes its drops for a packet of the session.
    fn end(&mut self, own: &ForwardedSession, session: &ForwardedSession, writer: &Writer) {
        let losses = own.take_losses(writer);
        session.note(&losses);
        let packet = own.sequence_end(writer, &losses);
        let is_written = self.attempt(|it| match it.writer(writer.id)? {
            Some((writer, outlet)) => outlet.write(writer, &packet),
            None => Ok(false),
        });
        if is_written != Some(true) {
            for lost in losses {
                lost.add_to(&mut self.to.unreported);
            }
        }
    }

    /// Writes something, unless there was an error before.
    fn attempt<T>(&mut self, write: impl FnOnce(&mut Self) -> io::Result<T>) -> Option<T> {
        if self.result.is_err() {
            return None;
        }
        let written = write(self);
        written.map_err(|error| self.result = Err(error)).ok()
    }

    /// Returns the service's writer for one of ours; none where it has as many as can be.
    fn writer(&mut self, id: u16) -> io::Result<Option<(&mut ServiceWriter, &mut Outlet)>> {
        if !self.writers.contains_key(&id) {
            let new = self.outlet.register(self.to.target)?;
            self.writers.insert(id, new);
        }
        let writer = self.writers.get_mut(&id).and_then(Option::as_mut);
        Ok(writer.map(|writer| (writer, &mut *self.outlet)))
    }
}
