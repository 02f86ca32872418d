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

mod commands;
mod config;
#[cfg(fuzzing)]
pub mod fuzzing;
mod instance;
mod link;
mod outlet;
mod refusals;
mod sender;
mod sequence;
mod startup;
mod worker;

use crate::level;
use crate::sys::copies::{self, ServiceState};
use crate::sys::environment::variable;
use crate::sys::fork::{ForkLock, Order, is_incomplete};
use crate::sys::thread::block_signals;
use crate::text_queue;
use crate::writer::guarded;
use link::Link;
use perfetto_ipc::places;
use protolog_core::Level;
use startup::Startup;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The first pause after an attempt that failed; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// The longest pause.
const LAST_PAUSE: Duration = Duration::from_secs(5);

/// The interval at which chunks of ended threads are looked for in the startup buffer.
const TIDY_INTERVAL: Duration = Duration::from_millis(100);

/// The producer of this process; none before the first [`connect`].
static PRODUCER: ForkLock<Option<Producer>> = ForkLock::new(Order::Producer, None);

/// A producer, and the process that it is of.
#[derive(Debug)]
struct Producer {
    process: u32,
    state: Arc<SharedStatus>,
    /// Its thread could be started; otherwise the next call tries again.
    has_thread: bool,
}

/// The state that both threads and the program share.
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
    /// The reason why the last connection ended, or why there is none.
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

fn connect_with(options: Connect) {
    guarded(|| {
        level::look_for_host();
        if let Some(host) = copies::host() {
            return host.connect(options.startup_buffer, options.startup_log_from.severity());
        }
        let mut producer = PRODUCER.lock();
        let process = std::process::id();
        let is_running = |it: &Producer| it.process == process && it.has_thread;
        if producer.as_ref().is_some_and(is_running) {
            return;
        }
        let state = Arc::<SharedStatus>::default();
        state.keep(options);
        let own = Arc::clone(&state);
        let spawned = thread::Builder::new().name("protolog-conn".into()).spawn(move || run(&own));
        let has_thread = spawned.is_ok();
        if let Err(error) = spawned {
            // Nobody would take what it keeps.
            drop(state.startup().take());
            let reason = format!("there is no thread to be had: {error}");
            state.update(|status| status.last_error = Some(reason));
        }
        // What it replaces is of the parent of this forked child, and not ours to drop, or a state.
        std::mem::forget(producer.replace(Producer { process, state, has_thread }));
    });
}

/// Returns the state of the connection; all is false and none before [`connect`].
pub fn status() -> Status {
    guarded(|| {
        if let Some(host) = copies::host() {
            let ServiceState { is_connected, sessions, lost, last_error, notice } =
                host.service_state();
            return Status { is_connected, sessions, last_error, notice, lost };
        }
        let producer = PRODUCER.lock();
        let own = producer.as_ref().filter(|running| running.process == std::process::id());
        own.map_or_else(Status::default, |running| running.state.status())
    })
}

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

/// Connects again and again.
fn run(state: &Arc<SharedStatus>) {
    block_signals();
    let mut pause = FIRST_PAUSE;
    loop {
        let socket = places::producer(variable(places::PRODUCER_VARIABLE));
        let began = Instant::now();
        let reason = match Link::connect(&socket) {
            Ok(link) => {
                state.update(|status| {
                    let (lost, notice) = (status.lost, state.startup_problem.get().cloned());
                    *status = Status { is_connected: true, lost, notice, ..Status::default() };
                });
                worker::serve(link, state)
            }
            Err(error) => format!("{}: {error}", socket.path().display()),
        };
        state.update(|status| {
            (status.is_connected, status.sessions) = (false, 0);
            status.last_error = Some(reason);
        });
        // A service that has recorded something works: it may have been started anew.
        if state.has_recorded.swap(false, Ordering::Relaxed) || began.elapsed() > LAST_PAUSE {
            pause = FIRST_PAUSE;
        }
        sleep(pause, state);
        pause = (2 * pause).min(LAST_PAUSE);
    }
}

/// Sleeps, and looks after the startup buffer meanwhile.
fn sleep(pause: Duration, state: &SharedStatus) {
    let by = Instant::now() + pause;
    loop {
        let left = by.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        thread::sleep(if state.tidy() { left.min(TIDY_INTERVAL) } else { left });
    }
}
