//! The settings of a session, in any order; nothing happens before [`Builder::start`].
//!
//! Invariant: settings that contradict each other are refused at the start, with the name of the method.

use super::bundles::bundles;
use super::config::{Config, Filter, GroupOverride, TracingMode};
use super::core::{Core, SessionOwner};
use super::file::TraceFile;
use super::recorder::{Recorder, RecordingPath};
use super::requests::Requests;
use super::segments::{Limits, Segments};
use super::stream::Stream;
use super::trace::Trace;
use super::{Destination, Session, dictionary, running};
use crate::clock;
use crate::error::Error;
use crate::paths::absolute;
use crate::sys::barrier;
use crate::sys::mapping::Mapping;
use protolog_core::{FillPolicy, Level};
use protolog_shmem::{Buffer, Memory};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::Builder as ThreadBuilder;
use std::time::Duration;

/// The default size of a buffer, in bytes.
const BUFFER: usize = 4 << 20;
/// The smallest buffer, in bytes: room for a message with 32 strings, and for some threads.
const MIN_BUFFER: usize = 64 << 10;
/// The least age of a segment, so that its thread has time for more than rotation.
const MIN_AGE: Duration = Duration::from_millis(10);
/// The default for the most bytes of a string argument.
const MAX_STRING_BYTES: usize = 4096;

/// The settings of a session that is not started yet.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `start`"]
pub struct Builder {
    path: Option<PathBuf>,
    record: Option<RecordingPath>,
    config: Config,
    fill_policy: FillPolicy,
    buffer: usize,
    max_string_bytes: usize,
    chunk_timeout: Option<Duration>,
    limits: Limits,
    compression: Option<u32>,
}

impl Builder {
    /// WTF of all groups, in a buffer of the default size.
    pub(super) fn new() -> Self {
        Self {
            path: None,
            record: None,
            config: Config::default(),
            fill_policy: FillPolicy::Stream,
            buffer: BUFFER,
            max_string_bytes: MAX_STRING_BYTES,
            chunk_timeout: None,
            limits: Limits::default(),
            compression: None,
        }
    }

    /// Sets the file of the trace. A relative path refers to the directory that is current now. An existing file is replaced,
    /// unless another session is writing it, in this process or another one ([`Error::FileInUse`]): give each process a name of
    /// its own, with [`std::process::id`] for example. A named pipe is opened for writing, which waits until another process
    /// reads it: in [`Self::start`], or in [`Session::stop`] if the session keeps its messages.
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.path = Some(absolute(path.into()));
        self
    }

    /// Records all levels of all groups without an override.
    pub fn enable_all(mut self) -> Self {
        self.config.tracing_mode = TracingMode::EnableAll;
        self
    }

    /// Records `level` and more severe ones, of all groups without an override.
    pub fn log_from(mut self, level: Level) -> Self {
        self.config.default_log_from = Some(level);
        self
    }

    /// Records `level` and more severe ones of one group, or nothing of it (`None`). `group` is a full name
    /// (`app::AppLog::Net`); any unambiguous suffix (`Net`) works. See [`Config::group_overrides`].
    pub fn group(mut self, group: impl Into<String>, level: impl Into<Option<Level>>) -> Self {
        let (group, log_from) = (group.into(), level.into());
        self.config.group_overrides.push(GroupOverride { group, log_from });
        self
    }

    /// Records each message of a group with the stack trace of its thread; the group is named as for [`Self::group`]. A stack
    /// trace costs some microseconds a message and some hundred bytes a frame, so this is for groups that log rarely.
    /// `protologtool read-log --symbolize` turns the addresses into names.
    pub fn collect_stacktrace(mut self, group: impl Into<String>) -> Self {
        self.config.collect_stacktrace.push(group.into());
        self
    }

    /// Replaces all earlier choices of groups and levels by `config`.
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Keeps the newest messages in a ring buffer, and writes them to the file when the session stops, or to other files with
    /// [`Session::snapshot`]. Overwritten messages are counted. If the process ends without either, nothing remains; see
    /// [`Self::record`] for that.
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

    /// Keeps the first messages, until the buffer is full; later ones are dropped and counted. Otherwise as
    /// [`Self::keep_newest`].
    pub fn keep_first(mut self) -> Self {
        self.fill_policy = FillPolicy::Discard;
        self
    }

    /// Keeps the newest messages in a ring buffer that is a file, so that they survive the process, however it ends:
    /// `protologtool recover` makes a trace of the file. Logging costs the same per message as with [`Self::keep_newest`].
    ///
    /// The file is `/dev/shm/protolog-<program>-<pid>-<number>.rec`, in memory: no call waits for a disk, and the file exists
    /// until the machine is shut down. Only its owner may read it. [`Session::recording`] returns its path.
    ///
    /// Format strings are in the file before the first message that needs them. Those of a library that is loaded later are
    /// added before the first message of its own groups; if it only logs to groups of other libraries, which is possible where
    /// the runtime itself is a shared library, call [`Session::flush`] once it is loaded.
    ///
    /// A session that is stopped or dropped removes the file, after it wrote the trace if [`Self::file`] named one. The file
    /// stays if the process ends without that, even if only by `exit`, or if a panic drops a session without [`Self::file`].
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
        self.record = Some(RecordingPath::Memory);
        self.keep_newest()
    }

    /// As [`Self::record`], with the file at `path`. An existing file, such as the recording of an earlier run, is renamed to
    /// `<path>.old`; if `path` is no file, such as a directory, the session does not start.
    ///
    /// On a disk, a thread waits whenever it is the first to write to a page that the kernel has just written back:
    /// `docs/design/hot-path.md` has figures. A crash of the process loses nothing there either; a crash of the machine loses
    /// everything since the last [`Session::flush`].
    pub fn record_at(mut self, path: impl Into<PathBuf>) -> Self {
        self.record = Some(RecordingPath::At(absolute(path.into())));
        self.keep_newest()
    }

    /// Sets the size of the buffer between the program and the file, in bytes: from 64 KiB to 32 MiB, 4 MiB by default. When it
    /// is full, messages are dropped and counted, unless the newest are kept.
    pub fn buffer_size(mut self, bytes: usize) -> Self {
        self.buffer = bytes.max(MIN_BUFFER);
        self
    }

    /// Blocks instead of dropping when the buffer is full, for at most `timeout` a message. A message that waited in vain is
    /// dropped and counted, and those after it are dropped at once until the file makes progress again: a file that is stuck
    /// blocks each thread once.
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
    /// A message never waits in a signal handler that interrupted another message, on the session's own thread, in a forked
    /// child, and once the session is being stopped. For sessions that stream to a file only.
    pub fn wait_at_most(mut self, timeout: Duration) -> Self {
        self.chunk_timeout = Some(timeout);
        self
    }

    /// Divides the trace into files of at most `bytes` bytes, each of which can be read alone.
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
    /// Numbers continue those of earlier runs of the program. A file that is being written, or that a crash left incomplete,
    /// ends in `.part`, and can be read as far as it goes. Each file begins with the format strings of all messages, and has room
    /// for a few messages however small `bytes` is; a message that is larger gets a file of its own. For sessions that stream
    /// to a file only. Give each process a name of its own.
    pub fn segment_bytes(mut self, bytes: u64) -> Self {
        self.limits.bytes = Some(bytes);
        self
    }

    /// Divides the trace into files, each of which ends `age` after it was begun if it holds a message; at least 10 ms. See
    /// [`Self::segment_bytes`].
    pub fn segment_age(mut self, age: Duration) -> Self {
        self.limits.age = Some(age.max(MIN_AGE));
        self
    }

    /// Keeps the newest `count` complete files, at least one, beside the one that is being written. Older ones are removed
    /// whenever a new one is begun, those of earlier runs of the program included. See [`Self::segment_bytes`].
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
    /// Packets are compressed in bundles of 256 KiB; a flush ends a bundle. The thread then keeps up with fewer messages: see
    /// [`Self::wait_at_most`]. A session that keeps messages compresses them when it writes them. With the feature
    /// `compression`.
    #[cfg(feature = "compression")]
    pub fn compress(mut self, level: u32) -> Self {
        self.compression = Some(level);
        self
    }

    /// Sets the most bytes of a string argument, 4 KiB by default. A longer one is truncated, with an ellipsis, and counted.
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
    ///     .max_string_bytes(6 << 20)
    ///     .start()?;
    /// protolog_rt::d!(AppLog::Net, "whole: %s", "x".repeat(5 << 20));
    /// protolog_rt::d!(AppLog::Net, "with an ellipsis: %s", "x".repeat(7 << 20));
    /// let summary = session.stop()?;
    /// assert_eq!((summary.messages, summary.losses[0].cause), (2, LossCause::Truncated));
    /// # std::fs::remove_file(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Strings that make a message larger than half of the buffer are truncated, too, to equal shares of that half.
    ///
    /// A message of more than 4 KiB is put together before it is divided among chunks, so it allocates as much memory for a
    /// moment. Other messages allocate nothing once their thread has logged to the session, except for stack traces and for
    /// templates interned at run time.
    pub fn max_string_bytes(mut self, bytes: usize) -> Self {
        self.max_string_bytes = bytes;
        self
    }

    /// Starts the session.
    pub fn start(self) -> Result<Session, Error> {
        self.check()?;
        if self.path.is_none() && self.record.is_none() {
            return Err(Error::NoFile);
        }
        let filter = Filter::new(&self.config, &dictionary::known_groups())?;
        clock::prepare();
        barrier::prepare();
        if let (Some(path), true) = (&self.path, self.fill_policy != FillPolicy::Stream) {
            // An error now is better than one at the end.
            TraceFile::check_create_on_finish(path)?;
        }
        let (recorder, buffer) = match &self.record {
            None => {
                let memory = Mapping::anonymous(protolog_shmem::size(self.buffer));
                let memory = Memory::new(memory.map_err(Error::Resources)?);
                (None, Buffer::new(memory, self.fill_policy))
            }
            Some(place) => {
                let (recorder, buffer) = Recorder::create(place, self.buffer)?;
                (Some(recorder), buffer)
            }
        };
        let owner = SessionOwner::new(filter)
            .with_timeout(self.chunk_timeout)
            .with_path(self.path.clone())
            .with_recorder(recorder);
        let core = Arc::new(Core::new(buffer, self.max_string_bytes, owner));
        let destination = match (self.fill_policy, self.path) {
            (FillPolicy::Stream, Some(path)) => {
                Self::stream(&core, &path, self.limits, self.compression)?
            }
            (_, path) => Destination::Kept { path, compression: self.compression },
        };
        running::attach_recorder(&core);
        running::add(&core);
        Ok(Session { core, destination: Some(destination) })
    }

    /// Refuses settings that contradict each other.
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

    /// Starts the thread that copies the buffer to a file.
    fn stream(
        core: &Arc<Core>,
        path: &Path,
        limits: Limits,
        compression: Option<u32>,
    ) -> Result<Destination, Error> {
        let requests = Arc::<Requests>::default();
        let segments = limits.any().then(|| Segments::new(path, limits, compression));
        let mut segments = segments.transpose()?;
        let file = match &mut segments {
            Some(segments) => segments.open()?,
            None => {
                let mut file = TraceFile::create(path)?;
                file.compress(bundles(compression));
                file
            }
        };
        let trace = Trace::begin(Arc::clone(core), file);
        let stream = Stream::new(Arc::clone(core), Arc::clone(&requests), trace, segments);
        let thread = ThreadBuilder::new().name("protolog".into()).spawn(move || stream.run());
        let thread = thread.map_err(Error::Resources)?;
        core.set_drain(thread.thread().clone(), Arc::clone(&requests));
        Ok(Destination::Stream { requests, thread })
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
