//! Logging without formatting: a call writes the id of its message and its arguments, as protobuf,
//! into the calling thread's chunk of a shared memory buffer. The result is a Perfetto trace that
//! carries its own dictionary of templates.
//!
//! # The first log
//!
//! ```toml
//! [dependencies]
//! protolog-rt = { path = "../protolog/protolog-rt" } # a copy of the repository beside the program's directory
//! ```
//!
//! ```
//! use protolog_rt::{ProtoLogGroup, Session};
//!
//! #[derive(ProtoLogGroup)]
//! enum AppLog {
//!     Net,
//!     Disk,
//! }
//!
//! fn main() -> Result<(), protolog_rt::Error> {
//! #   let folder = std::env::temp_dir().join(format!("protolog-doc-{}", std::process::id()));
//! #   std::fs::create_dir_all(&folder).unwrap();
//! #   std::env::set_current_dir(&folder).unwrap(); // Each example has a process of its own.
//!     let session = Session::builder().file("app.pftrace").enable_all().start()?;
//!     let (n, host, ms) = (1500, "example.org", 0.271);
//!     protolog_rt::d!(AppLog::Net, "sent %d bytes to %s in %8.3f ms", n, host, ms);
//!     protolog_rt::w!(AppLog::Disk, "%s is full", "/var");
//!     let summary = session.stop()?;
//!     assert_eq!(summary.messages, 2);
//! #   std::fs::remove_dir_all(folder).ok();
//!     Ok(())
//! }
//! ```
//!
//! ```text
//! $ cargo install --path ../protolog/protologtool
//! $ cargo run && protologtool read-log app.pftrace
//! 11-21 09:15:02.271  4711  4711 D Net     : sent 1500 bytes to example.org in    0.271 ms
//! 11-21 09:15:02.271  4711  4711 W Disk    : /var is full
//! ```
//!
//! The first argument is the group. Then come the template, a string literal, and one argument per
//! conversion: `%d %o %x` take integers, `%f %e %g` floats, `%b` booleans, `%s` strings and
//! everything that is `Display`; `bytes = n` gives an argument a name. An argument that does not
//! fit is a compile error at that argument, and so is a value in braces, `"{n}"`; [`d!`] has all
//! about templates.
//!
//! # Groups and levels
//!
//! A group is a variant of an enum that derives [`ProtoLogGroup`]; a program may have several such
//! enums, and each library its own. The full name of a group is `crate::Enum::Variant`; a pattern
//! is that name, its last segments or its first ones, in any case.
//!
//! ```
//! # use protolog_rt::ProtoLogGroup;
//! #[derive(ProtoLogGroup)]
//! enum AppLog {
//!     /// Its tag in text output is its name, `Net` …
//!     Net,
//!     #[protolog(tag = "DISK")] // … unless set here.
//!     Disk,
//!     #[protolog(log_to_text = true)] // Also goes to standard error.
//!     Ui,
//!     #[protolog(enabled = false)] // No template in the binary, and no code in a release build.
//!     Trace,
//! }
//! protolog_rt::v!(AppLog::Trace, "never compiled, so %s is never evaluated", panic!());
//! ```
//!
//! The levels are [`v!`] VERBOSE, [`d!`] DEBUG, [`i!`] INFO, [`w!`] WARN, [`e!`] ERROR and [`wtf!`]
//! WTF, for what can't happen. [`protolog!`] takes the level as an argument. The module [`levels`]
//! has the names `trace! debug! info! warn! error!` for them.
//!
//! # Levels that are compiled in
//!
//! With a feature of this crate, calls below a level are not compiled in, in whatever crate of the
//! program they are: `max_level_off`, `max_level_error`, `max_level_warn`, `max_level_info`,
//! `max_level_debug`, and `max_level_trace`, which keeps all; the same with `release_` before, for
//! builds without `debug_assertions`, which decide over those. They are for the program's manifest,
//! not for a library's:
//!
//! ```toml
//! [dependencies]
//! protolog-rt = { path = "../protolog/protolog-rt", features = ["max_level_debug", "release_max_level_info"] }
//! ```
//!
//! The compiler still checks such calls, but evaluates no argument, and leaves neither code (in a
//! release build) nor template in the binary; no switch brings them back. ERROR includes WTF, which
//! `max_level_off` leaves out, too. [`STATIC_MAX_LEVEL`] says what is compiled in. The crates `log`
//! and `tracing` have features of their own, and so have calls that come by the bridges. Rewritten
//! calls are left out, too; for their dictionary, `protologtool` has `--max-level`.
//!
//! # Sessions
//!
//! A session records WTF of every group unless configured otherwise. Any number of sessions run at
//! once, each with its own filter and buffer.
//!
//! ```
//! # use protolog_rt::{Level, ProtoLogGroup, Session};
//! # #[derive(ProtoLogGroup)]
//! # enum AppLog { Net, Disk }
//! # fn main() -> Result<(), protolog_rt::Error> {
//! # let path = std::env::temp_dir().join(format!("protolog-groups-{}.pftrace", std::process::id()));
//! // WARN and above for every group, all levels for one.
//! let session = Session::builder().file(&path).log_from(Level::Warn).group("Net", Level::Verbose).start()?;
//! assert!(AppLog::Net.is_enabled(Level::Debug) && !AppLog::Disk.is_enabled(Level::Info));
//! # session.stop()?;
//! # std::fs::remove_file(path).ok();
//! # Ok(())
//! # }
//! ```
//!
//! | to | use |
//! |---|---|
//! | record everything in a file | [`Builder::file`]; in segments with [`Builder::segment_bytes`] |
//! | record what led to an event | [`Builder::keep_newest`], a ring buffer, and [`Session::snapshot`] |
//! | have a file with what led to an error, a panic or a slow operation | [`Builder::triggers`] |
//! | record what led to a crash | [`Builder::record`], a ring buffer in a file, and `protologtool recover` |
//! | record many programs in one trace, of Perfetto's service | [`producer::connect`] |
//! | switch groups from outside | [`init()`]; then the variable `PROTOLOG`, or `protologtool configuration` |
//! | record how long something takes, and in what each message was logged | [`span!`], [`InSpan`] |
//! | find the messages of one request, and keep those of one that failed | [`Request`], [`InRequest`] |
//! | print lines on standard error | [`print_group`], or `log_to_text` |
//! | record where a call came from | [`Builder::collect_stacktrace`] |
//! | block instead of dropping when the buffer is full | [`Builder::wait_at_most`] |
//! | capture existing `log` and `tracing` calls | the features of these names; see `docs/guides` |
//! | log templates known at run time | [`dynamic::log`] |
//! | log an error with its causes, bytes, what is only `Debug` | [`chain`], [`hex`], [`debug`] |
//! | record what one test logs | [`Builder::this_thread`], [`text::TestOutput`]; see `docs/guides/testing.md` |
//! | record panics | [`log_panics`] |
//! | log in signal handlers | [`prepare_thread`] on threads that have not logged |
//! | build without proc macros | [`dictionary!`] |
//!
//! # Reading
//!
//! `protologtool read-log app.pftrace` prints lines or, with `--format json`, objects. It filters
//! by `--group`, `--level`, `--grep`, time and thread, and shows losses where they happened. The
//! file is an ordinary Perfetto trace as well: open it in <https://ui.perfetto.dev>, or query it
//! there with `select * from protolog`. `protologtool merge` joins the traces of several processes.
//!
//! # What it costs
//!
//! | | ns | instructions | bytes in the file |
//! |---|--:|--:|--:|
//! | a call at a level that is off: a load, a test, a branch | 0.3 | 3 | |
//! | a call of a group with `enabled = false` | 0 | 0 | |
//! | two integers | 11.5 | 134 | 24 |
//! | an integer and one of 8 strings | 13.5 | 188 | 27 |
//! | two integers and a float | 12.6 | 166 | 34 |
//! | a string of 40 bytes, always the same | 14.6 | 181 | 23 |
//! | two integers, recorded by two sessions | | 714 | |
//! | for comparison: `clock_gettime` alone | 24.1 | | |
//!
//! Medians of bursts on an AMD EPYC, rustc 1.95, in a program that `cargo build --release` builds
//! without further settings, as `cargo xtask bench runtime` prints them beside those of seven peers
//! (`tracing` with a file: 321 ns for two integers). While several threads log at once, each call
//! passes a fence, 7 to 8 ns on Intel's processors, which keeps the messages of all threads in
//! order. `docs/design/hot-path.md` explains the figures.
//!
//! - *Code*: a call of three arguments is below 120 bytes, plus a dictionary entry that is not
//!   loaded until it is needed.
//! - *Memory*: a session's buffer, by default 16 MiB in `/dev/shm` if it streams, 4 MiB if it keeps
//!   messages. A thread has 292 bytes of it at its first message, 4 KiB later; memory of idle
//!   threads is reclaimed when the buffer runs short.
//! - *Allocation, locks*: none after a thread's first message, except for [`dynamic::log`],
//!   messages of more than 4 KiB and arguments of more than 1 KiB that have to be formatted. Where
//!   memory is short, these are cut, and counted. A session that starts allocates for the threads
//!   that have logged before, about 1.5 KiB each. Ten times a second one message takes a lock, held
//!   for about a microsecond, for the next 100 ms of the clock.
//!
//! # What a call promises
//!
//! - At a level that is off, a call evaluates none of its arguments; otherwise it evaluates each
//!   once.
//! - It never fails or panics, blocks only if the session is configured to
//!   ([`Builder::wait_at_most`]), and takes a lock only at a thread's first message, at the first
//!   of each enum, and for the clock, as above. Text output takes a lock as well, and waits at most
//!   50 ms for an output that is slow, once ([`text`]).
//! - Arguments are borrowed, as by `println!`. A string longer than [`Builder::max_string_bytes`],
//!   4 KiB by default, is cut, with an ellipsis, and counted; one that is formatted, too. A
//!   `Display` that panics leaves its text so far and `<panicked: …>`.
//! - A message that can't be written is counted by group and [`LossCause`], in [`Summary::losses`]
//!   and at its place in the trace.
//!
//! # When things go wrong
//!
//! A message is committed when its call returns, and a reader sees committed messages only, never
//! half of one.
//!
//! | event | outcome |
//! |---|---|
//! | the process is killed or crashes | nothing is lost: a recording completes the file ([`recover_previous`], `protologtool recover`); only sessions in memory are lost |
//! | the process exits | its sessions are stopped, those in statics included; for Ctrl-C there is [`stop_on_signals`] |
//! | a thread panics | sessions that unwinding drops complete their files |
//! | the process forks | sessions of the parent continue, and are over in the child, which may start its own |
//! | a signal handler logs | the message is recorded, unless it interrupts another one of the same thread: then it is counted; see [`prepare_thread`] |
//! | the buffer is full | new messages are dropped and counted; a ring overwrites its oldest ones, and counts them |
//! | the disk is full | the trace continues once there is room, and says what is missing |
//! | the clock is set | order and distances stay; dates follow the new time |
//!
//! [`Session`] has the details of each.

// What serves operators, Perfetto's service and forks is not used where there are none.
#![cfg_attr(not(unix), allow(dead_code, unused_imports))]

#[doc(hidden)]
pub mod __private;
mod arguments;
#[cfg(any(feature = "log", feature = "tracing"))]
pub mod bridge;
mod clock;
mod compiled;
pub mod control;
mod dictionary;
pub mod dynamic;
mod emit;
mod error;
#[doc(hidden)]
pub mod foreign;
mod guests;
mod init;
mod level;
pub mod levels;
mod log;
mod loss;
mod macros;
mod message_table;
mod names;
mod note;
mod panic;
mod paths;
pub mod producer;
mod request;
mod rewritten;
mod session;
mod shown;
mod site;
mod span;
mod stats;
mod sync;
mod sys;
pub mod text;
mod text_queue;
mod value;
mod writer;

pub use compiled::STATIC_MAX_LEVEL;
pub use error::Error;
pub use init::{Init, InitError, init};
pub use level::{GroupInfo, ProtoLogGroup};
pub use loss::LossCause;
pub use panic::log_panics;
pub use protolog_core::Level;
#[cfg(feature = "macros")]
pub use protolog_macros::ProtoLogGroup;
pub use request::{InRequest, Request, RequestScope, request_scope};
pub use session::earlier::previous::{RecoveredTrace, recover_previous};
pub use session::filter::{Config, GroupOverride, TracingMode};
pub use session::finish::stop_error::StopError;
pub use session::life::events::{Deadline, join_event, trigger, trigger_event};
pub use session::life::signals::stop_on_signals;
pub use session::pinned::Pinned;
pub use session::trigger::settings::{TriggerCounts, Triggers};
pub use session::{Builder, RecordingPlace, Session};
pub use shown::{AsDebug, Chain, Hex, chain, debug, hex};
pub use span::{InSpan, Span};
pub use stats::{BufferStats, GroupStats, Loss, PassedOver, Summary};
pub use text::print_group;
pub use value::{BoolArg, FloatArg, IntArg, StringArg};
pub use writer::prepare_thread;
pub use writer::scope::ThreadScope;
