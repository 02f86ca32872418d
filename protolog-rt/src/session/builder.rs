//! The settings of a session, in any order; nothing happens before [`Builder::start`].
//!
//! Invariant: contradictory settings are refused at the start, with the name of the method.

mod forks;
pub(super) mod heirs;
mod last_run;
mod levels;
mod memory;
mod pinned;
mod rules;
mod segments;
mod start;
mod system;
mod triggers;

pub use memory::RecordingPlace;

use crate::paths::absolute;
use crate::session::earlier::earlier_runs::Earlier;
use crate::session::earlier::leftover::Keep;
use crate::session::file::epilogue::Epilogue;
use crate::session::file::segments::Limits;
use crate::session::file::trace_file::FileForm;
use crate::session::filter::Config;
use crate::session::pinned::Pinned;
use crate::session::recording::recorder::RecordingPath;
use crate::session::trigger::settings::Triggers;
use crate::sys::create::PRIVATE;
use protolog_core::FillPolicy;
use std::path::PathBuf;
use std::time::Duration;

/// The smallest buffer, in bytes: room for a message with 32 strings, and for some threads.
const MIN_BUFFER: usize = 64 << 10;

/// The settings of a session that is not started yet.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `start`"]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct Builder {
    path: Option<PathBuf>,
    record: Option<RecordingPath>,
    /// The buffer of a session that streams ends with the process.
    without_recording: bool,
    recording_place: Option<RecordingPlace>,
    reports_losses: bool,
    is_for_operator: bool,
    is_scoped: bool,
    follows_forks: bool,
    config: Config,
    fill_policy: FillPolicy,
    buffer: Option<usize>,
    max_string_bytes: usize,
    chunk_timeout: Option<Duration>,
    limits: Limits,
    form: FileForm,
    keep: Keep,
    earlier: Earlier,
    triggers: Option<Triggers>,
    pins: Option<Pinned>,
    /// The text of the limit of its bytes.
    byte_limit: Option<String>,
    /// Selectors, limits, and what these are of.
    rules: Vec<(String, String, rules::RuleOf)>,
}

impl Builder {
    /// WTF of all groups, in a buffer of the default size.
    pub(super) fn new() -> Self {
        Self {
            path: None,
            record: None,
            without_recording: false,
            recording_place: None,
            reports_losses: true,
            is_for_operator: false,
            is_scoped: false,
            follows_forks: false,
            config: Config::default(),
            fill_policy: FillPolicy::Stream,
            buffer: None,
            max_string_bytes: memory::MAX_STRING_BYTES,
            chunk_timeout: None,
            limits: Limits::default(),
            form: FileForm { compression: None, mode: PRIVATE, epilogue: None },
            keep: Keep::default(),
            earlier: Earlier::default(),
            triggers: None,
            pins: None,
            byte_limit: None,
            rules: Vec::new(),
        }
    }

    /// Sets the file of the trace. A relative path refers to the directory that is current now.
    /// The file that the last run left there gets another name ([`Self::keep_previous`]), unless
    /// another session is writing it, in this process or another one
    /// ([`Error::FileInUse`](crate::Error::FileInUse)): give each process a name of its own, with
    /// [`std::process::id`] for example.
    ///
    /// A link is refused, and so is a file, pipe or device of another user; so are links of others
    /// on the way, as another user may put them into `/tmp`. A named pipe of this user is opened
    /// for writing, and has to be read by another process: within a second of [`Self::start`], or
    /// of [`Session::stop`](crate::Session::stop) if the session keeps its messages. `/dev/stdout`
    /// and `/dev/fd/N` are written where they stand.
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.path = Some(absolute(path.into()));
        self
    }

    /// Sets the permissions of new files: traces, segments and snapshots. By default only their
    /// owner may read and write them (`0o600`), since messages may hold secrets; `0o640` lets the
    /// file's group read them, too. The process's umask takes bits away.
    ///
    /// A file that is empty, or emptied ([`Self::truncate`]), is replaced by a new one unless it
    /// has just these permissions, since others may have it open. Where it can't be replaced, as in
    /// a directory that this user may not write to, it loses those that are too many; in a
    /// directory of another user it is refused then. A recording is always its owner's only.
    ///
    /// ```
    /// # use protolog_rt::Session;
    /// # use std::os::unix::fs::PermissionsExt;
    /// # let path = std::env::temp_dir().join(format!("protolog-mode-{}.pftrace", std::process::id()));
    /// let session = Session::builder().file(&path).file_mode(0o640).start()?;
    /// # assert_eq!(std::fs::metadata(&path)?.permissions().mode() & 0o737, 0o600);
    /// # session.stop()?;
    /// # std::fs::remove_file(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn file_mode(mut self, mode: u32) -> Self {
        self.form.mode = mode & 0o777;
        self
    }

    /// Keeps the newest messages in a ring buffer, and writes them to the file when the session
    /// stops, or to other files with [`Session::snapshot`](crate::Session::snapshot). Overwritten
    /// messages are counted. If the process ends without either, nothing remains; see
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

    /// As [`Self::keep_newest`], with the first messages; once it is full, later ones are counted.
    pub fn keep_first(mut self) -> Self {
        self.fill_policy = FillPolicy::Discard;
        self
    }

    /// Keeps the newest messages in a ring buffer that is a file, so that they survive the process,
    /// however it ends: `protologtool recover` makes a trace of the file. Logging costs the same
    /// per message as with [`Self::keep_newest`].
    ///
    /// The file is `/dev/shm/protolog-<program>-<pid>-<number>.rec`, in memory: no call waits for a
    /// disk, and the file exists until the machine is shut down (on Windows it is in the directory
    /// for temporary files, and stays). Only its owner may read it.
    /// [`Session::recording`](crate::Session::recording) returns its path. It must not be truncated
    /// while the session runs: see [`Self::record_at`]. To remove or rename it does no harm.
    ///
    /// Format strings are in the file before the first message that needs them. Those of a library
    /// that is loaded later are added before the first message of its own groups. If it only logs
    /// to groups of other libraries, which is possible where the runtime itself is a shared
    /// library, call [`Session::flush`](crate::Session::flush) once it is loaded.
    ///
    /// A session that is stopped or dropped removes the file, after it wrote the trace if
    /// [`Self::file`] named one. The file stays if the process ends without that, even if only by
    /// `exit`, or if a panic drops a session without [`Self::file`]. [`Self::keep_recordings`] says
    /// for how long.
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

    /// Sets how many recordings of this program's dead processes stay in memory: the newest
    /// `count`, each for `age` after it was found; 8 and seven days by default. Others are removed
    /// when a session starts that records in memory, and all but one if the memory is full; beside
    /// traces, where recordings are if there is no such memory, the same. A recording that a
    /// process uses is never removed, nor is one at [`Self::record_at`].
    ///
    /// Recordings that complete a trace that is there
    /// ([`recover_previous`](crate::recover_previous)) are not counted, so that of many processes
    /// that died together each can complete its own; unless less than a quarter of the memory is
    /// free.
    pub fn keep_recordings(mut self, count: usize, age: Duration) -> Self {
        self.keep = Keep { count, age };
        self
    }

    /// As [`Self::record`], with the file at `path`. An existing file is renamed to `<path>.old`;
    /// if `path` is no file, such as a directory, the session does not start.
    ///
    /// On a disk, a thread waits whenever it is the first to write to a page that the kernel has
    /// just written back: `docs/design/hot-path.md` has figures. While the disk or its file system
    /// is frozen (`fsfreeze`, a snapshot of a volume), such a thread waits until it is thawed.
    /// [`Self::record`] waits for no disk. A crash of the process loses nothing there either; a
    /// crash of the machine loses everything since the last
    /// [`Session::flush`](crate::Session::flush).
    ///
    /// The file must not be truncated while the session runs, nor the disk be taken away: the next
    /// log call that stores into what is gone gets the signal `SIGBUS`, which ends the program. The
    /// file's permissions let only this user and root do that.
    pub fn record_at(mut self, path: impl Into<PathBuf>) -> Self {
        self.record = Some(RecordingPath::At(absolute(path.into())));
        self.keep_newest()
    }

    /// Keeps the buffer of a session that streams in memory that ends with the process. What was
    /// logged since the file was last written, at most a second ago, is then lost in a crash.
    ///
    /// ```
    /// # use protolog_rt::Session;
    /// # let path = std::env::temp_dir().join(format!("protolog-without-{}.pftrace", std::process::id()));
    /// let session = Session::builder().file(&path).without_recording().start()?;
    /// assert_eq!(session.recording(), None);
    /// # session.stop()?;
    /// # std::fs::remove_file(path).ok();
    /// # Ok::<(), protolog_rt::Error>(())
    /// ```
    pub fn without_recording(mut self) -> Self {
        self.without_recording = true;
        self
    }

    /// Sets whether a session that lost messages says so in one line on standard error when it
    /// ends. So does each name of [`Self::group`] or [`Self::collect_stacktrace`] that no group
    /// had, unless the program has a bridge, whose groups come with their first message. It does by
    /// default. What a ring overwrites is not lost in this sense.
    pub fn report_losses(mut self, report: bool) -> Self {
        self.reports_losses = report;
        self
    }

    /// Marks the session as one that an operator starts.
    pub(crate) fn for_operator(mut self) -> Self {
        self.is_for_operator = true;
        self
    }

    /// Sets the size of the buffer between the program and the file, in bytes: from 64 KiB to 256
    /// MiB. By default it is 16 MiB for a session that streams, which is enough for 800,000
    /// messages of four threads that do nothing but log, on two processors; and 4 MiB for one that
    /// keeps messages. Of that of a session that streams, 4 MiB take memory from the start, and
    /// more once it is needed, on Linux and Android. When it is full, messages are dropped and
    /// counted, unless the newest are kept.
    pub fn buffer_size(mut self, bytes: usize) -> Self {
        self.buffer = Some(bytes.max(MIN_BUFFER));
        self
    }

    /// Blocks instead of dropping when the buffer is full, for at most `timeout` a message. A
    /// message that waited in vain is dropped and counted, and those after it are dropped at once
    /// until the file makes progress again: a file that is stuck blocks each thread once.
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
    /// A message never waits in a signal handler that interrupted another message, on the session's
    /// own thread, in a forked child, and once the session is being stopped. For sessions that
    /// stream to a file only.
    pub fn wait_at_most(mut self, timeout: Duration) -> Self {
        self.chunk_timeout = Some(timeout);
        self
    }

    /// Compresses the file with zlib at `level`, from 1 (fast) to 9 (small), on a thread of the
    /// session. Perfetto and `protologtool` read it as any other trace.
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
    /// Packets are compressed in bundles of 256 KiB; a flush ends a bundle. The thread then keeps
    /// up with fewer messages: see [`Self::wait_at_most`]. A session that keeps messages compresses
    /// them when it writes them. With the feature `compression`.
    #[cfg(feature = "compression")]
    pub fn compress(mut self, level: u32) -> Self {
        self.form.compression = Some(level);
        self
    }

    /// Appends packets to each file when it is complete, which `make` makes of all bytes of the
    /// file: the trace at the end, a segment, a snapshot.
    ///
    /// Perfetto's UI shows ProtoLog messages nowhere by itself. With
    /// `protolog_reader::perfetto_ui_packets` as `make`, they are in its table and on its track of
    /// logs, as `protologtool merge --perfetto-ui` puts them there, and the trace is about twice as
    /// large.
    ///
    /// ```
    /// # use protolog_rt::Session;
    /// # let path = std::env::temp_dir().join(format!("protolog-append-{}.pftrace", std::process::id()));
    /// let builder = Session::builder().file(&path).enable_all();
    /// let session = builder.append_when_complete(protolog_reader::perfetto_ui_packets).start()?;
    /// session.stop()?;
    /// # std::fs::remove_file(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// `make` runs on the thread that completes the file, never in a call: in
    /// [`Session::stop`](crate::Session::stop) or when the session is dropped. For a segment it
    /// runs on the session's thread, which copies no messages meanwhile, so that the buffer must
    /// have room for them. If it fails or panics, the file is complete without its packets, and the
    /// error is that of the session. A file that the process could not complete, since it was
    /// killed, has none.
    pub fn append_when_complete<E>(
        mut self,
        make: impl Fn(&[u8]) -> Result<Vec<u8>, E> + Send + Sync + 'static,
    ) -> Self
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let epilogue = Epilogue::new(move |trace| make(trace).map_err(Into::into));
        self.form.epilogue = Some(epilogue);
        self
    }
}
