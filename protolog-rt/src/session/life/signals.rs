//! Ends sessions when a signal ends the process.

use crate::error::Error;
use crate::session::life::running_sessions;
use crate::sync::{AtomicU32, Ordering};
use crate::sys::pin;
use crate::sys::process::asked_id;
use crate::sys::signal::{self, Effect};
use std::io::ErrorKind;
use std::time::Duration;

/// The longest that a signal waits for a session that another thread is ending, and for a flush.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Ends all sessions when SIGINT, SIGTERM or SIGHUP ends the process, so that their traces are
/// complete; the process then dies of the signal as before. A second such signal kills it at once.
/// The first process of a container (process id 1) can't die of a signal, and exits with 128 and
/// the signal's number instead, so with 143 for the SIGTERM of `docker stop`.
///
/// Where the program has a handler of its own, that decides: it runs as before, and meanwhile all
/// sessions write the messages logged so far and go on. So call this after such handlers are
/// installed. Signals that are ignored stay so. A forked child dies of a signal as if this had not
/// been called, until it calls it, too, or a session goes on there
/// ([`Builder::follow_forks`](crate::Builder::follow_forks)).
///
/// ```
/// use protolog_rt::Session;
///
/// # fn main() -> Result<(), protolog_rt::Error> {
/// protolog_rt::stop_on_signals()?;
/// # let path = std::env::temp_dir().join(format!("protolog-signals-{}.pftrace", std::process::id()));
/// let session = Session::builder().file(&path).start()?;
/// // Ctrl-C now leaves a complete trace.
/// # session.stop()?;
/// # std::fs::remove_file(path).ok();
/// # Ok(())
/// # }
/// ```
///
/// On Windows the events are Ctrl-C, Ctrl-Break, and the end of the console, of the user's session
/// and of the machine. A handler of the program's that was installed before runs afterwards, when
/// all sessions have ended; one that is installed later runs first, and where it handles the event
/// itself, as that of `tokio::signal` does, sessions go on. So call this before.
///
/// The work is done by a thread of the runtime, not in the handler. Without this function nothing
/// is lost either, as long as somebody [recovers](crate::recover_previous) the trace.
///
/// # Errors
/// [`Error::Resources`] if there is no room for a thread or a descriptor; [`Error::Unsupported`] on
/// WASI, which has no such signals.
pub fn stop_on_signals() -> Result<(), Error> {
    let process = asked_id();
    let before = CALLER.swap(process, Ordering::Relaxed);
    if before == process {
        return Ok(());
    }
    // Its handlers and its thread are code of this library.
    pin::keep_runtime_loaded();
    signal::handle(on_signal).map_err(|error| {
        CALLER.store(0, Ordering::Relaxed);
        if error.kind() == ErrorKind::Unsupported {
            Error::Unsupported { option: "stop_on_signals" }
        } else {
            Error::Resources(error)
        }
    })
}

/// The process that has called [`stop_on_signals`]; 0 if none has.
static CALLER: AtomicU32 = AtomicU32::new(0);

/// In a forked child in which sessions go on: its parent's request holds here, too.
pub(in crate::session) fn follow() -> Result<(), Error> {
    if CALLER.load(Ordering::Relaxed) == 0 { Ok(()) } else { stop_on_signals() }
}

fn on_signal(effect: Effect) {
    match effect {
        Effect::Dies => running_sessions::end_all(TIMEOUT),
        Effect::Handled => running_sessions::flush(TIMEOUT),
    }
}
