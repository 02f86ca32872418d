//! Sessions: who wants which messages, and where they go.
//!
//! A session streams to a file. Writers fill chunks of its buffer, its thread turns them into packets of the file, and at
//! its end what is left to say goes in: losses, thread names, texts first seen at run time.
//!
//! Invariants: a call is enabled if a running session wants it, and each session gets what it wants; starting and stopping
//! may fail, logging never does.

pub(crate) mod config;
pub(crate) mod core;
mod dictionary;
mod drain;
mod file;
pub(crate) mod running;
mod stream;

use self::config::{Config, GroupOverride, TracingMode, Wanted};
use self::core::Core;
use self::file::TraceFile;
use self::stream::{Requests, Stream};
use crate::clock;
use crate::error::Error;
use crate::shmem::buffer::Buffer;
use crate::stats::Summary;
use protolog_core::Level;
use std::path::PathBuf;
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
/// A process that ends without either (by `exit` or a signal) leaves a trace of what was written by then; what was still
/// in the buffer is lost.
#[derive(Debug)]
pub struct Session {
    core: Arc<Core>,
    requests: Arc<Requests>,
    thread: Option<JoinHandle<Result<Summary, Error>>>,
}

/// What a session is to be.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `start`"]
pub struct Builder {
    path: Option<PathBuf>,
    config: Config,
    buffer: usize,
    max_text: usize,
}

impl Session {
    /// A session that wants WTF of all groups, until told otherwise.
    pub fn builder() -> Builder {
        Builder { path: None, config: Config::default(), buffer: BUFFER, max_text: MAX_TEXT }
    }

    /// Writes everything that was logged before the call to the file.
    pub fn flush(&self) -> Result<(), Error> {
        if self.requests.flush(|| self.core.wake()) {
            return Ok(());
        }
        Err(Error::Resources(std::io::Error::other("the trace can't be written any more")))
    }

    /// Ends the session and completes the file. Messages that other threads log at this very moment may or may not be
    /// in it.
    pub fn stop(mut self) -> Result<Summary, Error> {
        self.end()
    }

    fn end(&mut self) -> Result<Summary, Error> {
        let Some(thread) = self.thread.take() else { return Ok(Summary::default()) };
        if self.core.pid != std::process::id() {
            // A forked child has the session's memory but not its thread; the trace is the parent's.
            std::mem::forget(thread);
            return Ok(Summary::default());
        }
        running::remove(&self.core);
        self.core.stop();
        self.requests.stop();
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

    /// Size of the buffer between the program and the file, in bytes: from 64 KiB to 32 MiB, 4 MiB by default. What finds
    /// it full is lost, and counted.
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
        let core = Arc::new(Core::new(buffer, max_text, wanted));
        let requests = Arc::<Requests>::default();
        let file = TraceFile::create(&path)?;
        let stream = Stream::begin(Arc::clone(&core), Arc::clone(&requests), file);
        let thread = ThreadBuilder::new().name("protolog".into()).spawn(move || stream.run());
        let thread = thread.map_err(Error::Resources)?;
        core.set_drain(thread.thread().clone());
        running::add(&core);
        Ok(Session { core, requests, thread: Some(thread) })
    }
}
