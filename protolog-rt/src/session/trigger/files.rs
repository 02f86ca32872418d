//! The files of a session's triggers: their names, how many stay, and which are removed.
//!
//! ```text
//! app.pftrace   ->   app.error.20261127T220509.123Z.pftrace
//! ```
//!
//! Invariants
//! - A file appears under its name when it is complete.
//! - Only files are removed that this session has made, and that are at their names still; and only
//!   after a new one is complete.

use crate::error::Error;
use crate::session::arbiter::failures::TakenFailures;
use crate::session::arbiter::session_arbiter::Core;
use crate::session::file::file_place::FilePlace;
use crate::session::file::trace_file::{FileForm, TraceFile};
use crate::session::packets::copied::OWN_SEQUENCE;
use crate::session::ring::filtered::RequestFilter;
use crate::session::ring::snapshot::{self, Collected};
use crate::session::stream::trace::Trace;
use crate::session::trigger::message::{CauseMessage, RequestMessage};
use crate::session::trigger::settings::KeptFiles;
use protolog_files::Identity;
use protolog_recording::{EVENT_SEQUENCE, MAX_CAUSE, event_file};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

const _: () = assert!(EVENT_SEQUENCE > OWN_SEQUENCE + u16::MAX as u32);

/// The names to try where others are taken.
const NAMES: usize = 100;

/// Attempts to write a file whose name others take, or whose temporary file they remove.
const ATTEMPTS: usize = 8;

/// See the module.
#[derive(Debug)]
pub(in crate::session) struct TriggerFiles {
    place: FilePlace,
    form: FileForm,
    keep: KeptFiles,
    /// Those that this session has made, the oldest first.
    made: VecDeque<Made>,
}

/// A file that this session has made.
#[derive(Debug)]
struct Made {
    name: OsString,
    identity: Identity,
    bytes: u64,
}

/// An event that has a file.
#[derive(Debug)]
pub(super) struct EventOfFile<'a> {
    pub(super) cause: &'a str,
    pub(super) message: CauseMessage,
    /// The wall clock at the event.
    pub(super) wall: SystemTime,
    /// The requests whose messages the file has; none if it has all messages.
    pub(super) requests: Option<&'a TakenFailures>,
}

/// Writes the messages of these requests, and says which they are and how many others were left
/// out.
fn copy_requests(
    core: &Core,
    trace: &mut Trace,
    collected: &Collected,
    (event, requests): (&EventOfFile<'_>, &TakenFailures),
) {
    for failure in &requests.all {
        let packet = RequestMessage::new(failure).packet(core.pid);
        trace.file.packet(EVENT_SEQUENCE, &packet);
    }
    let mut filter = RequestFilter::new(requests.all.iter().map(|failure| failure.number));
    snapshot::copy_collected(core, trace, collected, Some(&mut filter));
    trace.report_filtered(filter.left_out);
    let left_out = event.message.left_out(filter.left_out, requests.more);
    trace.file.packet(EVENT_SEQUENCE, &left_out.packet(core.pid));
    trace.write_interned();
}

impl TriggerFiles {
    /// Files beside `place`, as many as `keep` says.
    pub(in crate::session) fn new(place: FilePlace, form: FileForm, keep: KeptFiles) -> Self {
        Self { place, form, keep, made: VecDeque::new() }
    }

    /// Writes the chunks to a file of its own, and then removes those that are too many.
    pub(super) fn write(
        &mut self,
        core: &Arc<Core>,
        collected: &Collected,
        event: &EventOfFile<'_>,
    ) -> Result<(), Error> {
        self.place.follow();
        for _ in 1..ATTEMPTS {
            match self.write_once(core, collected, event) {
                // Another session, also of another process, writes the same event's file.
                Err(Error::File { error, .. })
                    if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {}
                done => return done,
            }
        }
        self.write_once(core, collected, event)
    }

    fn write_once(
        &mut self,
        core: &Arc<Core>,
        collected: &Collected,
        event: &EventOfFile<'_>,
    ) -> Result<(), Error> {
        let path = self.free_path(event.cause, event.wall)?;
        let (mut file, identity) = TraceFile::create_beside(&self.place, &path, self.form.mode)?;
        file.set_form(&self.form);
        let mut trace = Trace::begin(Arc::clone(core), file);
        trace.file.packet(EVENT_SEQUENCE, &event.message.packet(core.pid));
        match event.requests {
            None => _ = snapshot::copy_collected(core, &mut trace, collected, None),
            Some(requests) => copy_requests(core, &mut trace, collected, (event, requests)),
        }
        let summary = snapshot::end(trace, "protolog session goes on")?;
        let name = path.file_name().unwrap_or_default().to_owned();
        self.made.push_back(Made { name, identity, bytes: summary.bytes });
        self.remove_old();
        Ok(())
    }

    /// Returns an error if the longest name of a file is too long for the directory.
    pub(in crate::session) fn check_names(&self) -> Result<(), Error> {
        let path = event_file(self.place.path(), &"x".repeat(MAX_CAUSE), UNIX_EPOCH, NAMES);
        let place = self.place.location();
        let place = place.and_then(|place| place.sibling(path.file_name().unwrap_or_default()));
        let there = place.and_then(|place| place.is_taken());
        there.map_or_else(|error| Err(Error::File { path, error }), |_| Ok(()))
    }

    /// Returns the path of a file that is not there.
    fn free_path(&self, cause: &str, wall: SystemTime) -> Result<PathBuf, Error> {
        let path = self.place.path();
        let failed = |error| Error::File { path: path.to_path_buf(), error };
        for number in 1..NAMES {
            let path = event_file(path, cause, wall, number);
            let place = self.place.location().map_err(failed)?;
            let place = place.sibling(path.file_name().unwrap_or_default()).map_err(failed)?;
            if !place.is_taken().map_err(failed)? {
                return Ok(path);
            }
        }
        Err(failed(ErrorKind::AlreadyExists.into()))
    }

    fn remove_old(&mut self) {
        let is_over = |made: &VecDeque<Made>| {
            let bytes: u64 = made.iter().map(|file| file.bytes).sum();
            made.len() > self.keep.files || bytes > self.keep.bytes && made.len() > 1
        };
        while is_over(&self.made) {
            let Some(Made { name, identity, .. }) = self.made.pop_front() else { break };
            // That it can't be removed is no reason not to write the next one.
            let place = self.place.location().and_then(|place| place.sibling(name));
            let _ = place.and_then(|place| place.remove_entry(identity));
        }
    }
}
