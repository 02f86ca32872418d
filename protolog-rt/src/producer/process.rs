//! The producer of this process, and the thread that connects it again and again.

use super::link::Link;
use super::{Connect, SharedStatus, Status, TIDY_INTERVAL, worker};
use crate::level;
use crate::sys::copies::{self, ServiceState};
use crate::sys::environment::variable;
use crate::sys::fork::{ForkLock, Order};
use crate::sys::thread::block_signals;
use crate::writer::guarded;
use perfetto_ipc::places;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

/// The first pause after an attempt that failed; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// The longest pause.
const LAST_PAUSE: Duration = Duration::from_secs(5);

/// The producer of this process; none before the first [`connect_with`].
static PRODUCER: ForkLock<Option<Producer>> = ForkLock::new(Order::Producer, None);

/// A producer, and the process that it is of.
#[derive(Debug)]
struct Producer {
    process: u32,
    state: Arc<SharedStatus>,
    /// Its thread could be started; otherwise the next call tries again.
    has_thread: bool,
}

/// Joins the service.
pub(super) fn connect_with(options: Connect) {
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

/// Returns the state of the connection.
pub(super) fn current_status() -> Status {
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

/// Connects again and again.
fn run(state: &Arc<SharedStatus>) {
    block_signals();
    let mut pause = FIRST_PAUSE;
    // Why a connection ended is of interest when there is another one, too.
    let mut ended = None;
    loop {
        let socket = places::producer(variable(places::PRODUCER_VARIABLE));
        let began = Instant::now();
        let reason = match Link::connect(&socket) {
            Ok(link) => {
                state.update(|status| {
                    let (lost, notice) = (status.lost, state.startup_problem.get().cloned());
                    let last_error = ended.clone();
                    *status = Status { is_connected: true, sessions: 0, last_error, notice, lost };
                });
                let reason = worker::serve(link, state);
                ended = Some(reason.clone());
                reason
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
