//! The operating system: every call to it and everything that depends on which one it is, behind
//! safe functions.
//!
//! - [`thread_end`], [`exit`]: functions that run last on a thread, and in the process.
//! - [`signal`], [`fatal`]: signals that end the process, asked to or by a fault of it.
//! - [`process`], [`thread`]: ids, the process's user, a thread's name, which signals it handles.
//! - [`errno`]: the error number, which log calls leave as it was.
//! - [`environment`]: variables, which a set-user-id program does not believe.
//! - [`time`]: clocks, the boot id. [`zone`]: the time zone.
//! - [`mapping`]: memory, of a process's own or of a file; [`growing`]: a buffer in it that grows.
//! - [`mod@file`]: room in a file, its owner, files in memory; [`create`]: files that only their
//!   user may read; [`file_lock`]: locks by which other processes see who writes a file.
//! - [`output`]: standard error. [`futex`]: waiting for a word to change.
//! - [`poll`], [`socket`]: waiting for several descriptors, the ancillary data of a socket;
//!   [`datagram`]: sockets of datagrams.
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

#[cfg(unix)]
pub(crate) mod barrier;
#[cfg(unix)]
pub(crate) mod close_on_fork;
pub(crate) mod copies;
pub(crate) mod create;
pub(crate) mod datagram;
#[cfg(not(unix))]
mod elsewhere;
pub(crate) mod environment;
#[cfg(unix)]
pub(crate) mod errno;
pub(crate) mod exit;
#[cfg(unix)]
pub(crate) mod fatal;
#[cfg(unix)]
pub(crate) mod file;
#[cfg(unix)]
pub(crate) mod file_lock;
pub(crate) mod fork;
#[cfg(unix)]
pub(crate) mod futex;
pub(crate) mod growing;
#[cfg(unix)]
pub(crate) mod mapping;
pub(crate) mod modules;
pub(crate) mod once;
#[cfg(unix)]
pub(crate) mod output;
#[cfg(unix)]
pub(crate) mod own_file;
#[cfg(unix)]
pub(crate) mod pin;
#[cfg(unix)]
pub(crate) mod poll;
#[cfg(unix)]
pub(crate) mod process;
#[cfg(unix)]
pub(crate) mod runtime_dirs;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod sanitizer;
#[cfg(unix)]
pub(crate) mod signal;
#[cfg(unix)]
pub(crate) mod socket;
#[cfg(unix)]
pub(crate) mod thread;
#[cfg(unix)]
pub(crate) mod thread_end;
#[cfg(unix)]
pub(crate) mod time;
#[cfg(unix)]
pub(crate) mod zone;

#[cfg(not(unix))]
pub(crate) use elsewhere::{
    barrier, close_on_fork, errno, fatal, file, file_lock, futex, mapping, output, own_file, pin,
    process, signal, thread, thread_end, time, zone,
};

#[cfg(unix)]
use std::io;

/// True on a system on which a thread can be started.
pub(crate) const HAS_THREADS: bool = cfg!(not(target_family = "wasm"));

/// True on a system on which a mapped file outlives the process as it was, and its lock does not.
pub(crate) const HAS_RECORDINGS: bool = cfg!(any(unix, windows));

/// True on a system that gives a mapped file another name. Some of Windows' file systems refuse it.
pub(crate) const RENAMES_MAPPED: bool = cfg!(unix);

/// True on a system that tells a process of its faults by signals.
pub(crate) const HAS_SIGNALS: bool = cfg!(unix);

/// True on a system with Android's log daemon.
pub(crate) const HAS_LOGD: bool = cfg!(target_os = "android");

/// Turns the result of a system call that is negative where it failed into an error.
#[cfg(unix)]
fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
