//! The life of a session from its start to its end, which comes from its owner, from the exit of
//! the process, or from a signal.
//!
//! Invariant: a session ends once; a second call to end it waits until it has ended. Its kept
//! messages stay until they are written, if the caller may ask again.

use crate::error::Error;
use crate::session::arbiter::requests::Requests;
use crate::session::arbiter::session_arbiter::Core;
use crate::session::earlier::earlier_runs;
use crate::session::earlier::earlier_runs::Earlier;
use crate::session::file::claim::Claim;
use crate::session::file::file_place::FilePlace;
use crate::session::file::trace_file::FileForm;
use crate::session::finish::stop_error::StopError;
use crate::session::finish::{diagnosis, loss_report};
use crate::session::life::running_sessions::RunningSession;
use crate::session::life::summary;
use crate::session::life::{byte_limits, running_sessions};
use crate::session::ring::snapshot;
use crate::session::trigger::trigger_thread::TriggerThread;
use crate::stats::Summary;
use crate::sys::process::asked_id;
use crate::text_queue;
use crate::writer::scope;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, TryLockError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A session that was started.
#[derive(Debug)]
pub(crate) struct Active {
    pub(in crate::session) core: Arc<Core>,
    /// The files of a session that keeps its messages.
    pub(in crate::session) kept: Option<Kept>,
    /// The thread that writes the files of its triggers.
    triggers: Option<TriggerThread>,
    /// Taken by the thread that ends it, and locked until then.
    destination: Mutex<Option<Destination>>,
    /// True once the buffer has nothing that could be written any more.
    is_discarded: AtomicBool,
    /// The path of the recording, for a forked child that has its parent's session.
    leaked_path: OnceLock<Option<&'static Path>>,
}

/// The destination of a session's messages.
#[derive(Debug)]
pub(in crate::session) enum Destination {
    /// A file, all the time.
    Stream { requests: Arc<Requests>, thread: JoinHandle<Result<Summary, StopError>> },
    /// The buffer, and files when they are asked for.
    Kept,
}

/// The way in which a session ends.
#[derive(Clone, Debug)]
struct End {
    /// The process did not mean to, so that a recording is left if there is no other trace of the
    /// session.
    is_surprise: bool,
    /// The time after which a file that is stuck is given up.
    by: Option<Instant>,
    /// Messages that could not be written are kept for another attempt.
    keeps: bool,
    /// The place of the file, if it is another one.
    place: Option<FilePlace>,
}

/// The interval at which something is looked at that another thread is about to end.
const POLL: Duration = Duration::from_millis(1);

/// The files of a session that keeps its messages.
#[derive(Debug)]
pub(in crate::session) struct Kept {
    /// The place of the file at the end, if one was named.
    pub(in crate::session) place: Option<FilePlace>,
    /// The claim on its name.
    pub(in crate::session) claim: Option<Claim>,
    pub(in crate::session) form: FileForm,
    pub(in crate::session) earlier: Earlier,
}

impl Active {
    /// A session that runs from now on, and keeps its messages if there is `kept`.
    pub(in crate::session) fn start(
        core: Arc<Core>,
        destination: Destination,
        kept: Option<Kept>,
        triggers: Option<TriggerThread>,
    ) -> Arc<Self> {
        let (destination, leaked_path) = (Mutex::new(Some(destination)), OnceLock::new());
        let is_discarded = AtomicBool::new(false);
        let active =
            Arc::new(Self { core, kept, triggers, destination, is_discarded, leaked_path });
        running_sessions::attach_recording(&active.core);
        scope::enter(&active.core.arbiter);
        running_sessions::add(Arc::clone(&active) as _);
        byte_limits::on_start(&active.core);
        active
    }

    /// Returns the path of the recording for as long as the process lives: a session that goes on
    /// in a forked child has nobody to lend it. Each child leaks it once.
    pub(in crate::session) fn recording_for_ever(&self) -> Option<&'static Path> {
        let leak = |path: &Path| -> &'static Path { Box::leak(Box::from(path)) };
        let path = || self.core.owner.recorder.as_ref().map(|recorder| leak(recorder.path()));
        *self.leaked_path.get_or_init(path)
    }

    /// True in a process that was forked from the session's.
    fn is_inherited(&self) -> bool {
        self.core.pid != asked_id()
    }

    /// Ends the session and completes its file. Where it has ended already, the summary is empty.
    /// [`Error::Forked`] in a forked child.
    pub(in crate::session) fn end(&self) -> Result<Summary, Error> {
        self.end_by(false, None).map_err(Error::from)
    }

    /// As [`Self::end`], with the counts also of a failure. `keeps`: messages that could not be
    /// written are kept for another attempt, which may have another `place`.
    pub(in crate::session) fn end_by(
        &self,
        keeps: bool,
        place: Option<FilePlace>,
    ) -> Result<Summary, StopError> {
        if self.is_inherited() {
            return Err(StopError::from(Error::Forked));
        }
        let mut destination = self.destination.lock().unwrap_or_else(PoisonError::into_inner);
        let how = End { is_surprise: std::thread::panicking(), by: None, keeps, place };
        match destination.take() {
            Some(Destination::Kept) if keeps => {
                let summary = self.end_at(Destination::Kept, &how);
                if summary.is_err() && !self.is_discarded.load(Ordering::Relaxed) {
                    *destination = Some(Destination::Kept);
                }
                summary
            }
            Some(stream) => self.end_at(stream, &how),
            None => Ok(Summary::default()),
        }
    }

    /// As [`Self::end`], where nobody gets the error: it is reported.
    pub(in crate::session) fn end_unseen(&self) {
        if self.is_inherited() {
            return;
        }
        if let Err(error) = self.end() {
            loss_report::failure(&self.core, &error);
        }
    }

    fn end_at(&self, destination: Destination, how: &End) -> Result<Summary, StopError> {
        running_sessions::begin_end(&self.core);
        let listed = Listed(&self.core);
        self.core.stop();
        scope::forget_ended();
        // The buffer is discarded below.
        self.triggers.iter().for_each(|triggers| triggers.end(how.by));
        let is_written = match &destination {
            Destination::Stream { .. } => true,
            Destination::Kept => {
                let has_place = |kept: &Kept| kept.place.is_some() || how.place.is_some();
                self.kept.as_ref().is_some_and(has_place)
            }
        };
        let keeps = how.keeps && matches!(destination, Destination::Kept);
        let mut summary = match destination {
            Destination::Stream { requests, thread } => self.end_stream(&requests, thread, how.by),
            Destination::Kept => self.end_kept(how),
        };
        match &mut summary {
            Ok(summary) => {
                diagnosis::complete(&self.core, summary, is_written);
                loss_report::end(&self.core, summary);
            }
            // The exit of the process is another attempt.
            Err(_) if keeps && !self.is_discarded.load(Ordering::Relaxed) => {
                std::mem::forget(listed);
            }
            Err(_) => {}
        }
        text_queue::flush_at_end();
        summary
    }

    fn end_stream(
        &self,
        requests: &Requests,
        thread: JoinHandle<Result<Summary, StopError>>,
        by: Option<Instant>,
    ) -> Result<Summary, StopError> {
        let path = self.core.path().unwrap_or(Path::new("")).to_path_buf();
        let failed = |what| {
            let error = std::io::Error::other(what);
            Err(StopError::from(Error::File { path, error }))
        };
        requests.stop();
        self.core.wake();
        while by.is_some_and(|by| Instant::now() < by) && !thread.is_finished() {
            std::thread::sleep(POLL);
        }
        if by.is_some() && !thread.is_finished() {
            // The file is stuck; the process ends, and leaves the recording.
            return failed("it takes too long");
        }
        let summary = thread.join();
        self.core.owner.recording.iter().for_each(|recording| recording.end());
        running_sessions::detach_recording(&self.core);
        match (self.core.stream_recorder(), summary) {
            // It has what the file lacks.
            (Some(recorder), Ok(summary)) if recorder.is_left() => summary,
            (Some(recorder), Ok(summary)) => match (recorder.remove(), summary) {
                (Err(error), Ok(summary)) => Err(StopError::new(error, summary)),
                (_, summary) => summary,
            },
            (None, Ok(summary)) => summary,
            (recorder, Err(_)) => {
                // It has what the file lacks.
                if let Some(recorder) = recorder {
                    recorder.leave();
                }
                failed("the thread that writes the trace panicked")
            }
        }
    }

    /// Writes the messages in the buffer, if a file was named. The recording is removed when all is
    /// well: not if a panic, an exit of the process or a signal ends the session, and the recording
    /// is the only trace of it.
    fn end_kept(&self, how: &End) -> Result<Summary, StopError> {
        running_sessions::detach_recording(&self.core);
        loss_report::deleted_recording(&self.core);
        let place = |kept: &Kept| how.place.clone().or_else(|| kept.place.clone());
        let named = self.kept.as_ref().and_then(|kept| Some((kept, place(kept)?)));
        let is_named = named.is_some();
        let written = match named {
            Some((kept, place)) => self.write_kept(kept, place, how.place.is_some()),
            None => Ok(Summary::default()),
        };
        // Before the messages that it counts are gone.
        let summary = written.map_err(|error| {
            let mut summary = summary::so_far(&self.core);
            summary.messages = summary.groups.iter().map(|group| group.messages).sum();
            diagnosis::complete(&self.core, &mut summary, false);
            StopError::new(error, summary)
        });
        if how.keeps && summary.is_err() {
            return summary;
        }
        self.is_discarded.store(true, Ordering::Relaxed);
        self.core.owner.recording.iter().for_each(|recording| recording.end());
        drop(self.core.take_writers());
        self.core.discard();
        let is_needed = !is_named && how.is_surprise;
        match (self.core.kept_recorder(), summary) {
            (Some(recorder), summary) if is_needed && !recorder.is_for_signals() => {
                recorder.leave();
                summary
            }
            (Some(recorder), Ok(summary)) => match recorder.remove() {
                Ok(()) => Ok(summary),
                Err(error) => Err(StopError::new(error, summary)),
            },
            (_, summary) => summary,
        }
    }

    fn write_kept(
        &self,
        kept: &Kept,
        mut place: FilePlace,
        is_other: bool,
    ) -> Result<Summary, Error> {
        place.follow();
        earlier_runs::keep(&place, kept.earlier, self.core.owner.reports_losses)?;
        let claim = kept.claim.as_ref().filter(|_| !is_other);
        snapshot::write(&self.core, &place, &kept.form, claim, "protolog session stopped")
    }
}

/// Keeps a session in the list of those that run until it has ended, also by a panic.
struct Listed<'a>(&'a Arc<Core>);

impl Drop for Listed<'_> {
    fn drop(&mut self) {
        running_sessions::remove(self.0);
    }
}

impl RunningSession for Active {
    fn core(&self) -> &Arc<Core> {
        &self.core
    }

    fn request_end(&self, _: Duration) {
        if self.is_inherited() {
            return;
        }
        let Ok(destination) = self.destination.try_lock() else { return };
        if let Some(Destination::Stream { requests, .. }) = &*destination {
            running_sessions::begin_end(&self.core);
            self.core.stop();
            requests.stop();
            self.core.wake();
        }
    }

    fn end_within(&self, limit: Duration) {
        if self.is_inherited() {
            return;
        }
        let end = Instant::now() + limit;
        loop {
            let mut destination = match self.destination.try_lock() {
                Ok(destination) => destination,
                Err(TryLockError::Poisoned(destination)) => destination.into_inner(),
                Err(TryLockError::WouldBlock) if Instant::now() < end => {
                    std::thread::sleep(POLL);
                    continue;
                }
                Err(TryLockError::WouldBlock) => return,
            };
            if let Some(destination) = destination.take() {
                let how = End { is_surprise: true, by: Some(end), keeps: false, place: None };
                if let Err(error) = self.end_at(destination, &how) {
                    loss_report::failure(&self.core, error.error());
                }
            }
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::session::Session;
    use crate::writer::{drop_message, guarded};
    use crate::{Level, LossCause, level};
    use std::sync::Arc;
    use std::thread;

    #[test]
    fn a_loss_that_no_trace_reports_is_counted_once() {
        let group = level::create_group("t::Log::Lost", "Lost");
        let builder = Session::builder().file("/dev/full").enable_all().report_losses(false);
        let mut session = builder.this_thread().start().expect("start a session");
        guarded(|| drop_message(group, Level::Debug, LossCause::Reentrant));
        let error = session.try_stop().expect_err("the disk is full");
        let losses = error.summary().losses.iter().map(|loss| (loss.cause, loss.count));
        assert_eq!(losses.collect::<Vec<_>>(), [(LossCause::Reentrant, 1)]);
    }

    #[test]
    fn nothing_remains_of_a_stream_that_could_not_be_stopped() {
        let builder = Session::builder().file("/dev/full").report_losses(false).this_thread();
        let mut session = builder.start().expect("start a session");
        let active = Arc::downgrade(&session.active);
        session.try_stop().expect_err("the disk is full");
        drop(session);
        assert!(active.upgrade().is_none());
    }

    /// Drops of threads that have no sequence.
    #[test]
    fn drops_are_those_of_the_session_s_threads() {
        let group = level::create_group("t::Log::Scoped", "Scoped");
        let start = |name: &str| {
            let name = format!("protolog-drops-{name}-{}.pftrace", std::process::id());
            let path = std::env::temp_dir().join(name);
            let builder = Session::builder().file(&path).enable_all().this_thread();
            (builder.start().expect("start a session"), path)
        };
        let (calm, calm_path) = start("calm");
        let other = thread::spawn(move || {
            let (session, path) = start("busy");
            guarded(|| drop_message(group, Level::Debug, LossCause::Reentrant));
            let summary = session.stop().expect("stop the session");
            std::fs::remove_file(path).expect("remove the trace");
            summary.losses.iter().map(|loss| (loss.cause, loss.count)).collect::<Vec<_>>()
        });
        assert_eq!(other.join().expect("the thread ends"), [(LossCause::Reentrant, 1)]);
        assert_eq!(calm.stop().expect("stop the session").losses, []);
        std::fs::remove_file(calm_path).expect("remove the trace");
    }
}
