//! Sessions: a filter, a buffer, and a file.
//!
//! A session that streams: writers fill chunks of its buffer, its thread copies them as packets to the file, and the trailer
//! adds drops, thread names and texts interned at run time. Otherwise the buffer keeps the newest or the first messages until
//! they are written to a file; a recording keeps them in a file to begin with.
//!
//! Invariants: a call is enabled if a running session records it, and each session gets what it records; starting and
//! stopping may fail, logging never does.

mod builder;
mod bundles;
mod chunk_wait;
mod claim;
pub(crate) mod config;
pub(crate) mod core;
mod counts;
pub(crate) mod dictionary;
mod drain;
mod file;
mod gap;
mod packets;
mod process;
pub(crate) mod recorder;
mod requests;
pub(crate) mod running;
mod segments;
mod snapshot;
mod state;
mod stream;
pub(crate) mod summary;
mod trace;
mod wire;
mod write_behind;

pub use self::builder::Builder;

use self::core::Core;
use self::requests::Requests;
use crate::error::Error;
use crate::stats::Summary;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

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
/// Any number of sessions may run at once, each with its own file, filter and buffer. A thread's first message after a session
/// started or stopped may allocate and take a lock; a signal handler should not be the one to log it.
///
/// By default a session streams to its file. Other sessions keep messages in memory ([`Builder::keep_newest`],
/// [`Builder::keep_first`]), or in a file that survives the process ([`Builder::record`]).
///
/// # The process is killed, aborts or crashes
///
/// A message is committed when its call returns. The committed messages of a session are
///
/// | session | |
/// |---|---|
/// | [`record`](Builder::record) | kept, as far as the ring reaches; overwritten ones are counted. `protologtool recover` makes a trace of the recording |
/// | [`file`](Builder::file) | kept as far as they were written, and readable; the rest is lost, and can't be counted. The session's thread writes when the buffer is half full (2 MiB of 4), and at [`Session::flush`] |
/// | [`keep_newest`](Builder::keep_newest), [`keep_first`](Builder::keep_first) | lost, except in snapshots that were written before |
///
/// A message whose call has not returned is not in the trace, and no message is torn. A recorder keeps all of 10,000 messages
/// written just before a SIGKILL. If the machine goes down, a recording in `/dev/shm` is lost, and one
/// [on a disk](Builder::record_at) has everything up to the last flush.
///
/// # The process exits or panics
///
/// A session that is stopped or dropped is complete. `std::process::exit` drops nothing, nor does anything drop a session in a
/// static: the table above applies then, so stop sessions first.
///
/// Unwinding loses nothing: a session that it drops completes its file, or leaves its recording. With
/// [`log_panics`](crate::log_panics), each panic becomes a message with its stack trace, and the files of all sessions have
/// everything up to it, even if the process then aborts.
///
/// # The process forks
///
/// The parent's sessions continue. In the child they are over: it writes to none of their files ([`Session::flush`] returns an error
/// there), and its messages for them are discarded without being counted. All levels are off in the child until it starts sessions of
/// its own; it may do so, call [`init`](crate::init()) and log like any program. If a signal handler forks within a message, the
/// parent's trace has the message, and the child counts a loss ([`LossCause::Forked`](crate::LossCause::Forked)).
///
/// A bare `clone` system call runs no fork handlers, so such a child should only call `exec`. Its messages go into its copy of the
/// buffer, which leaves the parent's trace intact; with a recorder they go into its thread's chunk until that is full, where
/// the fork is noticed.
///
/// # A signal handler logs
///
/// Its message is recorded, unless it interrupts another message of the same thread: then it is dropped and counted as
/// [`LossCause::Reentrant`](crate::LossCause::Reentrant), and the interrupted message is whole. A thread's first message after a
/// session started or stopped may allocate, which a handler must not: let the thread log a message before, or block the signal
/// meanwhile. [`dynamic::log`](crate::dynamic::log), stack traces and [text output](crate::text) are not for handlers.
///
/// # A thread ends
///
/// Its messages stay in the trace, under its name and id; its chunk is given back, and none of its memory remains. Thread-local
/// destructors may log: messages of those that run after the runtime's own are counted as
/// [`LossCause::ThreadExit`](crate::LossCause::ThreadExit).
///
/// # The buffer is full
///
/// A session that streams, or keeps the first messages, drops the message and counts it as
/// [`LossCause::BufferFull`](crate::LossCause::BufferFull). A ring overwrites its oldest chunk, and counts its messages as
/// [`LossCause::Overwritten`](crate::LossCause::Overwritten). A larger [`Builder::buffer_size`] helps against bursts,
/// [`Builder::wait_at_most`] against the rest.
///
/// # The file can't be written
///
/// The program continues, and so does the trace once there is room again: the session tries once a second while messages
/// arrive, at [`Session::flush`], and at [`Session::stop`]. Missing messages are counted by group as
/// [`LossCause::WriteFailed`](crate::LossCause::WriteFailed), in the trace once it can be written, and in [`Session::summary`] at once.
/// While the file can't be written, `flush` returns an error; `stop` does if this lasts to the end, and the trace then ends
/// with the last packet that had room. A pipe or device that failed once is not tried again.
///
/// If the file is deleted meanwhile, `stop` returns an error; with [`Builder::segment_bytes`] the next segments are written all the
/// same. Other programs should not change the file while it is written: truncating it (`copytruncate`) leaves a hole of zeros.
/// Use [`Builder::segment_age`] to rotate instead.
///
/// # The clock is set
///
/// The order of messages and the time between them stay as they are, since they are counted from the machine's start. Dates follow
/// the new time from the session's next write to its file.
#[derive(Debug)]
pub struct Session {
    core: Arc<Core>,
    destination: Option<Destination>,
}

/// The destination of a session's messages.
#[derive(Debug)]
enum Destination {
    /// A file, all the time.
    Stream { requests: Arc<Requests>, thread: JoinHandle<Result<Summary, Error>> },
    /// The buffer, and a file at the end, if one was named; compressed if there is a compression level.
    Kept { path: Option<PathBuf>, compression: Option<u32> },
}

impl Session {
    /// Returns the settings of a session that records WTF of every group unless configured otherwise.
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// Writes everything that was logged before the call to the file, also to one that could not be written before. A session
    /// that keeps its messages in memory has nothing to write. A recording gets the texts of libraries that were loaded since,
    /// and is synced if it is on a disk. In a forked child: [`Error::Forked`].
    pub fn flush(&self) -> Result<(), Error> {
        self.check_process()?;
        if let Some(recorder) = &self.core.owner.recorder {
            return recorder.sync();
        }
        let Some(Destination::Stream { requests, .. }) = &self.destination else { return Ok(()) };
        requests.flush(|| self.core.wake()).map_err(|error| {
            let path = self.core.path().unwrap_or(Path::new("")).to_path_buf();
            Error::File { path, error }
        })
    }

    /// Writes the messages that the session keeps to a file, and continues. The file appears when it is complete, and replaces
    /// an existing one. Threads may log meanwhile; each message logged before the call is in the file, or counted.
    ///
    /// A session that streams to its file keeps nothing: [`Error::NotKept`]. In a forked child: [`Error::Forked`].
    pub fn snapshot(&self, path: impl AsRef<Path>) -> Result<Summary, Error> {
        self.check_process()?;
        match &self.destination {
            Some(Destination::Kept { compression, .. }) => {
                snapshot::write(&self.core, path.as_ref(), *compression, "protolog session goes on")
            }
            _ => Err(Error::NotKept),
        }
    }

    /// Returns the file of a session that records: [`Builder::record`].
    pub fn recording(&self) -> Option<&Path> {
        self.core.owner.recorder.as_ref().map(|recorder| recorder.path())
    }

    /// Returns the messages written and dropped so far, in all and by group. A session that streams counts everything logged
    /// before the call. One that keeps messages counts all that are not in the newest chunk of their thread, and no bytes; its
    /// groups have the messages that a snapshot would have now.
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
        summary::so_far(&self.core)
    }

    /// Returns an error if the session belongs to the process that this one was forked from: its locks may be held by threads
    /// that do not exist here.
    fn check_process(&self) -> Result<(), Error> {
        if self.core.pid == std::process::id() { Ok(()) } else { Err(Error::Forked) }
    }

    /// Returns whether `core` is the shared part of this session.
    pub(crate) fn is_of(&self, core: &Arc<Core>) -> bool {
        Arc::ptr_eq(&self.core, core)
    }

    /// Ends the session and completes the file. Messages that other threads log at this moment may or may not be in it. An error
    /// if the file can't be written, or was deleted meanwhile; [`Self::summary`], called before, has the counts then. If the file
    /// could not be written for a while only, the drops say what is missing.
    pub fn stop(mut self) -> Result<Summary, Error> {
        self.end()
    }

    fn end(&mut self) -> Result<Summary, Error> {
        let Some(destination) = self.destination.take() else { return Ok(Summary::default()) };
        if self.core.pid != std::process::id() {
            // A forked child has the session's memory but not its thread; the trace is the parent's.
            std::mem::forget(destination);
            return Ok(Summary::default());
        }
        running::remove(&self.core);
        self.core.stop();
        let (requests, thread) = match destination {
            Destination::Stream { requests, thread } => (requests, thread),
            Destination::Kept { path, compression } => {
                return self.end_kept(path.as_deref(), compression);
            }
        };
        requests.stop();
        self.core.wake();
        thread.join().unwrap_or_else(|_| {
            Err(Error::Resources(std::io::Error::other(
                "the thread that writes the trace panicked",
            )))
        })
    }
}

impl Session {
    /// Writes what the buffer keeps, if a file was named. The recording is removed when all is well: not if a panic ends the
    /// session, and the recording is the only trace of it.
    fn end_kept(&self, path: Option<&Path>, compression: Option<u32>) -> Result<Summary, Error> {
        running::detach_recorder(&self.core);
        let write =
            |path| snapshot::write(&self.core, path, compression, "protolog session stopped");
        let mut summary = path.map_or_else(|| Ok(Summary::default()), write);
        drop(self.core.take_writers());
        self.core.buffer.discard();
        let is_needed = path.is_none() && std::thread::panicking();
        match &self.core.owner.recorder {
            Some(recorder) if is_needed => recorder.leave(),
            Some(recorder) if summary.is_ok() => summary = recorder.remove().and(summary),
            _ => {}
        }
        summary
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // `stop` returns the error.
        let _ = self.end();
    }
}
