//! Triggers: files with what came before an event, and a little of what came after, written by a
//! thread of the session while the program goes on.
//!
//! | file | of |
//! |---|---|
//! | `settings` | what fires, and how much is kept: [`Triggers`](settings::Triggers) |
//! | `trigger_thread` | the thread, from a cause to its file |
//! | `family` | other programs that are told of an event |
//! | `files` | names, limits, and what is removed |
//! | `signal_files` | the files of earlier runs that fatal signals ended |
//! | `message` | the message that says why, in the trace itself |
//!
//! The state that threads of the program set is in `arbiter/causes.rs`; causes of the process,
//! such as panics, are in `life/events.rs`.
//!
//! Invariant: nothing is written on a thread of the program, and no error here ends anything.

#[cfg_attr(not(unix), path = "family_here.rs")]
pub(crate) mod family;
pub(crate) mod files;
pub(crate) mod message;
pub(crate) mod settings;
pub(crate) mod signal_files;
pub(crate) mod trigger_thread;
