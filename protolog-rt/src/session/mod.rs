//! Sessions: who wants which messages, and where they go.
//!
//! A session streams to a file: writers fill chunks of its buffer, its thread turns them into packets of the file, and at
//! its end what is left to say goes in: losses, thread names, texts first seen at run time. Or its buffer keeps what is
//! newest, or came first, until somebody wants it as a file.
//!
//! Invariants: a call is enabled if a running session wants it, and each session gets what it wants; starting and stopping
//! may fail, logging never does.

pub(crate) mod config;
pub(crate) mod core;
mod dictionary;
mod drain;
mod file;
mod kept;
pub(crate) mod running;
mod stream;
mod trace;

use self::config::{Config, GroupOverride, TracingMode, Wanted};
use self::core::{Core, Keeps};
use self::file::TraceFile;
use self::stream::{Requests, Stream};
use self::trace::Trace;
use crate::clock;
use crate::error::Error;
use crate::shmem::buffer::Buffer;
use crate::stats::Summary;
use protolog_core::Level;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{Builder as ThreadBuilder, JoinHandle};

/// Size of a buffer unless asked otherwise, in bytes.
const BUFFER: usize = 4 << 20;
/// The smallest buffer, in bytes: room for a message of 32 texts, and for some threads.
const MIN_BUFFER: usize = 64 << 10;
/// The most bytes of a text argument, unless asked otherwise.
const MAX_TEXT: usize = 4096;

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
/// in the buffer is lost. Others keep what they have in memory: [`Builder::keep_newest`], [`Builder::keep_first`].
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
    /// To the buffer, and to a file at the end.
    Kept { path: PathBuf },
}

/// What a session is to be.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `start`"]
pub struct Builder {
    path: Option<PathBuf>,
    config: Config,
    keeps: Keeps,
    buffer: usize,
    max_text: usize,
}

impl Session {
    /// A session that wants WTF of all groups, until told otherwise.
    pub fn builder() -> Builder {
        Builder {
            path: None,
            config: Config::default(),
            keeps: Keeps::Nothing,
            buffer: BUFFER,
            max_text: MAX_TEXT,
        }
    }

    /// Writes everything that was logged before the call to the file; what [`Builder::keep_newest`] or
    /// [`Builder::keep_first`] keeps stays where it is.
    pub fn flush(&self) -> Result<(), Error> {
        let Some(Sink::Stream { requests, .. }) = &self.sink else { return Ok(()) };
        if requests.flush(|| self.core.wake()) {
            return Ok(());
        }
        Err(Error::Resources(std::io::Error::other("the trace can't be written any more")))
    }

    /// Writes what the session keeps to a file of its own, and goes on. The file is there when it is whole; one that was
    /// there is replaced. Threads go on logging meanwhile; what a thread logs before the call is in the file, or counted.
    ///
    /// A session that streams to its file keeps nothing: [`Error::NotKept`].
    pub fn snapshot(&self, path: impl AsRef<Path>) -> Result<Summary, Error> {
        match &self.sink {
            Some(Sink::Kept { .. }) => {
                kept::write(&self.core, path.as_ref(), "protolog session goes on")
            }
            _ => Err(Error::NotKept),
        }
    }

    /// Ends the session and completes the file. Messages that other threads log at this very moment may or may not be
    /// in it.
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
            Sink::Kept { path } => {
                let summary = kept::write(&self.core, &path, "protolog session stopped");
                drop(self.core.take_all());
                self.core.buffer.discard();
                return summary;
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

impl Drop for Session {
    fn drop(&mut self) {
        // Who wants to know what became of it calls `stop`.
        let _ = self.end();
    }
}

impl Builder {
    /// The file that the trace goes to. One that is there is replaced.
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Wants all levels of all groups that no override names.
    pub fn enable_all(mut self) -> Self {
        self.config.tracing_mode = TracingMode::EnableAll;
        self
    }

    /// Wants `level` and what is more severe, of all groups that no override names.
    pub fn log_from(mut self, level: Level) -> Self {
        self.config.default_log_from = Some(level);
        self
    }

    /// Wants `level` and what is more severe of one group, or nothing of it (`None`). `group` is a full name
    /// (`app::AppLog::Net`), or an end of one (`Net`) that only one group has.
    pub fn group(mut self, group: impl Into<String>, level: impl Into<Option<Level>>) -> Self {
        let (group, log_from) = (group.into(), level.into());
        self.config.group_overrides.push(GroupOverride { group, log_from });
        self
    }

    /// Wants what `config` says, and nothing of what was said before.
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Keeps the newest messages in the buffer, as a ring, and writes them to the file when the session stops, or to others
    /// at each [`Session::snapshot`]. What was overwritten is counted. Nothing remains of a process that ends without
    /// either.
    ///
    /// ```
    /// # use protolog_rt::{Level, ProtoLogGroup, Session};
    /// # #[derive(ProtoLogGroup)]
    /// # enum AppLog { Net }
    /// # let dir = std::env::temp_dir().join(format!("protolog-ring-{}", std::process::id()));
    /// # std::fs::create_dir_all(&dir)?;
    /// let session = Session::builder()
    ///     .file(dir.join("last.pftrace"))
    ///     .enable_all()
    ///     .keep_newest()
    ///     .buffer_size(64 << 10)
    ///     .start()?;
    /// for number in 0..100_000u64 {
    ///     protolog_rt::d!(AppLog::Net, "packet %d", number);
    /// }
    /// // Something went wrong: what led to it?
    /// let summary = session.snapshot(dir.join("wrong.pftrace"))?;
    /// assert!(summary.messages > 1_000);
    /// assert_eq!(summary.messages + summary.lost(), 100_000);
    /// # drop(session);
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn keep_newest(mut self) -> Self {
        self.keeps = Keeps::Newest;
        self
    }

    /// Keeps the first messages, until the buffer is full; what comes later is counted. Otherwise as
    /// [`Self::keep_newest`].
    pub fn keep_first(mut self) -> Self {
        self.keeps = Keeps::First;
        self
    }

    /// Size of the buffer between the program and the file, in bytes: from 64 KiB to 32 MiB, 4 MiB by default. What finds
    /// it full is lost, and counted, unless the newest messages are kept.
    pub fn buffer_size(mut self, bytes: usize) -> Self {
        self.buffer = bytes.max(MIN_BUFFER);
        self
    }

    /// The most bytes of a text argument, 4 KiB by default, at most a 64th of the buffer. A longer one is cut, with an
    /// ellipsis, and counted.
    pub fn max_text(mut self, bytes: usize) -> Self {
        self.max_text = bytes;
        self
    }

    /// Starts the session.
    pub fn start(self) -> Result<Session, Error> {
        let path = self.path.ok_or(Error::NoFile)?;
        let wanted = Wanted::new(&self.config, &dictionary::known_groups())?;
        clock::prepare();
        let buffer = Buffer::anonymous(self.buffer).map_err(Error::Resources)?;
        let max_text = self.max_text.min(self.buffer / 64);
        let core = Arc::new(Core::new(buffer, max_text, wanted, self.keeps));
        let sink = match self.keeps {
            Keeps::Nothing => Self::stream(&core, &path)?,
            Keeps::First | Keeps::Newest => {
                // What can't be written at the end is better known now.
                drop(TraceFile::whole(&path)?);
                Sink::Kept { path }
            }
        };
        running::add(&core);
        Ok(Session { core, sink: Some(sink) })
    }

    /// Starts the thread that makes a file of what is written.
    fn stream(core: &Arc<Core>, path: &Path) -> Result<Sink, Error> {
        let requests = Arc::<Requests>::default();
        let trace = Trace::begin(Arc::clone(core), TraceFile::create(path)?);
        let stream = Stream::new(Arc::clone(core), Arc::clone(&requests), trace);
        let thread = ThreadBuilder::new().name("protolog".into()).spawn(move || stream.run());
        let thread = thread.map_err(Error::Resources)?;
        core.set_drain(thread.thread().clone());
        Ok(Sink::Stream { requests, thread })
    }
}
