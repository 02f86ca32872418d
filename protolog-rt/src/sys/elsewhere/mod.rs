//! Windows and WASI: the same functions as on Unix systems, where these have them. A process has no
//! forks and no signals there, and WASI has one thread.
//!
//! Invariant: what a system lacks is an error of the kind `Unsupported`, or is not needed there.

pub(crate) mod barrier;
pub(crate) mod close_on_fork;
pub(crate) mod errno;
pub(crate) mod fatal;
pub(crate) mod file;
pub(crate) mod file_lock;
pub(crate) mod futex;
pub(crate) mod mapping;
pub(crate) mod output;
pub(crate) mod own_file;
pub(crate) mod pin;
pub(crate) mod process;
pub(crate) mod signal;
pub(crate) mod thread;
pub(crate) mod thread_end;
pub(crate) mod time;
pub(crate) mod zone;
