//! Logs without strings: a call writes the id of its message and its arguments, as protobuf, straight into the calling
//! thread's chunk of a shared buffer; what comes out is a Perfetto trace that carries its own dictionary.
//!
//! ```
//! use protolog_rt::{ProtoLogGroup, Session};
//!
//! #[derive(ProtoLogGroup)]
//! enum AppLog {
//!     Net,
//!     #[protolog(enabled = false)] // leaves neither code nor text in the binary
//!     Disk,
//! }
//!
//! # fn main() -> Result<(), protolog_rt::Error> {
//! # let folder = std::env::temp_dir();
//! # let path = folder.join(format!("protolog-doc-{}.pftrace", std::process::id()));
//! # let (n, host, ms) = (1500, "example.org", 0.271);
//! let session = Session::builder().file(&path).enable_all().start()?;
//! protolog_rt::d!(AppLog::Net, "sent %d bytes to %s in %8.3f ms", n, host, ms);
//! protolog_rt::w!(AppLog::Disk, "never compiled, so %s is never evaluated", panic!());
//! let summary = session.stop()?;
//! assert_eq!(summary.messages, 1);
//! # std::fs::remove_file(path).ok();
//! # Ok(())
//! # }
//! ```
//!
//! Read the trace with `protologtool read-log app.pftrace`, or open it in the Perfetto UI.
//!
//! # Groups
//!
//! A group is a variant of an enum that derives [`ProtoLogGroup`]; a program may have several such enums, each library its
//! own. Its full name is `crate::Enum::Variant`. A session wants levels of groups:
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
//! # What it costs
//!
//! | what | cost |
//! |---|---|
//! | a call that nobody wants | one load, one test, one branch |
//! | a call of a group with `enabled = false` | nothing; its arguments are type-checked |
//! | a call with an integer, a text and a float, in the program | below 120 bytes of code, and its dictionary entry |
//! | a message | `cargo xtask bench runtime` measures it beside its floor and its peers |
//! | compiling | `cargo xtask bench compile` measures it beside `log` and `tracing` |
//!
//! # What happens when
//!
//! - *The program crashes*: a session that streams to a file has lost what was not in the file yet; one that
//!   [records](Builder::record) has lost nothing, see there. [`log_panics`] logs a panic before the process dies.
//! - *It forks*: the child has switches of its own; a message that a fork cuts off is counted, see [`Cause`].
//! - *A signal handler logs*: it may, see below.
//! - *A thread ends*: what it logged stays; what its thread-local destructors log last is logged or counted.
//! - *A buffer is full*: messages are counted and dropped, unless the session was told to wait.
//!
//! # What a call promises
//!
//! - Off, it costs one load and a branch, and evaluates none of its arguments. On, it evaluates each once.
//! - It never fails or panics, blocks only where a session was told to ([`Builder::wait_at_most`]), and takes a lock only at
//!   a thread's first message after a session started or stopped.
//! - Signal handlers may log. Within another message of their thread they are counted, not logged. The first message on a
//!   thread after a session started or stopped may allocate, which a handler must not do: have the thread log something
//!   itself, or block the signal meanwhile.
//! - After a fork the sessions are the parent's, whose traces are as if there were no child. The child may start its own.
//! - A message that can't be written is counted by group and cause, and the trace says where: see [`Cause`].
//! - Texts are borrowed, as `println!` does, and cut with an ellipsis where they are longer than the session allows.
//!
//! # Without proc macros
//!
//! Sources that `protologtool transform-protolog-calls` has rewritten need none: build this crate without its default feature
//! `macros`. Their texts are in the dictionary that the tool writes, which [`dictionary!`] puts into the program.
//!
//! # Where to look
//!
//! [`ProtoLogGroup`] for groups, [`d!`] and [`protolog!`] for calls, [`Session`] for recording to a file, in memory, or
//! so that it [survives a crash](Builder::record),
//! [`init`] for being switched from outside, by the variable `PROTOLOG` and by `protologtool configuration`,
//! [`dynamic::log`] for templates that are known at run time only, [`print_group`] for lines on standard error.

// The examples of the guides are tested as those of this crate.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guides/from-log.md")]
mod from_log {}
#[cfg(doctest)]
#[doc = include_str!("../../docs/guides/from-tracing.md")]
mod from_tracing {}

#[doc(hidden)]
pub mod __private;
#[cfg(any(feature = "log", feature = "tracing"))]
pub mod bridge;
mod clock;
pub mod control;
mod dictionary;
pub mod dynamic;
mod env;
mod error;
mod fork;
mod level;
mod log;
mod loss;
mod macros;
mod panic;
mod rewritten;
mod seen;
mod session;
mod shmem;
mod site;
mod stats;
mod sync;
pub mod text;
mod value;
mod writer;

pub use env::{Init, InitError, init};
pub use error::Error;
pub use level::{GroupInfo, ProtoLogGroup};
pub use loss::Cause;
pub use panic::log_panics;
pub use protolog_core::Level;
#[cfg(feature = "macros")]
pub use protolog_macros::ProtoLogGroup;
pub use session::config::{Config, GroupOverride, TracingMode};
pub use session::{Builder, Session};
pub use stats::{BufferStats, GroupStats, Loss, Summary};
pub use text::print_group;
pub use value::{BoolArg, FloatArg, IntArg, TextArg};
