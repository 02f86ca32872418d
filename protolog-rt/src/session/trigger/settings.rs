//! The settings of a session's triggers.

use crate::paths::absolute;
use crate::session::arbiter::causes::{Cause, Causes};
use crate::session::arbiter::condition::Condition;
use crate::sync::Ordering;
use protolog_core::Level;
use protolog_core::control::levels_at_least;
use std::path::PathBuf;
use std::time::Duration;

/// The events at which a session that keeps the newest messages writes them to a file of their own,
/// for [`Builder::triggers`](crate::Builder::triggers).
///
/// ```
/// use protolog_rt::{Level, ProtoLogGroup, Session, Triggers};
/// use std::time::Duration;
///
/// #[derive(ProtoLogGroup)]
/// enum AppLog {
///     Net,
/// }
///
/// # let dir = std::env::temp_dir().join(format!("protolog-triggers-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir)?;
/// let triggers = Triggers::to(dir.join("app.pftrace"))
///     .before(Duration::from_secs(10))
///     .after(Duration::from_millis(100));
/// let session = Session::builder().enable_all().triggers(triggers).start()?;
/// protolog_rt::d!(AppLog::Net, "connection %d is slow", 7);
/// session.trigger("slow connection")?;
/// session.stop()?; // writes what is not written yet
/// // app.slow-connection.20261127T220509.123Z.pftrace
/// # let names: Vec<_> = std::fs::read_dir(&dir)?.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
/// # assert!(names.len() == 1 && names[0].starts_with("app.slow-connection.2"), "{names:?}");
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The call that fires a trigger only sets a word. A thread of the session then copies what the
/// ring has, waits for [`Self::after`], and writes the file, which appears once it is complete. So
/// a call is never delayed by a file, and a ring that is overwritten meanwhile costs nothing of
/// what came before. Each file begins with a message of the group `trigger` that names the cause;
/// it has the time of the event, the thread on which it happened, and the number of events that
/// were too soon after another one.
///
/// A file that can't be written, since the disk is full for example, is counted
/// ([`TriggerCounts::failed`]) and leaves nothing behind. Where the session stops or the process
/// exits before [`Self::after`] is over, the file is written then. If the process is killed, what
/// is in no file yet is lost unless the session records
/// ([`Builder::record`](crate::Builder::record)).
#[derive(Clone, Debug)]
#[must_use = "give it to `Builder::triggers`"]
pub struct Triggers {
    pub(in crate::session) path: PathBuf,
    pub(in crate::session) conditions: Vec<(String, Condition)>,
    pub(in crate::session) window: EventWindow,
    pub(in crate::session) keep: KeptFiles,
    /// The family of programs that have files of each other's events.
    pub(in crate::session) family: Option<String>,
    /// A signal that ends the process leaves a mark in the recording.
    pub(in crate::session) waits_for_signals: bool,
}

/// The messages that go into a file.
#[derive(Clone, Copy, Debug)]
pub(in crate::session) struct EventWindow {
    /// Time before the event.
    pub(in crate::session) before: Duration,
    /// The most bytes of chunks before it.
    pub(in crate::session) before_bytes: usize,
    /// Time after it.
    pub(in crate::session) after: Duration,
    /// The least time between two files of one cause.
    pub(in crate::session) interval: Duration,
}

/// The number and the bytes of files that stay.
#[derive(Clone, Copy, Debug)]
pub(in crate::session) struct KeptFiles {
    pub(in crate::session) files: usize,
    pub(in crate::session) bytes: u64,
}

/// The counts of a cause of a session's triggers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TriggerCounts {
    /// The cause.
    pub cause: String,
    /// Events that make a file.
    pub fired: u64,
    /// Events that came less than [`Triggers::interval`] after one that makes a file, or after the
    /// end of the session.
    pub suppressed: u64,
    /// Files that were written.
    pub written: u64,
    /// Files that could not be written.
    pub failed: u64,
}

impl TriggerCounts {
    /// Those of all causes that have a name.
    pub(in crate::session) fn of(causes: &Causes) -> Vec<Self> {
        let of = |(name, cause): (&str, &Cause)| {
            let counts = &cause.counts;
            let [fired, suppressed, written, failed] =
                [&counts.fired, &counts.suppressed, &counts.written, &counts.failed]
                    .map(|count| count.load(Ordering::Relaxed));
            Self { cause: name.to_owned(), fired, suppressed, written, failed }
        };
        causes.named().map(of).collect()
    }
}

impl Triggers {
    /// No triggers yet but those by name ([`Session::trigger`](crate::Session::trigger)). The files
    /// lie beside `path`, and begin with its name: `app.CAUSE.TIME.pftrace` for `app.pftrace`.
    /// The directory has to exist. Give each process a path of its own.
    pub fn to(path: impl Into<PathBuf>) -> Self {
        Self {
            path: absolute(path.into()),
            conditions: Vec::new(),
            window: EventWindow {
                before: Duration::from_secs(60),
                before_bytes: usize::MAX,
                after: Duration::from_secs(1),
                interval: Duration::from_secs(60),
            },
            keep: KeptFiles { files: 16, bytes: 256 << 20 },
            family: None,
            waits_for_signals: false,
        }
    }

    /// Fires at each message of `level` and of more severe ones that the session records; the cause
    /// is the level's name in lower case. At ERROR and WTF this costs other calls nothing. At lower
    /// levels each enabled call of the groups that have the level takes a longer way, out of line.
    ///
    /// ```
    /// # use protolog_rt::{Level, ProtoLogGroup, Session, Triggers};
    /// # #[derive(ProtoLogGroup)]
    /// # enum AppLog { Net }
    /// # let dir = std::env::temp_dir().join(format!("protolog-on-level-{}", std::process::id()));
    /// # std::fs::create_dir_all(&dir)?;
    /// let triggers = Triggers::to(dir.join("app.pftrace"))
    ///     .on_level(Level::Error)
    ///     .on_group("Net", Level::Warn)
    ///     .on_message("connection to %s failed");
    /// let session = Session::builder().enable_all().triggers(triggers).start()?;
    /// protolog_rt::i!(AppLog::Net, "connection to %s failed", "example.org");
    /// protolog_rt::e!(AppLog::Net, "no route");
    /// let counts = session.trigger_counts();
    /// let fired: Vec<_> = counts.iter().map(|it| (&*it.cause, it.fired)).collect();
    /// assert_eq!(fired, [("error", 1), ("Net", 1), ("connection to %s failed", 1)]);
    /// # session.stop()?;
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_level(self, level: Level) -> Self {
        let levels = Condition::Levels(levels_at_least(Some(level)));
        self.on(level.name().to_ascii_lowercase(), levels)
    }

    /// Fires at each message of `level` and of more severe ones of the groups that `group` names,
    /// as in [`Builder::group`](crate::Builder::group); the cause is the name. It costs what
    /// [`Self::on_level`] does. The start of the session says on standard error if no group has the
    /// name so far: it may come with a library.
    pub fn on_group(self, group: impl Into<String>, level: Level) -> Self {
        let group = group.into();
        let levels = levels_at_least(Some(level));
        self.on(group.clone(), Condition::Group(group, levels))
    }

    /// Fires at each message that `text` names: the template as in the source, `#` and an id, a
    /// place in the sources (`net.rs:12`), or else a selector as in settings of single calls
    /// (`net and "retry" and warn`). The cause is the text. Calls of its group cost what
    /// [`Self::on_level`] says for its level. A message that the program does not have when the
    /// session starts is an error ([`Error::NoMessage`](crate::Error::NoMessage)), be it one of a
    /// library that is loaded later.
    pub fn on_message(self, text: impl Into<String>) -> Self {
        self.on(text, Condition::Messages(Vec::new()))
    }

    /// Fires at a panic; the cause is `panic`. With [`log_panics`](crate::log_panics) the file has
    /// the panic's message and its stack trace. In a program that aborts at a panic
    /// (`panic = "abort"`) the file is written before, which takes at most a second.
    pub fn on_panic(self) -> Self {
        self.on("panic", Condition::Panic)
    }

    /// Fires where a request fails ([`Request::fail`](crate::Request::fail)); the cause is `failed
    /// request`. The file has the messages of the requests that have failed since the last such
    /// file, those of all threads, and not those of others. It says how many messages it leaves
    /// out, and the trace has a message for each request with its id and its reason.
    ///
    /// ```
    /// # use protolog_rt::{ProtoLogGroup, Session, Triggers, d, request_scope};
    /// # #[derive(ProtoLogGroup)]
    /// # enum AppLog { Net }
    /// # let dir = std::env::temp_dir().join(format!("protolog-on-request-{}", std::process::id()));
    /// # std::fs::create_dir_all(&dir)?;
    /// let triggers = Triggers::to(dir.join("app.pftrace")).on_failed_request();
    /// let session = Session::builder().enable_all().triggers(triggers).start()?;
    /// for number in 0..100 {
    ///     let request = request_scope(number);
    ///     d!(AppLog::Net, "request %d", number);
    ///     if number == 17 {
    ///         request.fail("no answer");
    ///     }
    /// }
    /// session.stop()?; // app.failed-request.20261127T220509.123Z.pftrace, with one of the messages
    /// # let names: Vec<_> = std::fs::read_dir(&dir)?.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    /// # assert!(names.len() == 1 && names[0].starts_with("app.failed-request.2"), "{names:?}");
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Requests that fail within [`Self::interval`] of another one are counted as suppressed, but
    /// not lost: they are in the next file, which comes when the interval is over or the session
    /// stops, with those of their messages that the ring still has by then.
    pub fn on_failed_request(self) -> Self {
        self.on("failed request", Condition::FailedRequest)
    }

    /// Fires at a signal by which a fault of the program ends it: SIGSEGV, SIGBUS, SIGFPE, SIGILL
    /// and SIGABRT; the cause is its name. The session then has a recording
    /// ([`Builder::record`](crate::Builder::record)), which survives the process: the signal leaves
    /// a mark there, and the process dies as it would without that. The file comes of the next
    /// start of a session with triggers and the same path, or of `protologtool recover`, and has
    /// all that the ring had: [`Self::before`] is not for it. [`Self::keep_files`] counts such
    /// files of earlier runs, too.
    ///
    /// ```
    /// # use protolog_rt::{Session, Triggers};
    /// # let dir = std::env::temp_dir().join(format!("protolog-on-fatal-{}", std::process::id()));
    /// # std::fs::create_dir_all(&dir)?;
    /// let triggers = Triggers::to(dir.join("app.pftrace")).on_fatal_signals();
    /// let session = Session::builder().enable_all().triggers(triggers).start()?;
    /// assert!(session.recording().is_some());
    /// // … SIGSEGV, and at the next start: app.sigsegv.20261127T220509.123Z.pftrace
    /// # session.stop()?;
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Handlers that were there before are called as before, those of the standard library, of a
    /// JVM and of sanitizers included; where they let the program go on, the mark is taken back.
    /// One that leaves by `siglongjmp` does not come back for that. A handler that is installed
    /// later decides if it calls ours, so start the session after it. Signals that are ignored stay
    /// so. An overflow of the stack is marked on threads with an alternate one: the main thread and
    /// those of `std::thread` have it.
    ///
    /// The variable `PROTOLOG_FATAL_SIGNALS` decides in its place for all sessions with triggers:
    /// `on` has such a file come of a program that does not ask for it, `off` of none.
    pub fn on_fatal_signals(mut self) -> Self {
        self.waits_for_signals = true;
        self
    }

    /// Sets how far a file goes back before its event: a minute by default, as far as the ring
    /// reaches. Parts of 4 KiB are left out or kept as a whole.
    pub fn before(mut self, time: Duration) -> Self {
        self.window.before = time;
        self
    }

    /// Sets the most bytes of messages before the event, in parts of 4 KiB; no limit by default but
    /// the size of the ring.
    pub fn before_bytes(mut self, bytes: usize) -> Self {
        self.window.before_bytes = bytes;
        self
    }

    /// Sets how long a file goes on after its event: a second by default.
    pub fn after(mut self, time: Duration) -> Self {
        self.window.after = time;
        self
    }

    /// Sets the least time between two events of one cause that make a file, a minute by default.
    /// Events between them are counted ([`TriggerCounts::suppressed`]), and the next file says how
    /// many. It is at least [`Self::after`].
    pub fn interval(mut self, time: Duration) -> Self {
        self.window.interval = time;
        self
    }

    /// Keeps at most `count` files, 16 by default, and at least one. The oldest ones of this
    /// session are removed once a new one is complete; those of earlier runs stay.
    pub fn keep_files(mut self, count: usize) -> Self {
        self.keep.files = count.max(1);
        self
    }

    /// Keeps at most `bytes` bytes of files, 256 MiB by default. The oldest ones of this session
    /// are removed once a new one is complete; the newest stays even if it alone has more.
    pub fn keep_bytes(mut self, bytes: u64) -> Self {
        self.keep.bytes = bytes;
        self
    }

    /// Makes the program one of a family, by any name that they share: at an event of one of them,
    /// all write what they keep of the same time, from [`Self::before`] to [`Self::after`] of the
    /// program that had it, so that one timeline shows what each of them did (`read-log` and
    /// `merge` take many files). The files of the others have the same time in
    /// their names, and `joined` before the cause: `db.joined-error.20261127T220509.123Z.pftrace`.
    ///
    /// It is for programs of one user on one machine, which find each other as an operator finds
    /// them: each has called [`init`](crate::init()) or
    /// [`control::serve`](crate::control::serve). An event is told to the others once, by the
    /// session's thread, and a program that does not answer holds up nothing; standard error says
    /// how many did not. Each program counts events that come within its own [`Self::interval`].
    /// [`trigger_event`](crate::trigger_event) is the way to other machines.
    ///
    /// ```
    /// # use protolog_rt::{Level, Triggers};
    /// let triggers = Triggers::to("shop-db.pftrace").on_level(Level::Error).family("shop");
    /// ```
    pub fn family(mut self, name: impl Into<String>) -> Self {
        self.family = Some(name.into());
        self
    }

    fn on(mut self, cause: impl Into<String>, condition: Condition) -> Self {
        self.conditions.push((cause.into(), condition));
        self
    }
}
