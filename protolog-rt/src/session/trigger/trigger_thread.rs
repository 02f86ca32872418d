//! The thread of a session with triggers: from a cause that fired to its file.
//!
//! ```text
//! fired          the ring is copied, as far back as the file goes; other programs are told
//! after a while  it is copied once more, and both copies are written
//! an interval    after it fired, the cause may fire again
//! ```
//!
//! Invariant: the copies of at most [`MOST_COPIES`] moments wait in memory, and one more while a
//! file is written, each no larger than the ring. Causes beyond that share the newest one, and have
//! what the ring has when they are written.

use crate::clock;
use crate::error::Error;
use crate::session::arbiter::causes::{Cause, Causes};
use crate::session::arbiter::occasion::{Fired, Origin};
use crate::session::arbiter::session_arbiter::Core;
use crate::session::finish::loss_report;
use crate::session::ring::snapshot::Collected;
use crate::session::trigger::family::FamilyCall;
use crate::session::trigger::files::{EventOfFile, TriggerFiles};
use crate::session::trigger::message::CauseMessage;
use crate::session::trigger::settings::EventWindow;
use crate::sync::{AtomicU64, Ordering};
use crate::sys::thread::block_signals;
use crate::text_queue;
use protolog_core::control::protocol::JoinWindow;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

/// See the module.
const MOST_COPIES: usize = 4;

/// The interval at which somebody who waits for at most a time looks.
const POLL: Duration = Duration::from_millis(1);

/// A thread that runs.
#[derive(Debug)]
pub(in crate::session) struct TriggerThread {
    causes: Arc<Causes>,
    /// Taken by the thread that ends it.
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// The state of a cause, as the thread sees it.
#[derive(Debug)]
enum CauseState {
    Idle,
    /// It fired, and its file is not written yet.
    Open(Open),
    /// Its file is written; it may fire again at this time of BOOTTIME.
    Written(u64),
}

/// A cause that fired.
#[derive(Clone, Debug)]
struct Open {
    fired: Fired,
    /// The messages that were there when it fired.
    earlier: Arc<Collected>,
    /// The time since which that is.
    since: u64,
    /// The time at which that was.
    opened: u64,
    /// The wall clock at the event.
    wall: SystemTime,
    /// The programs that were told.
    call: Option<Arc<FamilyCall>>,
}

/// See the module.
#[derive(Debug)]
struct Run {
    core: Arc<Core>,
    /// All sessions that run.
    sessions: fn() -> Vec<Arc<Core>>,
    causes: Arc<Causes>,
    files: TriggerFiles,
    window: EventWindow,
    /// Of each cause, and the number of suppressed events that its files report.
    states: Vec<(CauseState, u64)>,
}

impl TriggerThread {
    /// Starts the thread of a session, one of `sessions`.
    pub(in crate::session) fn start(
        core: &Arc<Core>,
        sessions: fn() -> Vec<Arc<Core>>,
        causes: Arc<Causes>,
        files: TriggerFiles,
        window: EventWindow,
    ) -> Result<Self, Error> {
        let states = causes.all().map(|_| (CauseState::Idle, 0)).collect();
        let (core, all_causes) = (Arc::clone(core), Arc::clone(&causes));
        let run = Run { core, sessions, causes: all_causes, files, window, states };
        let thread = thread::Builder::new().name("protolog".into());
        let thread = thread.spawn(move || run.run()).map_err(Error::Resources)?;
        causes.set_thread(thread.thread().clone());
        Ok(Self { causes, thread: Mutex::new(Some(thread)) })
    }

    /// Has what fired written, and waits for that, at most until `by`. The session is stopped.
    pub(in crate::session) fn end(&self, by: Option<Instant>) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(thread) = thread else { return };
        self.causes.stop();
        while by.is_some_and(|by| Instant::now() < by) && !thread.is_finished() {
            thread::sleep(POLL);
        }
        if by.is_none() || thread.is_finished() {
            // That it panicked is no reason not to end the session.
            let _ = thread.join();
        }
    }
}

impl Run {
    fn run(mut self) {
        block_signals();
        loop {
            // Before the causes, which fired before.
            let (stops, hurries) = (self.causes.is_stopping(), self.causes.is_in_hurry());
            if stops {
                self.rearm_requests();
                self.causes.close();
            }
            let fresh = self.open();
            self.write_due(stops || hurries, &fresh);
            if hurries {
                self.causes.end_hurry();
            }
            if stops {
                return;
            }
            match self.rearm() {
                Some(left) => thread::park_timeout(left),
                None => thread::park(),
            }
        }
    }

    /// Copies what the ring has for each cause that has just fired. Returns the positions of those
    /// whose copy is from this moment.
    fn open(&mut self) -> Vec<usize> {
        let is_idle = |(at, _): &(usize, Fired)| matches!(self.states[*at].0, CauseState::Idle);
        let fired = self.causes.all().map(Cause::fired).enumerate();
        let fired = fired.filter_map(|(at, fired)| Some((at, fired?))).filter(is_idle);
        let fired: Vec<_> = fired.collect();
        let since = |(_, fired): &(usize, Fired)| fired.time.saturating_sub(self.before(fired));
        let Some(since) = fired.iter().map(since).min() else { return Vec::new() };
        let (earlier, since) = self.copy(since);
        // Others have it where it is an earlier one that is shared.
        let is_fresh = Arc::strong_count(&earlier) == 1;
        for (at, fired) in &fired {
            let (fired, earlier) = (*fired, Arc::clone(&earlier));
            let opened = clock::boottime();
            let ago = Duration::from_nanos(opened.saturating_sub(fired.time));
            let now = SystemTime::now();
            let wall = fired.wall.or_else(|| now.checked_sub(ago)).unwrap_or(now);
            let call = self.tell_family(*at, fired, wall);
            let open = Open { fired, earlier, since, opened, wall, call };
            self.states[*at].0 = CauseState::Open(open);
        }
        fired.into_iter().filter(|_| is_fresh).map(|(at, _)| at).collect()
    }

    /// Tells other programs of an event that was here.
    fn tell_family(&self, at: usize, fired: Fired, wall: SystemTime) -> Option<Arc<FamilyCall>> {
        let family = self.causes.family().filter(|_| fired.origin == Origin::Here)?;
        let (name, _) = self.causes.all().nth(at).and_then(Cause::named)?;
        let others = (self.sessions)().into_iter().filter(|other| !Arc::ptr_eq(other, &self.core));
        let window = JoinWindow { before: self.before(&fired), after: self.after(&fired) };
        Some(Arc::new(FamilyCall::new(others, family, name, (wall, window))))
    }

    /// The time before an event that its file has, in nanoseconds.
    fn before(&self, fired: &Fired) -> u64 {
        fired.window.map_or(nanos(self.window.before), |window| window.before)
    }

    /// The time after an event that its file has, in nanoseconds.
    fn after(&self, fired: &Fired) -> u64 {
        fired.window.map_or(nanos(self.window.after), |window| window.after)
    }

    /// Copies what the ring has since then, as far as a file may have it, and returns since when
    /// that is.
    fn copy(&self, since: u64) -> (Arc<Collected>, u64) {
        let open = self.states.iter().filter_map(|(state, _)| match state {
            CauseState::Open(open) => Some(open),
            _ => None,
        });
        let mut open: Vec<_> = open.collect();
        open.sort_unstable_by_key(|open| open.fired.time);
        open.dedup_by(|one, other| Arc::ptr_eq(&one.earlier, &other.earlier));
        if let Some(newest) = open.last().filter(|_| open.len() >= MOST_COPIES) {
            return (Arc::clone(&newest.earlier), newest.since);
        }
        let mut earlier = Collected::since(&self.core, since);
        let since = since.max(earlier.limit(self.window.before_bytes));
        (Arc::new(earlier), since)
    }

    /// Writes the files that are due; all of them, if it is `at_once`. `fresh` are causes whose
    /// copy is from this moment.
    fn write_due(&mut self, at_once: bool, fresh: &[usize]) {
        let now = clock::boottime();
        for at in 0..self.states.len() {
            let CauseState::Open(open) = &self.states[at].0 else { continue };
            let after = self.after(&open.fired);
            let is_due = now >= open.fired.time.saturating_add(after);
            if !is_due && !at_once {
                continue;
            }
            let open = open.clone();
            let is_fresh = fresh.contains(&at);
            self.write(at, &open, is_fresh);
            let interval = nanos(self.window.interval).max(after);
            self.states[at].0 = CauseState::Written(open.opened.saturating_add(interval));
        }
    }

    fn write(&mut self, at: usize, open: &Open, is_fresh: bool) {
        let causes = Arc::clone(&self.causes);
        let Some((name, cause)) = causes.all().nth(at).and_then(Cause::named) else { return };
        let (suppressed, reported) = (&cause.counts.suppressed, &mut self.states[at].1);
        let suppressed = suppressed.load(Ordering::Relaxed);
        let more = suppressed - std::mem::replace(reported, suppressed);
        // Before the copy, which so has all that they logged before they failed. Those that came
        // after another one are in the file, too.
        let requests = cause.is_of_requests().then(|| causes.failures().take());
        let more = if requests.is_some() { 0 } else { more };
        let message = CauseMessage::new(name, open.fired, more);
        let requests = requests.as_ref();
        let event = EventOfFile { cause: name, message, wall: open.wall, requests };
        let written = if is_fresh && requests.is_none() {
            self.files.write(&self.core, &open.earlier, &event)
        } else {
            let mut all = Collected::since(&self.core, open.since);
            all.add_earlier(&open.earlier);
            self.files.write(&self.core, &all, &event)
        };
        let counter: &AtomicU64 = match written {
            Ok(()) => &cause.counts.written,
            Err(error) => {
                loss_report::failure(&self.core, &error);
                &cause.counts.failed
            }
        };
        counter.fetch_add(1, Ordering::Relaxed);
        if let Some(text) = open.call.as_ref().and_then(|call| call.failure()) {
            text_queue::write_line(text.as_bytes());
        }
    }

    /// Has requests that failed since their last file in one more, since no later one will be: the
    /// session ends.
    fn rearm_requests(&mut self) {
        for (cause, (state, _)) in self.causes.all().zip(&mut self.states) {
            if matches!(state, CauseState::Written(_)) && cause.is_of_requests() {
                *state = CauseState::Idle;
                cause.rearm();
                self.causes.fire_waiting(cause);
            }
        }
    }

    /// Lets causes fire again whose interval is over. Returns the time until there is something to
    /// do.
    fn rearm(&mut self) -> Option<Duration> {
        let now = clock::boottime();
        let mut next = None;
        for (cause, (state, _)) in self.causes.all().zip(&mut self.states) {
            let due = match state {
                CauseState::Idle => continue,
                CauseState::Open(open) => {
                    let own = nanos(self.window.after);
                    let after = open.fired.window.map_or(own, |window| window.after);
                    open.fired.time.saturating_add(after)
                }
                CauseState::Written(until) if *until <= now => {
                    *state = CauseState::Idle;
                    cause.rearm();
                    self.causes.fire_waiting(cause);
                    if cause.fired().is_none() {
                        continue;
                    }
                    now
                }
                CauseState::Written(until) => *until,
            };
            next = Some(next.map_or(due, |next: u64| next.min(due)));
        }
        next.map(|next| Duration::from_nanos(next.saturating_sub(now)))
    }
}

/// A time in nanoseconds, up to the longest that there is.
fn nanos(time: Duration) -> u64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX) as u64
}
