//! A producer for Perfetto's tracing service (`traced`): whoever holds the service's consumer side
//! starts a session, and gets one trace with the messages of all programs that are connected.
//!
//! ```text
//! connect() -> thread "protolog-conn": connects, with back-off; reads commands ─┐
//!                                                                               v
//! writers -> buffer of a session -> thread "protolog-fwd": chunk by chunk -> the service's memory -> CommitData
//! ```
//!
//! A session of the service is a session of ours ([`crate::session::forwarded`]) whose chunks are
//! copied, as they are, into the memory that this process shares with the service. So a call costs
//! what it costs otherwise, sessions of both kinds run side by side, and a slow service meets the
//! same buffer and the same policies as a slow disk.
//!
//! | file | |
//! |---|---|
//! | [`link`], [`sender`] | the connection: frames in, requests out |
//! | [`commands`], [`config`] | what the service asks for, decoded |
//! | [`worker`] | the thread that forwards: commands, rounds, flushes |
//! | [`instance`], [`sequence`] | a session of the service: its sequences, its dictionary |
//! | [`refusals`] | sessions that are not recorded |
//! | [`startup`] | messages from before the first session |
//! | [`outlet`] | the shared memory, writer ids, and what the service is told of them |
//!
//! Invariants
//! - Nothing here runs on a thread of the program, but for the start of the startup buffer and of
//!   the first thread.
//! - What the service sends is untrusted: it ends the connection at worst.

#[cfg(unix)]
mod commands;
#[cfg(unix)]
mod config;
#[cfg(not(unix))]
mod elsewhere;
#[cfg(fuzzing)]
pub mod fuzzing;
#[cfg(unix)]
mod instance;
#[cfg(unix)]
mod link;
#[cfg(unix)]
mod outlet;
#[cfg(unix)]
mod process;
#[cfg(unix)]
mod refusals;
#[cfg(unix)]
mod sender;
#[cfg(unix)]
mod sequence;
#[cfg(unix)]
mod startup;
#[cfg(unix)]
mod worker;

#[cfg(not(unix))]
use elsewhere::{connect_with, current_status};
#[cfg(unix)]
use process::{connect_with, current_status};

use crate::sys::fork::is_incomplete;
#[cfg(unix)]
use crate::text_queue;
use protolog_core::Level;
#[cfg(unix)]
use startup::Startup;
#[cfg(unix)]
use std::sync::atomic::AtomicBool;
#[cfg(unix)]
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
#[cfg(unix)]
use std::time::Duration;

/// The interval at which chunks of ended threads are looked for in the startup buffer.
#[cfg(unix)]
const TIDY_INTERVAL: Duration = Duration::from_millis(100);

/// The state that both threads and the program share.
#[cfg(unix)]
#[derive(Debug, Default)]
struct SharedStatus {
    status: Mutex<Status>,
    /// Messages for the first session.
    startup: Mutex<Option<Startup>>,
    /// Why there is no startup buffer, or a smaller one than asked for; the notice of each new
    /// connection.
    startup_problem: OnceLock<String>,
    /// A session has recorded this process since the last connection was made.
    has_recorded: AtomicBool,
}

/// The state of the connection with the tracing service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// The service has accepted this process.
    pub is_connected: bool,
    /// The number of its sessions that record this process now.
    pub sessions: usize,
    /// The reason why the last connection ended, or why there is none. It stays while there is
    /// another one.
    pub last_error: Option<String>,
    /// A request of the configuration that is not done as asked.
    pub notice: Option<String>,
    /// Messages of sessions that are over which the service did not take in time, or that were
    /// still in this process when the connection ended. The trace counts the former, too.
    pub lost: u64,
}

/// Joins the tracing service of this machine, now or once it is there, without making the caller
/// wait. Its sessions with the data source `android.protolog` then record this process.
///
/// ```no_run
/// protolog_rt::producer::connect();
/// ```
///
/// The service's socket is the one in the variable `PERFETTO_PRODUCER_SOCK_NAME`, or else
/// `/run/perfetto/traced-producer.sock` or `/tmp/perfetto-producer`. While nobody listens there,
/// one thread tries again, after 100 ms at first and every 5 seconds in the end. In `/tmp`, where
/// anybody can make a socket, the service has to be root's or of the user of this process. If it
/// goes away, its sessions end, and the attempts begin again. Sessions of the process's own go on
/// beside them.
///
/// In a library with a copy of this runtime that has joined the program's, that one joins the
/// service, for the groups of both, as [`Init::start`](crate::Init::start) has it listen.
///
/// Further calls have no effect. A forked child is not connected unless it calls this itself.
///
/// A message that a call has returned from is in the service's memory at most 10 ms later, if the
/// forwarding thread gets to run, and survives the death of the process from then on. A session
/// that stops, a flush and the exit of the process forward everything.
///
/// [`status`] says how it stands.
pub fn connect() {
    Connect::new().start();
}

/// [`connect`] with options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "it does nothing until `start`"]
pub struct Connect {
    startup_buffer: usize,
    startup_log_from: Level,
}

impl Default for Connect {
    fn default() -> Self {
        Self::new()
    }
}

impl Connect {
    /// Creates the options of [`connect`]: no startup buffer.
    pub fn new() -> Self {
        Self { startup_buffer: 0, startup_log_from: Level::Verbose }
    }

    /// Keeps messages from before the service, or a session of it, is there: the first that fit a
    /// buffer of so many bytes. The first session that starts gets them, those that it enables, and
    /// the number of the others, which were dropped. Until then each message costs what it costs in
    /// a session of this process, whether or not there is a service; once the buffer is full, a
    /// drop.
    ///
    /// It has 256 MiB at most. Where more is asked for, [`Status::notice`] says so, and a line on
    /// standard error.
    ///
    /// ```no_run
    /// use protolog_rt::Level;
    /// use protolog_rt::producer::Connect;
    ///
    /// Connect::new().startup_buffer(1 << 20).startup_log_from(Level::Info).start();
    /// ```
    pub fn startup_buffer(mut self, bytes: usize) -> Self {
        self.startup_buffer = bytes;
        self
    }

    /// Sets the least severe level that the startup buffer keeps, of all groups; the default is
    /// VERBOSE.
    pub fn startup_log_from(mut self, level: Level) -> Self {
        self.startup_log_from = level;
        self
    }

    /// Joins the service, as [`connect`] does.
    pub fn start(self) {
        if is_incomplete() {
            return;
        }
        connect_with(self);
    }
}

/// Returns the state of the connection; all is false and none before [`connect`].
pub fn status() -> Status {
    current_status()
}

#[cfg(unix)]
impl SharedStatus {
    /// Starts the startup buffer, if one is asked for.
    fn keep(&self, options: Connect) {
        if options.startup_buffer == 0 {
            return;
        }
        let (asked, most) = (options.startup_buffer, protolog_shmem::MAX_BUFFER);
        match Startup::start(asked, options.startup_log_from) {
            Ok(startup) => *self.startup() = Some(startup),
            Err(error) => {
                let problem = "messages from before the first session are not kept";
                return self.note_startup(format!("{problem}: {error}"));
            }
        }
        if asked > most {
            let problem = format!("the startup buffer has {most} bytes, and not {asked}");
            let text = format!("protolog: {problem}\nhelp: ask for at most {most} bytes\n");
            text_queue::write_line(text.as_bytes());
            self.note_startup(problem);
        }
    }

    /// Notes what is not as asked with the startup buffer.
    fn note_startup(&self, problem: String) {
        self.update(|status| status.notice = Some(problem.clone()));
        // It is set once, as the buffer is started once.
        let _ = self.startup_problem.set(problem);
    }

    /// Returns the startup buffer, until a session has its messages.
    fn startup(&self) -> MutexGuard<'_, Option<Startup>> {
        self.startup.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bounds what threads that ended have left there. False where there is no startup buffer.
    fn tidy(&self) -> bool {
        let mut startup = self.startup();
        startup.iter_mut().for_each(Startup::tidy);
        startup.is_some()
    }

    fn update(&self, change: impl FnOnce(&mut Status)) {
        change(&mut self.status.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn status(&self) -> Status {
        self.status.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
