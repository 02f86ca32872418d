//! The start of a session: filter, buffer and file, and the thread of a session that streams.
//!
//! Invariant: a start that fails leaves no file that was not there, and no thread; files of earlier
//! runs stay as they were, since they are emptied and removed after the last step that can fail.

use crate::clock;
use crate::error::Error;
use crate::level;
use crate::session::Session;
use crate::session::arbiter::causes::Causes;
use crate::session::arbiter::requests::Requests;
use crate::session::arbiter::session_arbiter::{Core, SessionOwner};
use crate::session::builder::Builder;
use crate::session::builder::{heirs, rules, triggers};
use crate::session::earlier::earlier_runs;
use crate::session::earlier::earlier_runs::Earlier;
use crate::session::file::file_place::FilePlace;
use crate::session::file::segments::{Limits, Segments};
use crate::session::file::trace_file::{FileForm, TraceFile};
use crate::session::filter::Filter;
use crate::session::life::active::{Active, Destination, Kept};
use crate::session::life::forked;
use crate::session::packets::dictionary;
use crate::session::stream::stream_thread::{Reopen, Stream};
use crate::session::stream::trace::Trace;
use crate::sys::{barrier, fork, pin};
use protolog_core::FillPolicy;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread::Builder as ThreadBuilder;

impl Builder {
    /// Starts the session.
    pub fn start(self) -> Result<Session, Error> {
        if fork::is_incomplete() {
            return Err(Error::IncompleteFork);
        }
        if self.is_for_operator && forked::is_inherited() {
            // The program has started none of its own, so it goes on.
            heirs::start();
        }
        // A child has the rules of its parent already, as an operator may have changed them.
        let settings = self.is_inheritable().then(|| Self { rules: Vec::new(), ..self.clone() });
        let active = self.start_active()?;
        heirs::note_start(&active, settings);
        Ok(Session { active })
    }

    /// Starts the session, which forked children do not know of.
    pub(in crate::session) fn start_active(mut self) -> Result<Arc<Active>, Error> {
        self.apply_variable_of_signals();
        self.check()?;
        self.check_system()?;
        self.leave_out();
        if self.path.is_none() && self.record.is_none() && self.triggers.is_none() {
            return Err(Error::NoFile);
        }
        pin::keep_runtime_loaded();
        level::look_for_session();
        let filter = Filter::new(&self.config, &dictionary::known_groups())?;
        self.find_watched_messages()?;
        self.warn_of_unknown_pins();
        let new_rules = self.take_rules()?;
        let byte_limit = self.read_byte_limit()?;
        clock::prepare();
        barrier::prepare();
        let place = self.path.as_deref().map(FilePlace::of_file).transpose()?;
        let claim = match &place {
            // An error now is better than one at the end.
            Some(place) if self.fill_policy != FillPolicy::Stream => {
                TraceFile::check_create_on_finish(place, self.form.mode)?
            }
            _ => None,
        };
        let files = self.trigger_files()?;
        let signals = self.watched_signals();
        self.write_files_of_signals();
        let owner = SessionOwner::new(filter);
        let (recorded, buffers) = self.buffers(owner.session_id, &owner.filter, place.as_ref())?;
        let owner =
            owner
                .with_timeout(self.chunk_timeout)
                .with_path(self.path.clone())
                .with_recording(recorded)
                .with_pins(self.pins.clone())
                .with_byte_limit(byte_limit)
                .with_causes(self.triggers.as_ref().map(|all| {
                    Arc::new(Causes::new(all.conditions.clone(), all.family.as_deref()))
                }))
                .reporting_losses(self.reports_losses)
                .scoped(self.is_scoped)
                .for_operator(self.is_for_operator);
        let core = Arc::new(Core::with_pinned(buffers, self.max_string_bytes, owner));
        let (destination, kept) = match (self.fill_policy, place) {
            (FillPolicy::Stream, Some(place)) => {
                let stream = Self::stream(&core, place, self.limits, &self.form, self.earlier);
                if let (Err(_), Some(recorder)) = (&stream, core.stream_recorder()) {
                    // Nothing was recorded to it.
                    let _ = recorder.remove();
                }
                (stream?, None)
            }
            (_, place) => {
                let kept = Kept { place, claim, form: self.form, earlier: self.earlier };
                (Destination::Kept, Some(kept))
            }
        };
        let triggers = triggers::start_thread(&core, self.triggers, files);
        let triggers = triggers.and_then(|triggers| {
            signals.map_or(Ok(()), |signals| signals.mark(&core)).map(|()| triggers)
        });
        if let (Err(_), Some(recorder)) = (&triggers, core.kept_recorder()) {
            // Nothing was recorded to it.
            let _ = recorder.remove();
        }
        let triggers = triggers?;
        rules::apply(new_rules);
        Ok(Active::start(core, destination, kept, triggers))
    }

    /// Refuses settings that contradict each other.
    fn check(&self) -> Result<(), Error> {
        self.check_triggers()?;
        self.check_pins()?;
        let streams = [
            ("wait_at_most", self.chunk_timeout.is_some()),
            ("segment_bytes", self.limits.bytes.is_some()),
            ("segment_age", self.limits.age.is_some()),
            ("keep_segments", self.limits.keep.is_some()),
        ];
        match streams.iter().find(|(_, asked)| *asked && self.fill_policy != FillPolicy::Stream) {
            Some((option, _)) => Err(Error::OnlyStreams { option }),
            None => Ok(()),
        }
    }

    /// Starts the thread that copies the buffer to a file. The thread comes first, since there may
    /// be none to have.
    fn stream(
        core: &Arc<Core>,
        place: FilePlace,
        limits: Limits,
        form: &FileForm,
        earlier: Earlier,
    ) -> Result<Destination, Error> {
        let requests = Arc::<Requests>::default();
        let (give, given) = sync_channel::<Stream>(1);
        let thread = ThreadBuilder::new().name("protolog".into());
        let thread = thread.spawn(move || Stream::run_given(&given)).map_err(Error::Resources)?;
        if limits.any() {
            earlier_runs::keep_segments(&place, earlier, core.owner.reports_losses);
        }
        let segments = limits.any().then(|| Segments::new(place.clone(), limits, form.clone()));
        let mut segments = segments.transpose()?;
        let file = match &mut segments {
            Some(segments) => segments.open()?,
            None => {
                earlier_runs::keep(&place, earlier, core.owner.reports_losses)?;
                let mut file = TraceFile::create(&place, form.mode)?;
                file.set_form(form);
                file
            }
        };
        let trace = Trace::begin(Arc::clone(core), file);
        let form = form.clone();
        let reopen = segments.is_none().then_some(Reopen { place, form, earlier });
        let stream = Stream::new(Arc::clone(core), Arc::clone(&requests), trace, segments, reopen);
        core.set_drain(thread.thread().clone(), Arc::clone(&requests));
        // It waits for nothing else.
        let _ = give.send(stream);
        Ok(Destination::Stream { requests, thread })
    }
}
