//! Causes of triggers that come from the process, for all sessions that have triggers: panics,
//! operations that took too long, and whoever has no session at hand.
//!
//! Invariant: a panic waits for files only where the process aborts after it.

use crate::session::life::running_sessions;
use crate::writer::owner::Event;
use crate::writer::running;
use protolog_recording::EventKey;
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The longest that a panic waits for the files, where it ends the process.
const PANIC_TIMEOUT: Duration = Duration::from_secs(1);

const POLL: Duration = Duration::from_millis(1);

/// Fires the triggers of every session that has any ([`Triggers`](crate::Triggers)), as
/// [`Session::trigger`](crate::Session::trigger) does for one. Returns the number of files that
/// come of it: 0 where no session has triggers, or each has fired for this cause a moment ago.
///
/// ```
/// assert_eq!(protolog_rt::trigger("queue is full"), 0); // no session runs
/// ```
pub fn trigger(cause: &str) -> usize {
    running::report_event(Event::Named(cause))
}

/// Fires as [`trigger`] does, and returns the event's name for other machines, which
/// [`join_event`] takes there; none where no file comes of it. It has digits, letters and hyphens,
/// as in `1764460000123456789-slow-query`, so that it may go through a header of a request.
///
/// ```
/// if let Some(event) = protolog_rt::trigger_event("slow query") {
///     // … a request to another service has it as a header, `protolog-event` for example
///     # let _ = event;
/// }
/// ```
pub fn trigger_event(cause: &str) -> Option<String> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    let key = EventKey::new(u64::try_from(since.as_nanos()).ok()?, cause);
    (running::report_event(Event::Known(cause, &key)) > 0).then(|| key.to_string())
}

/// Has every session that has triggers write what it keeps of an event of another machine, whose
/// name [`trigger_event`] returned there: the same time, as far as the clocks of both agree. The
/// files have that time in their names, and `joined` before the cause. Returns the number of files
/// that come of it: 0 also for a text that is no event's name, and for one whose time is more than
/// ten minutes away.
///
/// ```
/// let header = "1764460000123456789-slow-query";
/// assert_eq!(protolog_rt::join_event(header), 0); // no session runs, and it was long ago
/// ```
///
/// Who may send such a name may have files written, as many as [`Triggers`](crate::Triggers) lets
/// any cause write and keep. Take it from callers that you trust.
pub fn join_event(event: &str) -> usize {
    event.parse().map_or(0, |key| running::report_event(Event::Joined(&key)))
}

/// An operation that has to end in time: if it is dropped later than that, it fires the triggers of
/// every session that has any ([`trigger`]).
///
/// ```
/// use protolog_rt::Deadline;
/// use std::time::Duration;
///
/// fn query() {
///     let _deadline = Deadline::new("slow query", Duration::from_millis(50));
///     // … what may take too long; the file has what was logged meanwhile
/// }
/// # query();
/// ```
///
/// Until then it costs two reads of the clock.
#[derive(Debug)]
#[must_use = "an operation ends when it is dropped; `let _ = …` drops it at once"]
pub struct Deadline<'a> {
    cause: &'a str,
    begun: Instant,
    limit: Duration,
}

impl<'a> Deadline<'a> {
    /// Begins an operation that takes at most `limit`; otherwise `cause` is what fires.
    pub fn new(cause: &'a str, limit: Duration) -> Self {
        Self { cause, begun: Instant::now(), limit }
    }
}

impl Drop for Deadline<'_> {
    fn drop(&mut self) {
        if self.begun.elapsed() > self.limit {
            trigger(self.cause);
        }
    }
}

/// Fires the triggers that wait for panics at each panic from now on, and has what fired before
/// written where a panic ends the process. A thread that unwinds can't see to that: another session
/// will.
pub(in crate::session) fn watch_panics() {
    static IS_SET: AtomicBool = AtomicBool::new(false);
    if thread::panicking() || IS_SET.swap(true, Ordering::Relaxed) {
        return;
    }
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        // It may log the panic, which then is in the file.
        before(panic);
        on_panic();
    }));
}

fn on_panic() {
    running::report_event(Event::Panic);
    if !cfg!(panic = "abort") {
        return;
    }
    // Also where nothing of this panic comes: that of another thread, or an error before it, may
    // have a file that is not written yet.
    let running = running_sessions::running_now().into_iter();
    let all: Vec<_> = running.filter_map(|core| core.owner.causes.clone()).collect();
    for causes in &all {
        causes.hurry();
    }
    let end = Instant::now() + PANIC_TIMEOUT;
    while all.iter().any(|causes| causes.is_in_hurry()) && Instant::now() < end {
        thread::sleep(POLL);
    }
}
