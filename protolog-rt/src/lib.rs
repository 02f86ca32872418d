//! Logs without strings: a call writes the id of its message and its arguments, as protobuf, straight into the calling
//! thread's chunk of a shared buffer; what comes out is a Perfetto trace that carries its own dictionary.
//!
//! 1. [The first log](#the-first-log), 2. [Groups and levels](#groups-and-levels), 3. [Sessions](#sessions),
//! 4. [Reading](#reading), 5. [What it costs](#what-it-costs), 6. [What a call promises](#what-a-call-promises),
//! 7. [When things go wrong](#when-things-go-wrong), 8. [Without proc macros](#without-proc-macros),
//! 9. [Where to look](#where-to-look).
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
//! The first argument is the group, a constant path; then a string literal, and an argument for each conversion: `%d %o
//! %x` take integers, `%f %e %g` floats, `%b` booleans, `%s` texts and everything that is `Display`. What does not fit is
//! an error of the compiler, at the argument. The texts stay in the program's file and come into the trace once. They are in
//! a note of it (`.note.protolog`), which `strip`, `strip = true` in a profile, LTO and separate debug information leave
//! alone; whoever removes notes, too (`objcopy --remove-section`), gets traces without text. For programs that are to have
//! none there is `protologtool generate-viewer-config --from-binary PROGRAM --strip-to OTHER`.
//!
//! # Groups and levels
//!
//! A group is a variant of an enum that derives [`ProtoLogGroup`]; a program may have several such enums, each library
//! its own. Its full name is `crate::Enum::Variant`, and an end of that which only one group has will do.
//!
//! ```
//! # use protolog_rt::ProtoLogGroup;
//! #[derive(ProtoLogGroup)]
//! enum AppLog {
//!     /// Its name in lines of text is its own: `Net`.
//!     Net,
//!     #[protolog(tag = "DISK")] // unless it says another
//!     Disk,
//!     #[protolog(log_to_text = true)] // goes to standard error, too
//!     Ui,
//!     #[protolog(enabled = false)] // no text in the binary, and no code in a release build
//!     Trace,
//! }
//! protolog_rt::v!(AppLog::Trace, "never compiled, so %s is never evaluated", panic!());
//! ```
//!
//! The levels, from chatter to what can't happen, are [`v!`] VERBOSE, [`d!`] DEBUG, [`i!`] INFO, [`w!`] WARN, [`e!`]
//! ERROR, [`wtf!`] WTF; [`protolog!`] takes the level as an argument.
//!
//! # Sessions
//!
//! A session wants levels of groups: WTF of all until told otherwise. Any number of them run at once, each with its own
//! wishes and its own buffer.
//!
//! ```
//! # use protolog_rt::{Level, ProtoLogGroup, Session};
//! # #[derive(ProtoLogGroup)]
//! # enum AppLog { Net, Disk }
//! # fn main() -> Result<(), protolog_rt::Error> {
//! # let path = std::env::temp_dir().join(format!("protolog-groups-{}.pftrace", std::process::id()));
//! // WARN and worse of everything, all of one group.
//! let session = Session::builder().file(&path).log_from(Level::Warn).group("Net", Level::Verbose).start()?;
//! assert!(AppLog::Net.is_enabled(Level::Debug) && !AppLog::Disk.is_enabled(Level::Info));
//! # session.stop()?;
//! # std::fs::remove_file(path).ok();
//! # Ok(())
//! # }
//! ```
//!
//! | what is wanted | how |
//! |---|---|
//! | all of it, in a file | [`Builder::file`]; a thread of the session's writes it; in parts with [`Builder::segment_bytes`] |
//! | what led to something | [`Builder::keep_newest`], a ring in memory, and [`Session::snapshot`] |
//! | what led to the program's death | [`Builder::record`], the same ring in a file, and `protologtool recover` |
//! | to be switched from outside | [`init`]; then the variable `PROTOLOG`, and `protologtool configuration` |
//! | lines on standard error | [`print_group`], or `log_to_text` |
//! | where a call came from | [`Builder::collect_stacktrace`] |
//! | nothing lost, rather than nothing slowed | [`Builder::wait_at_most`] |
//!
//! # Reading
//!
//! `protologtool read-log app.pftrace` prints lines or, with `--format json`, objects; it chooses by `--group`,
//! `--level`, `--grep`, time and thread, and shows losses where they happened. The file is an ordinary Perfetto trace as
//! well: <https://ui.perfetto.dev> shows it, and its page "Query (SQL)" answers `select * from protolog`. `protologtool
//! merge` joins the traces of several processes.
//!
//! # What it costs
//!
//! | | ns | instructions | bytes in the file |
//! |---|--:|--:|--:|
//! | a call that nobody wants: a load, a test, a branch | 0.3 | 3 | |
//! | a call of a group with `enabled = false` | 0 | 0 | |
//! | two integers | 13.0 | 142 | 24 |
//! | an integer and a text, one of 8 | 16.3 | 191 | 27 |
//! | two integers and a float | 13.7 | 162 | 34 |
//! | a text of 40 bytes, always the same | 16.5 | 170 | 23 |
//! | two integers, wanted by two sessions | | 602 | |
//! | for comparison: `clock_gettime` alone | 16.9 | | |
//!
//! Medians of bursts on an Intel Xeon, rustc 1.95, as `cargo xtask bench runtime` prints them beside those of seven peers
//! (`tracing` with a file: 495 for two integers). While several threads log at a time, Intel's processors need a fence
//! before they read their counter, which is 7 to 8 ns more; AMD's need none. `cargo xtask test instructions` counts
//! instructions, and fails where there are more. `docs/design/hot-path.md` goes through them one by one. Besides:
//!
//! - *Code*: a call of three arguments is below 120 bytes in the program, and an entry of its dictionary, which is not
//!   loaded before it is asked for. `cargo xtask bench compile` measures what compiling takes, beside `log` and
//!   `tracing`.
//! - *Memory*: a session's buffer, 4 MiB by default; of it a thread has 292 bytes at its first message, later 4 KiB, and
//!   what idle threads have is taken back when it gets scarce.
//! - *Allocation, locks, system calls*: none after a thread's first message, but for locks of [`dynamic::log`], and memory for
//!   a message of more than 4 KiB and for stack traces.
//!
//! # What a call promises
//!
//! - Off, it costs one load and a branch, and evaluates none of its arguments. On, it evaluates each once.
//! - It never fails or panics, blocks only where a session was told to ([`Builder::wait_at_most`]), and takes a lock only
//!   at a thread's first message after a session started or stopped.
//! - Texts are borrowed, as `println!` does, and cut with an ellipsis where they are longer than the session allows
//!   ([`Builder::max_text`], 4 KiB unless it says otherwise).
//! - A message that can't be written is counted by group and [`LossCause`]; the trace says where, and [`Summary::losses`] how
//!   many.
//!
//! # When things go wrong
//!
//! **The program is killed, aborts or crashes.** A message is committed when its call returns.
//!
//! | session | of the committed messages are |
//! |---|---|
//! | [`record`](Builder::record) | kept: all that the ring holds; what it overwrote is counted. `protologtool recover` makes the trace, with texts |
//! | [`file`](Builder::file) | kept: what is in the file, which can be read as far as it goes. Lost: what the session's thread had not written. It writes when half of the buffer is full (2 MiB of 4) and at [`Session::flush`]; nobody can count what is lost |
//! | [`keep_newest`](Builder::keep_newest), [`keep_first`](Builder::keep_first) | lost, but for snapshots that were made |
//!
//! A message within its call when the process dies is not there, and nothing is torn: chunks are read up to what is
//! committed. Of 10,000 messages written just before a SIGKILL a recorder keeps 10,000. When the machine goes down, a
//! recording in `/dev/shm` goes with it, and one [on a disk](Builder::record_at) has what was flushed.
//!
//! **It panics.** Nothing is lost by unwinding: sessions that are dropped complete their files, and one that only records
//! leaves its recording. With [`log_panics`] each panic becomes a message with its stack trace, and all sessions' files have
//! what was logged until then, even if the process aborts next.
//!
//! **It exits.** A session that is stopped or dropped is complete. `std::process::exit`, or a session in a static, drops
//! nothing: then the same holds as for a crash, so stop sessions first.
//!
//! **It forks.** The parent's sessions go on as if there were no child. In the child they are over: it writes to none of
//! their files ([`Session::flush`] is an error there), a message for them is nothing, and is counted nowhere. Switches start anew, and the child may start
//! sessions, [`init`] and log as any program. Of a message within which a signal handler forked, the child counts a loss
//! ([`LossCause::Forked`]), the parent has it. A bare `clone` system call runs no handlers: such a child should do nothing
//! but `exec`. What it logs goes into its copy of the buffer, so that its parent's trace is as it was, or with a recorder
//! into its thread's chunk, until that is full; then it is found out, and what follows is dropped.
//!
//! **A signal handler logs.** It may, and its message is in the trace, unless it interrupted a message of the same
//! thread: then it is dropped and counted as [`LossCause::Reentrant`], and the interrupted message is whole. The first message
//! of a thread after a session started or stopped may allocate, which a handler must not do: have the thread log
//! something itself before, or block the signal meanwhile. [`dynamic::log`], stack traces and [text] are not for
//! handlers.
//!
//! **A thread ends.** All that it logged stays, in the trace under its name and id; its chunk is given back. Its
//! thread-local destructors may log: those that run before the runtime's own are logged, those that run after it are
//! counted as [`LossCause::ThreadExit`]. Nothing remains of the thread in memory.
//!
//! **A buffer is full.** The message is dropped and counted as [`LossCause::BufferFull`] in a session that streams or keeps the
//! first; a ring overwrites its oldest chunk, which is counted as [`LossCause::Overwritten`]. A larger
//! [`Builder::buffer_size`] helps against bursts, [`Builder::wait_at_most`] against the rest.
//!
//! **The disk is full, or the file can't be written.** The program goes on, and so does its trace where there is room again:
//! the session tries once a second while something is logged, at [`Session::flush`], and when it is stopped. What is missing
//! is counted by group as [`LossCause::WriteFailed`], and the trace says where; until it can, [`Session::so_far`] does. As long as
//! the file can't be written `flush` is an error, and so is [`Session::stop`] where it can't be to the end; it then ends with
//! the last packet that had room. A pipe or a device that failed once is not tried again. Who takes a file away makes that an
//! error of the stop, too; where a trace is [several files](Builder::segment_bytes), the next ones are written all the same.
//! Other programs had better leave the file alone as long as it is written: what cuts it to nothing (`copytruncate`) leaves a
//! hole of zeros in its place. Let the session [begin new ones](Builder::segment_age) instead.
//!
//! **The clock is set.** The order of messages and the time between them stay what they are, since they are counted from the
//! machine's start. Dates are those of the new time from when the session's thread next writes to its file.
//!
//! # Without proc macros
//!
//! Sources that `protologtool transform-protolog-calls` has rewritten need none: they are built with this crate's default
//! feature `macros` off. Their texts are in the dictionary that the tool writes, which [`dictionary!`] puts into the
//! program, under a feature of the program's own for one:
//!
//! ```text
//! #[cfg(feature = "rewritten")] // in src/main.rs; in Cargo.toml: [features] rewritten = []
//! protolog_rt::dictionary!("../app.pb");
//!
//! $ protologtool transform-protolog-calls --output-dir rewritten --viewer-config rewritten/app.pb src
//! $ cp Cargo.toml rewritten/ # in that: protolog-rt = { path = "../../protolog/protolog-rt", default-features = false }
//! $ cargo run --manifest-path rewritten/Cargo.toml --features rewritten
//! ```
//!
//! The crate keeps its name, since the names of its groups begin with it.
//!
//! # Where to look
//!
//! [`ProtoLogGroup`] for groups, [`d!`] and [`protolog!`] for calls, [`Session`] and [`Builder`] for what becomes of
//! them, [`init`] for being switched from outside, [`dynamic::log`] for templates that are known at run time only,
//! [`log_panics`] for panics. What libraries say through `log` and `tracing` comes along with the features of those
//! names. Guides for moving from them are in `docs/guides`.

// The examples of the guides are tested as those of this crate.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guides/from-log.md")]
mod from_log {}
#[cfg(doctest)]
#[doc = include_str!("../../docs/guides/from-tracing.md")]
mod from_tracing {}

#[doc(hidden)]
pub mod __private;
mod arguments;
#[cfg(any(feature = "log", feature = "tracing"))]
pub mod bridge;
mod clock;
pub mod control;
mod dictionary;
pub mod dynamic;
mod emit;
mod error;
mod init;
mod level;
mod log;
mod loss;
mod macros;
mod names;
mod note;
mod panic;
mod paths;
mod rewritten;
mod seen;
mod session;
mod shmem;
mod site;
mod stats;
mod sync;
mod sys;
pub mod text;
mod value;
mod writer;

pub use error::Error;
pub use init::{Init, InitError, init};
pub use level::{GroupInfo, ProtoLogGroup};
pub use loss::LossCause;
pub use panic::log_panics;
pub use protolog_core::Level;
#[cfg(feature = "macros")]
pub use protolog_macros::ProtoLogGroup;
pub use session::config::{Config, GroupOverride, TracingMode};
pub use session::{Builder, Session};
pub use stats::{BufferStats, GroupStats, Loss, Summary};
pub use text::print_group;
pub use value::{BoolArg, FloatArg, IntArg, TextArg};
