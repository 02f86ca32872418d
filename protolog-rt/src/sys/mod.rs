//! The operating system: every call to it and everything that depends on which one it is, behind
//! safe functions.
//!
//! - [`thread_end`], [`exit`]: functions that run last on a thread, and in the process.
//! - [`signal`], [`fatal`]: signals that end the process, asked to or by a fault of it.
//! - [`process`], [`thread`]: ids, the process's user, a thread's name, which signals it handles.
//! - [`errno`]: the error number, which log calls leave as it was.
//! - [`environment`]: variables, which a set-user-id program does not believe.
//! - [`time`]: clocks, the boot id. [`zone`]: the time zone.
//! - [`mapping`]: memory, of a process's own or of a file.
//! - [`mod@file`]: room in a file, its owner, files in memory; [`create`]: files that only their
//!   user may read; [`file_lock`]: locks by which other processes see who writes a file.
//! - [`output`]: standard error. [`futex`]: waiting for a word to change.
//! - [`poll`], [`socket`]: waiting for several descriptors, the ancillary data of a socket.
//! - [`barrier`]: a memory barrier on all threads.
//! - [`modules`]: the program and the libraries that are loaded, their notes; stack traces.
//! - [`copies`]: other copies of this runtime in the process. [`pin`]: libraries that are never
//!   unloaded.
//! - [`sanitizer`]: the same in a program that is built for AddressSanitizer.
//! - [`fork`]: locks that no forked child finds held, and the handlers that see to it; [`once`]:
//!   values that are made once.
//! - [`close_on_fork`]: descriptors that a forked child closes.
//!
//! Invariants
//! - Every function is safe to call with any arguments.
//! - No other module names the C library or asks which system it is compiled for; nothing here uses
//!   a module above it.
#![allow(unsafe_code)] // System calls take pointers; each use names the invariant that it rests on.

pub(crate) mod barrier;
pub(crate) mod close_on_fork;
pub(crate) mod copies;
pub(crate) mod create;
pub(crate) mod environment;
pub(crate) mod errno;
pub(crate) mod exit;
pub(crate) mod fatal;
pub(crate) mod file;
pub(crate) mod file_lock;
pub(crate) mod fork;
pub(crate) mod futex;
pub(crate) mod mapping;
pub(crate) mod modules;
pub(crate) mod once;
pub(crate) mod output;
pub(crate) mod own_file;
pub(crate) mod pin;
pub(crate) mod poll;
pub(crate) mod process;
pub(crate) mod runtime_dirs;
mod sanitizer;
pub(crate) mod signal;
pub(crate) mod socket;
pub(crate) mod thread;
pub(crate) mod thread_end;
pub(crate) mod time;
pub(crate) mod zone;

use std::io;

/// True on a system with Android's log daemon.
pub(crate) const HAS_LOGD: bool = cfg!(target_os = "android");

/// Turns the result of a system call that is negative where it failed into an error.
fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
