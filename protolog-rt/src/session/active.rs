//! The life of a session from its start to its end, which comes from its owner, from the exit of the process, or from a signal.
//!
//! Invariant: a session ends once; who ends it a second time waits until it has ended.

use super::claim::Claim;
use super::core::Core;
use super::earlier::{self, Earlier};
use super::file::FileForm;
use super::file_place::FilePlace;
use super::requests::Requests;
use super::running::{self, RunningSession};
use super::{diagnosis, report, snapshot};
use crate::error::Error;
use crate::stats::Summary;
use crate::text_queue;
use crate::writer::scope;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A session that was started.
#[derive(Debug)]
pub(crate) struct Active {
    pub(super) core: Arc<Core>,
    /// The files of a session that keeps its messages.
    pub(super) kept: Option<Kept>,
    /// Taken by who ends it, and locked until then.
    destination: Mutex<Option<Destination>>,
}

/// The destination of a session's messages.
#[derive(Debug)]
pub(super) enum Destination {
    /// A file, all the time.
    Stream { requests: Arc<Requests>, thread: JoinHandle<Result<Summary, Error>> },
    /// The buffer, and files when they are asked for.
    Kept,
}

/// The way in which a session ends.
#[derive(Clone, Copy, Debug)]
struct End {
    /// The process did not mean to, so that a recording is left if there is no other trace of the session.
    is_surprise: bool,
    /// The time after which a file that is stuck is given up.
    by: Option<Instant>,
}

/// The interval at which something is looked at that another thread is about to end.
const POLL: Duration = Duration::from_millis(1);

/// The files of a session that keeps its messages.
#[derive(Debug)]
pub(super) struct Kept {
    /// The place of the file at the end, if one was named.
    pub(super) place: Option<FilePlace>,
    /// The claim on its name.
    pub(super) claim: Option<Claim>,
    pub(super) form: FileForm,
    pub(super) earlier: Earlier,
}

impl Active {
    /// A session that runs from now on, and keeps its messages if there is `kept`.
    pub(super) fn start(
        core: Arc<Core>,
        destination: Destination,
        kept: Option<Kept>,
    ) -> Arc<Self> {
        let active = Arc::new(Self { core, kept, destination: Mutex::new(Some(destination)) });
        running::attach_recorder(&active.core);
        scope::enter(&active.core.arbiter);
        running::add(Arc::clone(&active) as _);
        active
    }

    /// True in a process that was forked from the session's.
    fn is_inherited(&self) -> bool {
        self.core.pid != std::process::id()
    }

    /// Ends the session and completes its file. Where it has ended already, the summary is empty. [`Error::Forked`] in a forked child.
    pub(super) fn end(&self) -> Result<Summary, Error> {
        if self.is_inherited() {
            return Err(Error::Forked);
        }
        let mut destination = self.destination.lock().unwrap_or_else(PoisonError::into_inner);
        let how = End { is_surprise: std::thread::panicking(), by: None };
        let end = |destination| self.end_at(destination, how);
        destination.take().map_or(Ok(Summary::default()), end)
    }

    /// As [`Self::end`], where nobody gets the error: it is reported.
    pub(super) fn end_unseen(&self) {
        if self.is_inherited() {
            return;
        }
        if let Err(error) = self.end() {
            report::failure(&self.core, &error);
        }
    }

    fn end_at(&self, destination: Destination, how: End) -> Result<Summary, Error> {
        running::begin_end(&self.core);
        let _listed = Listed(&self.core);
        self.core.stop();
        scope::forget_ended();
        let is_written = match &destination {
            Destination::Stream { .. } => true,
            Destination::Kept => self.kept.as_ref().is_some_and(|kept| kept.place.is_some()),
        };
        let mut summary = match destination {
            Destination::Stream { requests, thread } => self.end_stream(&requests, thread, how.by),
            Destination::Kept => self.end_kept(how.is_surprise),
        };
        if let Ok(summary) = &mut summary {
            diagnosis::complete(&self.core, summary, is_written);
            report::end(&self.core, summary);
        }
        text_queue::flush_at_end();
        summary
    }

    fn end_stream(
        &self,
        requests: &Requests,
        thread: JoinHandle<Result<Summary, Error>>,
        by: Option<Instant>,
    ) -> Result<Summary, Error> {
        let path = self.core.path().unwrap_or(Path::new("")).to_path_buf();
        let failed = |what| Err(Error::File { path, error: std::io::Error::other(what) });
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
        running::detach_recorder(&self.core);
        match (self.core.stream_recorder(), summary) {
            // It has what the file lacks.
            (Some(recorder), Ok(summary)) if recorder.is_left() => summary,
            (Some(recorder), Ok(summary)) => recorder.remove().and(summary),
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

    /// Writes what the buffer keeps, if a file was named. The recording is removed when all is well: not if a panic, an exit of the
    /// process or a signal ends the session, and the recording is the only trace of it.
    fn end_kept(&self, is_surprise: bool) -> Result<Summary, Error> {
        running::detach_recorder(&self.core);
        report::deleted_recording(&self.core);
        let named = self.kept.as_ref().and_then(|kept| Some((kept, kept.place.clone()?)));
        let is_named = named.is_some();
        let mut summary = named.map_or_else(
            || Ok(Summary::default()),
            |(kept, mut place)| {
                let what = "protolog session stopped";
                place.follow();
                earlier::keep(&place, kept.earlier, self.core.owner.reports_losses)?;
                snapshot::write(&self.core, &place, &kept.form, kept.claim.as_ref(), what)
            },
        );
        drop(self.core.take_writers());
        self.core.buffer.discard();
        let is_needed = !is_named && is_surprise;
        match self.core.kept_recorder() {
            Some(recorder) if is_needed => recorder.leave(),
            Some(recorder) if summary.is_ok() => summary = recorder.remove().and(summary),
            _ => {}
        }
        summary
    }
}

/// Keeps a session in the list of those that run until it has ended, also by a panic.
struct Listed<'a>(&'a Arc<Core>);

impl Drop for Listed<'_> {
    fn drop(&mut self) {
        running::remove(self.0);
    }
}

impl RunningSession for Active {
    fn core(&self) -> &Arc<Core> {
        &self.core
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
                let how = End { is_surprise: true, by: Some(end) };
                if let Err(error) = self.end_at(destination, how) {
                    report::failure(&self.core, &error);
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
    use std::thread;

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
