//! Sessions: who wants which messages, and where they go.
//!
//! A session streams to a file: writers fill chunks of its buffer, its thread turns them into packets of the file, and at
//! its end what is left to say goes in: losses, thread names, texts first seen at run time. Or its buffer keeps what is
//! newest, or came first, until somebody wants it as a file; as a recording, it does so in a file of its own.
//!
//! Invariants: a call is enabled if a running session wants it, and each session gets what it wants; starting and stopping
//! may fail, logging never does.

mod behind;
mod builder;
mod bundles;
mod chunk_wait;
pub(crate) mod config;
pub(crate) mod core;
mod counts;
pub(crate) mod dictionary;
mod drain;
mod file;
mod gap;
mod kept;
mod packets;
pub(crate) mod recorder;
pub(crate) mod running;
mod segments;
mod state;
mod stream;
mod trace;

pub use self::builder::Builder;

use self::core::Core;
use self::stream::Requests;
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
/// Any number of sessions may run at once, each with a file, levels and a buffer of its own. A thread's first message after
/// a session started or stopped may allocate and take a lock; a signal handler should not be the one to log it.
///
/// By default a session streams to its file. A process that ends without either (by `exit` or a signal) then leaves a trace of what was written by then; what was still
/// in the buffer is lost. Others keep what they have in memory: [`Builder::keep_newest`], [`Builder::keep_first`]; or where
/// it survives the process: [`Builder::record`].
#[derive(Debug)]
pub struct Session {
    core: Arc<Core>,
    sink: Option<Sink>,
}

/// Where a session's messages go.
#[derive(Debug)]
enum Sink {
    /// To a file all the time.
    Stream { requests: Arc<Requests>, thread: JoinHandle<Result<Summary, Error>> },
    /// To the buffer, and to a file at the end, if one was named; compressed with zlib's level, if there is one.
    Kept { path: Option<PathBuf>, level: Option<u32> },
}

impl Session {
    /// A session that wants WTF of all groups, until told otherwise.
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// Writes everything that was logged before the call to the file, which is tried again where it could not be written;
    /// what [`Builder::keep_newest`] or [`Builder::keep_first`] keeps stays where it is. A recording then has the texts of
    /// libraries that were loaded since, and is on the disk if it is on one. In a forked child: [`Error::Forked`].
    pub fn flush(&self) -> Result<(), Error> {
        self.own()?;
        if let Some(recorder) = &self.core.owner.recorder {
            return recorder.sync();
        }
        let Some(Sink::Stream { requests, .. }) = &self.sink else { return Ok(()) };
        requests.flush(|| self.core.wake()).map_err(|error| {
            let path = self.core.path().unwrap_or(Path::new("")).to_path_buf();
            Error::File { path, error }
        })
    }

    /// Writes what the session keeps to a file of its own, and goes on. The file is there when it is whole; one that was
    /// there is replaced. Threads go on logging meanwhile; what a thread logs before the call is in the file, or counted.
    ///
    /// A session that streams to its file keeps nothing: [`Error::NotKept`]. In a forked child: [`Error::Forked`].
    pub fn snapshot(&self, path: impl AsRef<Path>) -> Result<Summary, Error> {
        self.own()?;
        match &self.sink {
            Some(Sink::Kept { level, .. }) => {
                kept::write(&self.core, path.as_ref(), *level, "protolog session goes on")
            }
            _ => Err(Error::NotKept),
        }
    }

    /// The file of a session that records: [`Builder::record`].
    pub fn recording(&self) -> Option<&Path> {
        self.core.owner.recorder.as_ref().map(|recorder| recorder.path())
    }

    /// What was written and lost so far, in all and by group. Of a session that streams to its file, everything logged before
    /// the call counts. Of one that keeps messages, all count that are not in the newest chunk of their thread, and there are
    /// no bytes; its groups have what a file would have that was written now.
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
    /// let groups = session.so_far().groups;
    /// let short = |name: &Option<String>| name.as_deref().and_then(|name| name.rsplit("::").next()).map(str::to_owned);
    /// let counts: Vec<_> = groups.iter().map(|group| (short(&group.group), group.messages)).collect();
    /// assert_eq!(counts, [(Some("Disk".into()), 1), (Some("Net".into()), 2)]);
    /// # drop(session);
    /// # std::fs::remove_file(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn so_far(&self) -> Summary {
        self.core.so_far()
    }

    /// An error where the session is that of the process that this one was forked from: its locks may be held by threads
    /// that are not here.
    fn own(&self) -> Result<(), Error> {
        if self.core.pid == std::process::id() { Ok(()) } else { Err(Error::Forked) }
    }

    /// Whether this is the session that `core` is the shared part of.
    pub(crate) fn is_of(&self, core: &Arc<Core>) -> bool {
        Arc::ptr_eq(&self.core, core)
    }

    /// Ends the session and completes the file. Messages that other threads log at this very moment may or may not be
    /// in it. An error where the file can't be written, or was taken away: what is in it then, and what was lost, is what
    /// [`Self::so_far`] says before. Where it could not be written for a while only, the losses say what is missing.
    pub fn stop(mut self) -> Result<Summary, Error> {
        self.end()
    }

    fn end(&mut self) -> Result<Summary, Error> {
        let Some(sink) = self.sink.take() else { return Ok(Summary::default()) };
        if self.core.pid != std::process::id() {
            // A forked child has the session's memory but not its thread; the trace is the parent's.
            std::mem::forget(sink);
            return Ok(Summary::default());
        }
        running::remove(&self.core);
        self.core.stop();
        let (requests, thread) = match sink {
            Sink::Stream { requests, thread } => (requests, thread),
            Sink::Kept { path, level } => return self.end_kept(path.as_deref(), level),
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
    /// Writes what the buffer keeps, if somebody wants it as a file. A recording goes when all is well: not where a panic
    /// ends the session, and the recording is all that tells of it.
    fn end_kept(&self, path: Option<&Path>, level: Option<u32>) -> Result<Summary, Error> {
        recorder::end(&self.core);
        let write = |path| kept::write(&self.core, path, level, "protolog session stopped");
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
        // Who wants to know what became of it calls `stop`.
        let _ = self.end();
    }
}
