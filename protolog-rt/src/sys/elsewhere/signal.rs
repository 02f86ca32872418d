//! Events that end the process: on Windows those of its console, and the end of the user's session
//! and of the machine. The system calls a handler on a thread of its own, the newest one first.
//!
//! Invariant: the handler leaves the event to the others, of which the system's ends the process.

#[cfg(windows)]
use crate::sync::{AtomicBool, Ordering};
#[cfg(windows)]
use crate::sys::once::ForkOnce;
use std::io;

/// The effect that a signal has besides ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code)] // As on Unix.
pub(crate) enum Effect {
    /// The process dies.
    Dies,
    /// A handler of the program runs.
    Handled,
}

/// What runs at the first event.
#[cfg(windows)]
static FUNCTION: ForkOnce<fn(Effect)> = ForkOnce::new();
/// An event came.
#[cfg(windows)]
static HAS_COME: AtomicBool = AtomicBool::new(false);

#[cfg(windows)]
#[link(name = "kernel32")]
unsafe extern "system" {
    fn SetConsoleCtrlHandler(handler: unsafe extern "system" fn(u32) -> i32, adds: i32) -> i32;
}

/// Installs a handler of Ctrl-C, Ctrl-Break, and the end of the console, the user's session and the
/// machine. Whether another one was there before can't be told: it runs afterwards. One that comes
/// later runs before, and decides whether this one does.
#[cfg(windows)]
pub(crate) fn handle(on_signal: fn(Effect)) -> io::Result<()> {
    FUNCTION.get_or_make(|| on_signal);
    // SAFETY: the function lives as long as the process, whose library is never unloaded.
    if unsafe { SetConsoleCtrlHandler(on_event, 1) } == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// The handler. It says that it has not handled the event.
#[cfg(windows)]
unsafe extern "system" fn on_event(_: u32) -> i32 {
    // A second one means: don't wait.
    if !HAS_COME.swap(true, Ordering::Relaxed) {
        FUNCTION.get().into_iter().for_each(|function| function(Effect::Dies));
    }
    0
}

/// Installs handlers, which can't be done.
#[cfg(not(windows))]
pub(crate) fn handle(_: fn(Effect)) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
