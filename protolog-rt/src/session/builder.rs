//! What a session is to be, said in any order; nothing happens before [`Builder::start`].
//!
//! Invariant: what contradicts itself is refused at the start, by the name of the method that asked for it.

use super::bundles::bundles;
use super::config::{Config, Filter, GroupOverride, TracingMode};
use super::core::{Core, SessionOwner};
use super::file::TraceFile;
use super::recorder::{self, Place, Recorder};
use super::segments::{Limits, Segments};
use super::stream::{Requests, Stream};
use super::trace::Trace;
use super::{Session, Sink, dictionary, running};
use crate::clock;
use crate::error::Error;
use crate::fork::prepare_for_forks;
use crate::paths::absolute;
use crate::shmem::buffer::Buffer;
use crate::sys::barrier;
use protolog_core::{FillPolicy, Level};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::Builder as ThreadBuilder;
use std::time::Duration;

/// Size of a buffer unless asked otherwise, in bytes.
const BUFFER: usize = 4 << 20;
/// The smallest buffer, in bytes: room for a message of 32 texts, and for some threads.
const MIN_BUFFER: usize = 64 << 10;
/// The least time that a segment takes: whoever looks after it is not to be at it all the time.
const MIN_AGE: Duration = Duration::from_millis(10);
/// The most bytes of a text argument, unless asked otherwise.
const MAX_TEXT: usize = 4096;

/// What a session is to be.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `start`"]
pub struct Builder {
    path: Option<PathBuf>,
    record: Option<Place>,
    config: Config,
    fill_policy: FillPolicy,
    buffer: usize,
    max_text: usize,
    chunk_timeout: Option<Duration>,
    limits: Limits,
    level: Option<u32>,
}

impl Builder {
    /// WTF of all groups, to a buffer of the usual size.
    pub(super) fn new() -> Self {
        Self {
            path: None,
            record: None,
            config: Config::default(),
            fill_policy: FillPolicy::Stream,
            buffer: BUFFER,
            max_text: MAX_TEXT,
            chunk_timeout: None,
            limits: Limits::default(),
            level: None,
        }
    }

    /// The file that the trace goes to; it stays where it is when the program changes its directory. One that is there is
    /// replaced, unless another session is writing it, of this process or another one ([`Error::FileInUse`]): give each process a
    /// name of its own, with [`std::process::id`] for one. A named pipe is written to; who opens it waits until somebody reads
    /// it: that is [`Self::start`], or, of a session that keeps its messages, [`Session::stop`].
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.path = Some(absolute(path.into()));
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

    /// Wants the stack trace of the thread with each message of a group, named as for [`Self::group`]. That costs some
    /// microseconds a message, and some hundred bytes a frame: for groups that log rarely. `protologtool read-log
    /// --symbolize` makes names of the addresses.
    pub fn collect_stacktrace(mut self, group: impl Into<String>) -> Self {
        self.config.collect_stacktrace.push(group.into());
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
        self.fill_policy = FillPolicy::RingBuffer;
        self
    }

    /// Keeps the first messages, until the buffer is full; what comes later is counted. Otherwise as
    /// [`Self::keep_newest`].
    pub fn keep_first(mut self) -> Self {
        self.fill_policy = FillPolicy::Discard;
        self
    }

    /// Keeps the newest messages in a ring that is a file, so that they are there when the process dies, whatever it dies
    /// of: `protologtool recover` makes a trace of them. Logging costs what it costs with [`Self::keep_newest`].
    ///
    /// The file is `/dev/shm/protolog-<program>-<pid>-<number>.rec`, which is memory: nothing waits for a disk, and it is
    /// there until the machine is shut down. Only its owner may read it. [`Session::recording`] says its name.
    ///
    /// The texts of all messages are in the file before the messages are. Those of a library that is loaded later come before
    /// the first message of a group of its own; where it logs to groups of other libraries alone, which takes a runtime that
    /// is a shared library itself, call [`Session::flush`] once it is loaded.
    ///
    /// A session that is stopped or dropped removes the file, after it wrote the trace if [`Self::file`] named one. What
    /// remains is of a process that ended without, even if only by `exit`; or of a session that a panic dropped, where no
    /// [`Self::file`] has what led to it.
    ///
    /// ```
    /// # use protolog_rt::{ProtoLogGroup, Session};
    /// # #[derive(ProtoLogGroup)]
    /// # enum AppLog { Net }
    /// let session = Session::builder().enable_all().record().start()?;
    /// protolog_rt::d!(AppLog::Net, "about to do something dangerous");
    /// assert!(session.recording().is_some_and(|path| path.exists()));
    /// // … and nothing happened: the recording is not needed.
    /// session.stop()?;
    /// # Ok::<(), protolog_rt::Error>(())
    /// ```
    pub fn record(mut self) -> Self {
        self.record = Some(Place::Memory);
        self.keep_newest()
    }

    /// As [`Self::record`], with the file at `path`. A file that is there, such as the recording of a run before, is kept as
    /// `<path>.old`; what is no file, such as a directory, is left alone, and the session does not start.
    ///
    /// On a disk, a thread waits whenever it is the first to write to a page that the kernel has just written to the disk:
    /// see `docs/design/hot-path.md` for what that costs. A crash of the process loses nothing there either, one of the
    /// machine all since the last [`Session::flush`].
    pub fn record_at(mut self, path: impl Into<PathBuf>) -> Self {
        self.record = Some(Place::At(absolute(path.into())));
        self.keep_newest()
    }

    /// Size of the buffer between the program and the file, in bytes: from 64 KiB to 32 MiB, 4 MiB by default. What finds
    /// it full is lost, and counted, unless the newest messages are kept.
    pub fn buffer_size(mut self, bytes: usize) -> Self {
        self.buffer = bytes.max(MIN_BUFFER);
        self
    }

    /// Lets a message that finds the buffer full wait for room, `chunk_timeout` at most; without this, it is lost at once.
    /// What waits in vain is lost and counted, and what follows it is lost at once, until the sink moves again: so a
    /// sink that is stuck stops each thread for `chunk_timeout` once.
    ///
    /// ```
    /// # use protolog_rt::{ProtoLogGroup, Session};
    /// # #[derive(ProtoLogGroup)]
    /// # enum AppLog { Net }
    /// # let path = std::env::temp_dir().join(format!("protolog-wait-{}.pftrace", std::process::id()));
    /// let session = Session::builder()
    ///     .file(&path)
    ///     .enable_all()
    ///     .buffer_size(64 << 10)
    ///     .wait_at_most(std::time::Duration::from_secs(10))
    ///     .start()?;
    /// for number in 0..100_000u64 {
    ///     protolog_rt::d!(AppLog::Net, "packet %d", number); // faster than the file can be written
    /// }
    /// let summary = session.stop()?;
    /// assert_eq!((summary.messages, summary.lost()), (100_000, 0));
    /// # std::fs::remove_file(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Nothing waits in a signal handler that interrupted a message, on the session's own thread, in a forked child, and
    /// once the session is being stopped. For sessions that stream to a file only.
    pub fn wait_at_most(mut self, chunk_timeout: Duration) -> Self {
        self.chunk_timeout = Some(chunk_timeout);
        self
    }

    /// Divides the trace into files of at most `bytes` bytes, each of which is read alone.
    ///
    /// ```
    /// # use protolog_rt::{ProtoLogGroup, Session};
    /// # #[derive(ProtoLogGroup)]
    /// # enum AppLog { Net }
    /// # let dir = std::env::temp_dir().join(format!("protolog-segments-{}", std::process::id()));
    /// # std::fs::create_dir_all(&dir)?;
    /// let session = Session::builder()
    ///     .file(dir.join("app.pftrace"))
    ///     .enable_all()
    ///     .segment_bytes(64 << 20)
    ///     .segment_age(std::time::Duration::from_secs(3600))
    ///     .keep_segments(24)
    ///     .start()?;
    /// protolog_rt::d!(AppLog::Net, "a packet");
    /// session.stop()?;
    /// assert!(dir.join("app.0001.pftrace").exists());
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Numbers go on where an earlier run of the program left off. A file that is still being written, or that a crash
    /// left, has `.part` at its end, and can be read as far as it goes. Each file begins with the texts of all messages, and
    /// has room for a few messages however small `bytes` is; a message that is larger than that gets a file of its own.
    /// For sessions that stream to a file only. Give each process a name of its own.
    pub fn segment_bytes(mut self, bytes: u64) -> Self {
        self.limits.bytes = Some(bytes);
        self
    }

    /// Divides the trace into files, each of which is ended `age` after it was begun, if there is a message in it; 10 ms at
    /// the least. See [`Self::segment_bytes`].
    pub fn segment_age(mut self, age: Duration) -> Self {
        self.limits.age = Some(age.max(MIN_AGE));
        self
    }

    /// Lets the newest `count` whole files stay, at least one, beside the one that is being written; older ones are
    /// removed whenever a new one is begun, those of earlier runs of the program included. See [`Self::segment_bytes`].
    pub fn keep_segments(mut self, count: usize) -> Self {
        self.limits.keep = Some(count);
        self
    }

    /// Compresses the file with zlib at `level`, from 1 (fast) to 9 (small), on a thread of the session. Perfetto and
    /// `protologtool` read it as any other trace.
    ///
    /// ```
    /// # use protolog_rt::{ProtoLogGroup, Session};
    /// # #[derive(ProtoLogGroup)]
    /// # enum AppLog { Net }
    /// # let path = std::env::temp_dir().join(format!("protolog-zlib-{}.pftrace", std::process::id()));
    /// let session = Session::builder().file(&path).enable_all().compress(6).start()?;
    /// for number in 0..10_000u64 {
    ///     protolog_rt::d!(AppLog::Net, "sent %d of %d bytes", number * 100, 1_000_000);
    /// }
    /// let summary = session.stop()?;
    /// assert!(summary.bytes < 10 * summary.messages);
    /// # std::fs::remove_file(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Packets are compressed in bundles of 256 KiB; a flush ends a bundle. The thread follows fewer messages then: see
    /// [`Self::wait_at_most`]. What is kept is compressed when it is written, by a stop or a [`Session::snapshot`]. With the
    /// feature `compression`.
    #[cfg(feature = "compression")]
    pub fn compress(mut self, level: u32) -> Self {
        self.level = Some(level);
        self
    }

    /// The most bytes of a text argument, 4 KiB by default. A longer one is cut, with an ellipsis, and counted.
    ///
    /// ```
    /// # use protolog_rt::{LossCause, ProtoLogGroup, Session};
    /// # #[derive(ProtoLogGroup)]
    /// # enum AppLog { Net }
    /// # let path = std::env::temp_dir().join(format!("protolog-text-{}.pftrace", std::process::id()));
    /// let session = Session::builder()
    ///     .file(&path)
    ///     .enable_all()
    ///     .buffer_size(16 << 20)
    ///     .max_text(6 << 20)
    ///     .start()?;
    /// protolog_rt::d!(AppLog::Net, "whole: %s", "x".repeat(5 << 20));
    /// protolog_rt::d!(AppLog::Net, "with an ellipsis: %s", "x".repeat(7 << 20));
    /// let summary = session.stop()?;
    /// assert_eq!((summary.messages, summary.losses[0].cause), (2, LossCause::Truncated));
    /// # std::fs::remove_file(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Texts that make a message larger than half of the buffer are cut, too, to equal shares of that half.
    ///
    /// A message of more than 4 KiB is put together before it is divided among chunks: such a message allocates as much
    /// memory for that moment. Other messages allocate nothing once their thread has logged to the session, but for stack
    /// traces, and for templates that are first seen at run time.
    pub fn max_text(mut self, bytes: usize) -> Self {
        self.max_text = bytes;
        self
    }

    /// Starts the session.
    pub fn start(self) -> Result<Session, Error> {
        self.check()?;
        if self.path.is_none() && self.record.is_none() {
            return Err(Error::NoFile);
        }
        let filter = Filter::new(&self.config, &dictionary::known_groups())?;
        // First, since a child is to find all that follows as it should be.
        prepare_for_forks();
        clock::prepare();
        barrier::prepare();
        if let (Some(path), true) = (&self.path, self.fill_policy != FillPolicy::Stream) {
            // What can't be written at the end is better known now.
            TraceFile::try_whole(path)?;
        }
        let (recorder, buffer) = match &self.record {
            None => (None, Buffer::anonymous(self.buffer).map_err(Error::Resources)?),
            Some(place) => {
                let (recorder, buffer) = Recorder::create(place, self.buffer)?;
                (Some(recorder), buffer)
            }
        };
        let owner = SessionOwner::new(filter)
            .with_timeout(self.chunk_timeout)
            .with_path(self.path.clone())
            .with_recorder(recorder);
        let core = Arc::new(Core::new(buffer, self.fill_policy, self.max_text, owner));
        let sink = match (self.fill_policy, self.path) {
            (FillPolicy::Stream, Some(path)) => {
                Self::stream(&core, &path, self.limits, self.level)?
            }
            (_, path) => Sink::Kept { path, level: self.level },
        };
        recorder::begin(&core);
        running::add(&core);
        Ok(Session { core, sink: Some(sink) })
    }

    /// Refuses what does not go together.
    fn check(&self) -> Result<(), Error> {
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

    /// Starts the thread that makes a file of what is written.
    fn stream(
        core: &Arc<Core>,
        path: &Path,
        limits: Limits,
        level: Option<u32>,
    ) -> Result<Sink, Error> {
        let requests = Arc::<Requests>::default();
        let segments = limits.any().then(|| Segments::new(path, limits, level));
        let mut segments = segments.transpose()?;
        let file = match &mut segments {
            Some(segments) => segments.open()?,
            None => {
                let mut file = TraceFile::create(path)?;
                file.compress(bundles(level));
                file
            }
        };
        let trace = Trace::begin(Arc::clone(core), file);
        let stream = Stream::new(Arc::clone(core), Arc::clone(&requests), trace, segments);
        let thread = ThreadBuilder::new().name("protolog".into()).spawn(move || stream.run());
        let thread = thread.map_err(Error::Resources)?;
        core.set_drain(thread.thread().clone(), Arc::clone(&requests));
        Ok(Sink::Stream { requests, thread })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_take_some_time() {
        for age in [Duration::ZERO, MIN_AGE, Duration::MAX] {
            let limits = Builder::new().segment_age(age).limits;
            assert_eq!(limits.age, Some(age.max(Duration::from_millis(10))));
        }
    }
}
