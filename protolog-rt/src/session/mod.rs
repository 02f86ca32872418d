//! Sessions: a filter, a buffer, and a file.
//!
//! A session that streams: writers fill chunks of its buffer, its thread copies them as packets to
//! the file, and the trailer adds drops, thread names and texts interned at run time. Otherwise the
//! buffer keeps the newest or the first messages until they are written to a file; a recording
//! keeps them in a file to begin with.
//!
//! | room | of |
//! |---|---|
//! | `packets`, `filter`, `file` | the parts: packets between chunks and files, levels that are recorded, files and claims on them |
//! | `recording`, `arbiter` | the buffer in a file that outlives the process; the state shared with the threads that write |
//! | `earlier` | files that earlier runs left at a path |
//! | `finish` | reports at the end |
//! | `stream`, `ring` | sessions that stream to a file, and those that keep messages in memory |
//! | `forwarded` | sessions whose chunks another part of the process passes on |
//! | `trigger` | files of their own for events |
//! | `pinned` | messages that no other message overwrites |
//! | `life`, `builder` | sessions from start to end, also in forked children; their settings |
//!
//! Invariants: a call is enabled if a running session records it, and each session gets the
//! messages it records; starting and stopping may fail, logging never does.

pub(crate) mod arbiter;
mod builder;
pub(crate) mod earlier;
pub(crate) mod file;
pub(crate) mod filter;
pub(crate) mod finish;
pub(crate) mod forwarded;
pub(crate) mod life;
pub(crate) mod packets;
pub(crate) mod pinned;
pub(crate) mod recording;
mod ring;
mod stream;
pub(crate) mod trigger;

pub use self::builder::{Builder, RecordingPlace};

use self::arbiter::session_arbiter::Core;
use self::builder::heirs;
use self::file::file_place::FilePlace;
use self::finish::stop_error::StopError;
use self::finish::{diagnosis, loss_report};
use self::life::active::Active;
use self::life::{forked, summary};
use self::ring::snapshot;
use crate::error::Error;
use crate::session::trigger::settings::TriggerCounts;
use crate::stats::Summary;
use crate::sys::process::asked_id;
use crate::writer::scope::ThreadScope;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::path::Path;
use std::sync::Arc;

/// A trace in the making. It ends when it is stopped or dropped.
///
/// ```
/// use protolog_rt::{Level, ProtoLogGroup, Session};
///
/// #[derive(ProtoLogGroup)]
/// enum AppLog {
///     Net,
/// }
///
/// # let dir = std::env::temp_dir().join(format!("protolog-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir)?;
/// # let path = dir.join("app.pftrace");
/// let session = Session::builder().file(&path).log_from(Level::Info).group("Net", Level::Debug).start()?;
/// protolog_rt::d!(AppLog::Net, "sent %d bytes to %s", 512, "example.org");
/// let summary = session.stop()?;
/// assert_eq!((summary.messages, summary.lost()), (1, 0));
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Any number of sessions may run at once, each with its own file, filter and buffer. A thread's
/// first message of all may allocate and take a lock; a signal handler should not be the one to log
/// it ([`prepare_thread`](crate::prepare_thread)).
///
/// By default a session streams to its file. Other sessions keep messages in memory
/// ([`Builder::keep_newest`], [`Builder::keep_first`]), or in a file that survives the process
/// ([`Builder::record`]).
///
/// # The process is killed, aborts or crashes
///
/// A message is committed when its call returns. The committed messages of a session are
///
/// | session | |
/// |---|---|
/// | [`file`](Builder::file) | kept, each once: those of the last second may be in the recording of the buffer, which completes the file |
/// | [`record`](Builder::record) | kept, as far as the ring reaches; overwritten ones are counted. `protologtool recover` makes a trace of the recording |
/// | [`keep_newest`](Builder::keep_newest), [`keep_first`](Builder::keep_first) | in snapshots that were written before, and in the core file if the system writes one: `protologtool recover --core CORE` makes a trace of it |
///
/// A session that streams writes its file at least once a second while something is logged. Until
/// then a message is in the buffer, and the buffer is in a *recording*: a file in `/dev/shm` that
/// outlives the process, or beside the trace if that has no room or there is none, as on Windows
/// ([`Session::recording`]). The stop
/// of the session removes it. After a crash, the program's next start completes the trace and gives
/// it another name ([`Builder::keep_previous`]), and `protologtool recover app.pftrace` completes
/// it at any time; `protologtool read-log app.pftrace` shows the messages of both. The program's
/// next sessions remove a recording that lacks its trace, once there are too many, or that is too
/// old ([`Builder::keep_recordings`]). [`Builder::without_recording`] switches recordings of
/// streams off.
///
/// A message whose call has not returned is not in the trace, and no message is torn. One
/// exception: messages of several chunks, of more than 4 KiB, that are being written at the same
/// moment and together take more than a quarter of the buffer. If the machine goes down, a
/// recording in `/dev/shm` is lost, the file has what was written, and a recording [on a
/// disk](Builder::record_at) has everything up to the last flush.
///
/// # The process exits, panics, or gets a signal
///
/// A session that is stopped or dropped is complete. When the process exits, by the return of
/// `main` or by `std::process::exit`, the sessions that still run are stopped, those in statics
/// included. That comes after exit handlers (`atexit`) and destructors of the thread's values,
/// whose messages are recorded; so a handler finds no complete trace, unless it stops the session
/// itself. [`stop_on_signals`](crate::stop_on_signals) does the same for Ctrl-C, SIGTERM and
/// SIGHUP. Neither waits longer than 5 seconds for the file of a session that streams if it is
/// stuck, such as a pipe that nobody reads; then its recording stays. An error that nobody can get,
/// since a session is dropped or the process exits, is one line on standard error
/// ([`Builder::report_losses`]).
///
/// Unwinding loses nothing: a session that it drops completes its file, or leaves its recording.
/// With [`log_panics`](crate::log_panics), each panic becomes a message with its stack trace, and
/// the files of all sessions have everything up to it, even if the process then aborts.
///
/// # The process forks
///
/// The parent's sessions continue. With [`Builder::follow_forks`] the child goes on in a file of
/// its own. Without, they are over in the child: it writes to none of their files, its messages for
/// them are discarded without being counted, and [`Session::flush`] and [`Session::stop`] return
/// [`Error::Forked`] there. The first such message says so in a line on standard error, unless
/// [`Builder::report_losses`] is off, and switches all levels off until the child starts sessions
/// of its own; it may do so, call [`init`](crate::init()) and log like any program. So a daemon
/// starts its sessions after its forks, or follows them. If a signal handler forks within a
/// message, the parent's trace has the message, and the child counts a loss
/// ([`LossCause::Forked`](crate::LossCause::Forked)).
///
/// A bare `clone` system call runs no fork handlers, so such a child should only call `exec`. Its
/// messages go into its thread's chunk until that is full, where the fork is noticed: the buffer of
/// a recording is shared with the parent. Without a recording they go into its copy of the buffer.
///
/// # A signal handler logs
///
/// Its message is recorded, unless it interrupts another message of the same thread: then it is
/// dropped and counted as [`LossCause::Reentrant`](crate::LossCause::Reentrant), and the
/// interrupted message is whole. It neither allocates, nor frees, nor waits for a lock, at any
/// point of the program and whenever sessions start and stop, on three conditions:
///
/// - A message of the thread was recorded before, or it has called
///   [`prepare_thread`](crate::prepare_thread); and so has a call to the handler's enum of groups,
///   [`is_enabled`](crate::ProtoLogGroup::is_enabled) included. Either allocates the first time.
/// - The message is below 4 KiB, and has no stack trace. [`dynamic::log`](crate::dynamic::log) and
///   [text output](crate::text) are not for handlers.
/// - No session waits for room ([`Builder::wait_at_most`]).
///
/// So a thread frees nothing of a session that has ended: the buffer remains until each of its
/// threads has logged to another session or ended, and after that a session starts, stops or writes
/// to its file.
///
/// A handler on an alternate stack needs 4 KiB of it for a call, in a release build.
///
/// # A library is unloaded
///
/// `dlclose` does not unload a library that has this runtime inside and has started a session,
/// called [`init`](crate::init()) or installed a hook: its threads, thread-local destructors and
/// fork handlers go on, and so does the session. Nor does it unload a library whose groups have
/// registered, which the first enabled call of a group does.
///
/// # A thread ends
///
/// Its messages stay in the trace, under its name and id, and its chunk is given back. About 2 KiB
/// remain until the session ends, or until a later thread uses them, as it does once the session
/// has 512 sequences. So 200,000 threads, one after the other, leave no more than 1,000 do: in a
/// session that keeps messages or records 0.9 MiB, in one that streams about 1 MiB. Destructors of
/// thread-local values may log. What the C library's thread-specific values (`pthread_key_create`)
/// log in the last rounds of their destructors is counted as
/// [`LossCause::ThreadExit`](crate::LossCause::ThreadExit).
///
/// # The buffer is full
///
/// A session that streams, or keeps the first messages, drops the message and counts it as
/// [`LossCause::BufferFull`](crate::LossCause::BufferFull). A ring overwrites its oldest chunk, and
/// counts its messages as [`LossCause::Overwritten`](crate::LossCause::Overwritten). A larger
/// [`Builder::buffer_size`] helps against bursts, [`Builder::wait_at_most`] against the rest. A
/// session that lost messages says so in one line on standard error when it ends, unless
/// [`Builder::report_losses`] is off.
///
/// # The file can't be written
///
/// The program continues, and so does the trace once there is room again: the session tries once a
/// second while messages arrive, at [`Session::flush`], and at [`Session::stop`]. Missing messages
/// are counted by group as [`LossCause::WriteFailed`](crate::LossCause::WriteFailed), in the trace
/// once it can be written, and in [`Session::summary`] at once. While the file can't be written,
/// `flush` returns an error; `stop` does if this lasts to the end. The trace then ends with the
/// last packet that had room, and the recording stays with what was logged after the last attempt:
/// [`recover_previous`](crate::recover_previous) completes the file from it. A pipe or device that
/// failed once is not tried again. A limit on the size of files (`ulimit -f`) and a pipe without a
/// reader are errors like any other: neither SIGXFSZ nor SIGPIPE ends the program.
///
/// # Other programs change the file
///
/// A session that streams looks at its file before it writes. If the file was renamed or replaced,
/// as `logrotate` does, the session completes it, and goes on in a new one at its path
/// ([`Session::reopen`] does so at once). If it was deleted, the session goes on in a new one, or
/// in the next segment; if it was emptied or cut (`copytruncate`), behind what is left. Messages
/// that are in the file no more count as lost ([`LossCause::Removed`](crate::LossCause::Removed)),
/// and a line on standard error says so, since nobody knows whether there is a copy. `stop` returns
/// an error if there can be no new file. [`Builder::segment_age`] rotates without a loss.
///
/// # Other users
///
/// Messages may hold secrets, so files are their owner's only, unless [`Builder::file_mode`] says
/// otherwise, also where one is there before. In a directory that everybody may write to, such as
/// `/tmp`, a file or link of another user is refused, even where the system does not see to that
/// itself.
///
/// # The clock is set
///
/// The order of messages and the time between them stay as they are, since they are counted from
/// the machine's start. Dates follow the new time from the session's next write to its file.
///
/// # It ends when it is dropped
///
/// A `Session` is kept in a variable as long as the program is to be recorded.
/// `let _ = Session::builder()….start()?` drops it at once, as does a statement that does nothing
/// with it: then nothing is recorded. `let _session = …` keeps it to the end of the block.
#[derive(Debug)]
#[must_use = "a session ends when it is dropped; `let _ = …` drops it at once, `let _session = …` keeps it"]
pub struct Session {
    active: Arc<Active>,
}

impl Session {
    /// Returns the settings of a session that records WTF of every group unless configured
    /// otherwise.
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// Writes everything that was logged before the call to the file, also to one that could not be
    /// written before. A session that keeps its messages in memory has nothing to write. A
    /// recording gets the texts of libraries that were loaded since, and is synced if it is on a
    /// disk. In a forked child: [`Error::Forked`].
    pub fn flush(&self) -> Result<(), Error> {
        let active = self.here()?;
        if let Some(recorder) = active.core.kept_recorder() {
            loss_report::deleted_recording(&active.core);
            return recorder.sync();
        }
        let Some(requests) = active.core.requests() else { return Ok(()) };
        requests.flush(|| active.core.wake()).map_err(|error| {
            let path = active.core.path().unwrap_or(Path::new("")).to_path_buf();
            Error::File { path, error }
        })
    }

    /// Goes on in a new file if the present one was renamed, deleted or replaced: for a handler of
    /// SIGHUP, as programs that rotate logs send it. Everything that was logged before goes to the
    /// new file, but for what the old one has. A session that streams does so by itself within a
    /// second, and at each [`Self::flush`], which this is; others have no file that is open. In a
    /// forked child: [`Error::Forked`].
    ///
    /// ```
    /// # use protolog_rt::{ProtoLogGroup, Session};
    /// # #[derive(ProtoLogGroup)]
    /// # enum AppLog { Net }
    /// # let dir = std::env::temp_dir().join(format!("protolog-reopen-{}", std::process::id()));
    /// # std::fs::create_dir_all(&dir)?;
    /// # let path = dir.join("app.pftrace");
    /// let session = Session::builder().file(&path).enable_all().start()?;
    /// protolog_rt::d!(AppLog::Net, "to the first file");
    /// session.flush()?;
    /// std::fs::rename(&path, dir.join("rotated.pftrace"))?;
    /// session.reopen()?;
    /// protolog_rt::d!(AppLog::Net, "to the second one");
    /// # session.stop()?;
    /// # assert!(path.exists() && dir.join("rotated.pftrace").exists());
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reopen(&self) -> Result<(), Error> {
        if self.here()?.core.requests().is_some() { self.flush() } else { Ok(()) }
    }

    /// Writes the messages that the session keeps to a file, and continues. The file appears when
    /// it is complete, and replaces an existing one, unless another session is writing that
    /// ([`Error::FileInUse`]). Threads may log meanwhile; each message logged before the call is in
    /// the file, or counted.
    ///
    /// A session that streams to its file keeps nothing: [`Error::NotKept`]. In a forked child:
    /// [`Error::Forked`].
    pub fn snapshot(&self, path: impl AsRef<Path>) -> Result<Summary, Error> {
        let active = self.here()?;
        let kept = active.kept.as_ref().ok_or(Error::NotKept)?;
        let what = "protolog session goes on";
        let core = &active.core;
        let place = FilePlace::of_file(path.as_ref())?;
        let mut summary = snapshot::write(core, &place, &kept.form, kept.claim.as_ref(), what)?;
        diagnosis::complete(core, &mut summary, true);
        Ok(summary)
    }

    /// Fires the session's triggers for `cause`: a file with what came before gets written, by a
    /// thread of the session ([`Triggers`](crate::Triggers)). False if that cause has fired a
    /// moment ago ([`Triggers::interval`](crate::Triggers::interval)), or the session has ended;
    /// then it is counted. The session knows 32 causes beside those of its triggers, and counts all
    /// others as one. One without a name is called `trigger`.
    ///
    /// [`Error::NoTriggers`] if the session was started without any. In a forked child:
    /// [`Error::Forked`].
    pub fn trigger(&self, cause: &str) -> Result<bool, Error> {
        let active = self.here()?;
        let causes = active.core.owner.causes.as_ref().ok_or(Error::NoTriggers)?;
        Ok(causes.fire(cause))
    }

    /// Returns what became of each cause of the session's triggers so far; nothing for a session
    /// without triggers.
    pub fn trigger_counts(&self) -> Vec<TriggerCounts> {
        let here = self.of_this_process();
        let owner = &here.as_ref().unwrap_or(&self.active).core.owner;
        owner.causes.as_ref().map_or_else(Vec::new, |causes| TriggerCounts::of(causes))
    }

    /// Returns the file that the session's buffer is in, and that survives the process: of a
    /// session that streams, and of one that records ([`Builder::record`]). In a forked child that
    /// of the session that goes on there ([`Builder::follow_forks`]), once it does; else none,
    /// since it is the parent's.
    pub fn recording(&self) -> Option<&Path> {
        if self.active.core.pid == asked_id() {
            return self.active.core.owner.recorder.as_ref().map(|recorder| recorder.path());
        }
        self.of_this_process()?.recording_for_ever()
    }

    /// Returns the messages written and dropped so far, in all and by group. A session that streams
    /// counts everything logged before the call. One that keeps messages counts all that are not in
    /// the newest chunk of their thread, and no bytes; its groups have the messages that a snapshot
    /// would have now.
    ///
    /// ```
    /// # use protolog_rt::{ProtoLogGroup, Session};
    /// # #[derive(ProtoLogGroup)]
    /// # enum AppLog { Net, Disk }
    /// # let path = std::env::temp_dir().join(format!("protolog-groups-{}.pftrace", std::process::id()));
    /// let session = Session::builder().file(&path).enable_all().start()?;
    /// protolog_rt::d!(AppLog::Net, "sent %d bytes", 512);
    /// protolog_rt::d!(AppLog::Net, "sent %d bytes", 7);
    /// protolog_rt::d!(AppLog::Disk, "sync");
    /// let groups = session.summary().groups;
    /// let short = |name: &Option<String>| name.as_deref().and_then(|name| name.rsplit("::").next()).map(str::to_owned);
    /// let counts: Vec<_> = groups.iter().map(|group| (short(&group.group), group.messages)).collect();
    /// assert_eq!(counts, [(Some("Disk".into()), 1), (Some("Net".into()), 2)]);
    /// # drop(session);
    /// # std::fs::remove_file(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn summary(&self) -> Summary {
        let here = self.of_this_process();
        let active = here.as_ref().unwrap_or(&self.active);
        let mut summary = summary::so_far(&active.core);
        if here.is_some() {
            diagnosis::complete(&active.core, &mut summary, active.kept.is_none());
        }
        summary
    }

    /// Returns a handle by which threads enter the session, if it is one of chosen threads
    /// ([`Builder::this_thread`]).
    pub fn thread_scope(&self) -> ThreadScope {
        ThreadScope::new(&self.active.core.arbiter)
    }

    /// Returns the session of this process: itself, or its heir in a forked child, which starts now
    /// unless it runs. An error if it is the parent's alone: its locks may be held by threads that
    /// do not exist here.
    fn here(&self) -> Result<Arc<Active>, Error> {
        if self.active.core.pid != asked_id() && forked::is_inherited() {
            heirs::start();
        }
        self.of_this_process().ok_or(Error::Forked)
    }

    /// As [`Self::here`], but nothing starts.
    fn of_this_process(&self) -> Option<Arc<Active>> {
        if self.active.core.pid == asked_id() {
            return Some(Arc::clone(&self.active));
        }
        heirs::of(&self.active)
    }

    /// Returns whether `core` is the shared part of this session.
    pub(crate) fn is_of(&self, core: &Arc<Core>) -> bool {
        Arc::ptr_eq(&self.active.core, core)
    }

    /// Ends the session and completes the file. Messages that other threads log at this moment may
    /// or may not be in it. An error if the file can't be written, or was deleted meanwhile;
    /// [`Self::try_stop`] has the counts then, too. If the file could not be written for a while
    /// only, the drops say what is missing. In a forked child: [`Error::Forked`].
    pub fn stop(self) -> Result<Summary, Error> {
        let active = self.here()?;
        let summary = active.end();
        heirs::forget(&active);
        summary
    }

    /// As [`Self::stop`], for programs that go on with an error: that has the counts, and a session
    /// that keeps its messages has them until they are written, by another call or by
    /// [`Self::try_stop_at`]. When the session is dropped or the process exits, it tries once more.
    /// Once a session has ended, the summary is empty.
    ///
    /// A session that streams keeps its recording, with what the file lacks, for
    /// [`recover_previous`](crate::recover_previous).
    ///
    /// ```
    /// # use protolog_rt::{ProtoLogGroup, Session};
    /// # #[derive(ProtoLogGroup)]
    /// # enum AppLog { Net }
    /// # let dir = std::env::temp_dir().join(format!("protolog-try-stop-{}", std::process::id()));
    /// # std::fs::create_dir_all(dir.join("full"))?;
    /// # let path = dir.join("full/app.pftrace");
    /// let mut session = Session::builder().keep_newest().file(&path).enable_all().start()?;
    /// protolog_rt::d!(AppLog::Net, "hello");
    /// # std::fs::remove_dir_all(dir.join("full"))?;
    /// if let Err(error) = session.try_stop() {
    ///     eprintln!("{error}; {} messages are kept", error.summary().messages);
    ///     session.try_stop_at(dir.join("app.pftrace"))?;
    /// }
    /// # assert!(dir.join("app.pftrace").exists());
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_stop(&mut self) -> Result<Summary, StopError> {
        let active = self.here()?;
        let summary = active.end_by(true, None);
        heirs::revoke(&active);
        if summary.is_ok() {
            heirs::forget(&active);
        }
        summary
    }

    /// As [`Self::try_stop`], to this file in place of the session's own. Of a session that
    /// streams: [`Error::NotKept`], and it goes on.
    pub fn try_stop_at(&mut self, path: impl AsRef<Path>) -> Result<Summary, StopError> {
        let active = self.here()?;
        if active.kept.is_none() {
            return Err(Error::NotKept.into());
        }
        let place = FilePlace::of_file(path.as_ref())?;
        let summary = active.end_by(true, Some(place));
        heirs::revoke(&active);
        if summary.is_ok() {
            heirs::forget(&active);
        }
        summary
    }
}

// A panic leaves no session half changed: calls of the program's code are made without its locks,
// and the state of threads is changed by single stores.
impl UnwindSafe for Session {}
impl RefUnwindSafe for Session {}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(active) = self.of_this_process() {
            active.end_unseen();
            heirs::forget(&active);
        } else {
            heirs::renounce(&self.active);
        }
        if self.active.core.pid != asked_id() {
            // A forked child has the session's memory but not its thread; the trace is the
            // parent's.
            std::mem::forget(Arc::clone(&self.active));
        }
    }
}
