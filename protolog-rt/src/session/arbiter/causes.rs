//! The causes of a session's triggers: what the threads of the program set, and the session's
//! trigger thread takes.
//!
//! ```text
//! caller   cause idle?  compare and exchange: 0 -> firing; thread, then time; wake the thread
//!          not idle:    suppressed + 1
//! thread   fired?       keep what the ring has; after a while write the file
//!          an interval after the cause: time -> 0, idle again
//! ```
//!
//! Invariants
//! - To fire takes no lock, but for a request that failed, allocates nothing for a cause that was
//!   there before, and writes nothing: a signal handler may do it.
//! - Each fired cause makes one file, or is counted as failed or suppressed. Once the session's
//!   thread has looked for the last time, all are closed, and nothing fires any more.

use crate::session::arbiter::condition::Condition;
use crate::session::arbiter::failures::Failures;
use crate::session::arbiter::occasion::{Fired, Occasion, Origin, WindowWords};
use crate::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use crate::sys::thread;
use crate::writer::owner::FailedRequest;
use protolog_core::control::protocol::JoinWindow;
use protolog_recording::EventKey;
use std::sync::OnceLock;
use std::thread::Thread;

/// The number of causes that a session has beside those it was started with. What is beyond them
/// shares the last one.
const NAMED: usize = 32;

/// The number of events of other processes that are remembered.
const MOST_JOINED: usize = 16;

/// The most bytes of a cause.
const MAX_NAME: usize = 64;

/// A cause that has not fired.
const IDLE: u64 = 0;

/// One that a thread is about to fire. No event has this time.
const FIRING: u64 = 1;

/// One that fires no more. No event has this time.
const CLOSED: u64 = u64::MAX;

/// The name of the causes beyond [`NAMED`].
const OTHERS: &str = "other causes";

/// A cause, and what became of it.
#[derive(Debug)]
pub(in crate::session) struct Cause {
    name: OnceLock<Box<str>>,
    condition: Condition,
    /// The time at which it fired, in nanoseconds of BOOTTIME; else [`IDLE`], [`FIRING`] or
    /// [`CLOSED`].
    fired: AtomicU64,
    /// The thread on which it fired; set before the time.
    thread: AtomicU32,
    /// The event's time by the wall clock, in nanoseconds, where others know it by that, else 0;
    /// set before the time.
    wall: AtomicU64,
    /// The process that had the event; set before the time.
    origin: AtomicU64,
    /// The time around the event; set before the time.
    window: WindowWords,
    pub(in crate::session) counts: CauseCounts,
}

/// Counts of a cause.
#[derive(Debug, Default)]
pub(in crate::session) struct CauseCounts {
    pub(in crate::session) fired: AtomicU64,
    /// Those that came too soon after another one, or after the end.
    pub(in crate::session) suppressed: AtomicU64,
    pub(in crate::session) written: AtomicU64,
    pub(in crate::session) failed: AtomicU64,
}

/// See the module.
#[derive(Debug)]
pub(in crate::session) struct Causes {
    all: Box<[Cause]>,
    /// The name of the family of programs that have files of each other's events.
    family: Option<Box<str>>,
    /// The times of the last events of other processes that came, by which each is known again.
    joined: [AtomicU64; MOST_JOINED],
    next_joined: AtomicU32,
    /// Requests that have failed, and are in no file yet.
    failures: Failures,
    /// The thread that writes files.
    thread: OnceLock<Thread>,
    stop: AtomicBool,
    /// A trigger has fired: its file is written at once.
    hurry: AtomicBool,
}

impl Causes {
    /// These causes, and room for others; of a program of this family.
    pub(in crate::session) fn new(
        known: impl IntoIterator<Item = (String, Condition)>,
        family: Option<&str>,
    ) -> Self {
        let known = known.into_iter().map(|(name, condition)| {
            let cause = Cause::new(condition);
            let _ = cause.name.set(cut(&name).into());
            cause
        });
        let others = (0..NAMED).map(|_| Cause::new(Condition::Named));
        Self {
            all: known.chain(others).collect(),
            family: family.map(Into::into),
            joined: [const { AtomicU64::new(0) }; MOST_JOINED],
            next_joined: AtomicU32::new(0),
            failures: Failures::default(),
            thread: OnceLock::new(),
            stop: AtomicBool::new(false),
            hurry: AtomicBool::new(false),
        }
    }

    /// The name of the family.
    pub(in crate::session) fn family(&self) -> Option<&str> {
        self.family.as_deref()
    }

    /// Fires the cause of this name. Returns whether it makes a file.
    pub(in crate::session) fn fire(&self, name: &str) -> bool {
        self.fire_at(name, Occasion::now())
    }

    /// Returns whether it is the last event of a cause that others know, too: of each event one
    /// file is made, whoever tells of it. Its time alone says so.
    pub(in crate::session) fn has_event(&self, key: &EventKey) -> bool {
        let is_it = |cause: &Cause| cause.wall.load(Ordering::Relaxed) == key.nanos;
        key.nanos != 0 && self.all().any(is_it)
    }

    /// Fires the cause of an event of which others are told. Returns whether it makes a file; not
    /// for one that is known here.
    pub(in crate::session) fn fire_event(&self, name: &str, key: &EventKey) -> bool {
        let occasion = Occasion::of(key, Origin::Here).filter(|_| !self.has_event(key));
        occasion.is_some_and(|occasion| self.fire_at(name, occasion))
    }

    /// Fires the cause that stands for an event of another process. Returns whether it makes a
    /// file, of `window` if there is one; never for one whose time is not near, or that is known
    /// here.
    pub(in crate::session) fn join(
        &self,
        key: &EventKey,
        pid: u32,
        window: Option<JoinWindow>,
    ) -> bool {
        // Who told of it may tell again, for runtimes that know less.
        let is_known = self.has_joined(key.nanos);
        let occasion = Occasion::of(key, Origin::Elsewhere(pid));
        let occasion = occasion.filter(|_| !is_known && !self.has_event(key));
        occasion.is_some_and(|occasion| {
            self.fire_at(&format!("joined {}", key.cause), Occasion { window, ..occasion })
        })
    }

    /// Returns whether the event of this time has come before, and notes it.
    fn has_joined(&self, nanos: u64) -> bool {
        let has_come = self.joined.iter().any(|known| known.load(Ordering::Relaxed) == nanos);
        if !has_come {
            let next = self.next_joined.fetch_add(1, Ordering::Relaxed) as usize % MOST_JOINED;
            self.joined[next].store(nanos, Ordering::Relaxed);
        }
        has_come
    }

    fn fire_at(&self, name: &str, occasion: Occasion) -> bool {
        let name = cut(name);
        let has_name = |cause: &&Cause| {
            if cause.name.get().is_none() {
                // The first one that is free gets the name, unless another thread is faster.
                let _ = cause.name.set(name.into());
            }
            cause.name.get().is_some_and(|known| **known == *name)
        };
        let last = self.all.last();
        let others = || {
            let last = last?;
            let _ = last.name.set(OTHERS.into());
            Some(last)
        };
        let named = self.all.split_last().map_or(&[][..], |(_, all)| all);
        // What somebody names is no request: its file has all messages.
        let mut named = named.iter().filter(|cause| !cause.is_of_requests());
        named.find(has_name).or_else(others).is_some_and(|cause| self.fire_one(cause, occasion))
    }

    /// Fires the causes that stand for panics. Returns whether one makes a file.
    pub(in crate::session) fn fire_panic(&self) -> bool {
        self.fire_if(|condition| *condition == Condition::Panic)
    }

    /// Fires the cause that stands for failed requests, if there is one. Returns whether it makes a
    /// file; not for a request that has failed before. Takes a lock.
    pub(in crate::session) fn fire_request(&self, failed: FailedRequest<'_>) -> bool {
        self.all().any(Cause::is_of_requests)
            && self.failures.add(failed)
            && self.fire_if(|condition| *condition == Condition::FailedRequest)
    }

    /// The requests that have failed, and are in no file yet.
    pub(in crate::session) fn failures(&self) -> &Failures {
        &self.failures
    }

    /// Fires a cause that is idle again, if it stands for failed requests and some wait for a file.
    pub(in crate::session) fn fire_waiting(&self, cause: &Cause) {
        if let Some(time) = self.failures.first().filter(|_| cause.is_of_requests()) {
            cause.fire(Occasion { time, ..Occasion::now() });
        }
    }

    /// Returns the levels (bit = severity) of a group at which a trigger may fire.
    pub(in crate::session) fn watched_levels(&self, group: &str) -> u8 {
        self.all.iter().fold(0, |levels, cause| levels | cause.condition.levels(group))
    }

    /// Fires the causes of a message that was written: its id, the full name of its group, and its
    /// level as a bit. Returns whether one makes a file. Safe in signal handlers.
    pub(in crate::session) fn fire_message(&self, id: u64, group: &str, level: u8) -> bool {
        self.fire_if(|condition| condition.takes(id, group, level))
    }

    fn fire_if(&self, is_met: impl Fn(&Condition) -> bool) -> bool {
        let mut any = false;
        for cause in self.all.iter().filter(|cause| is_met(&cause.condition)) {
            any |= self.fire_one(cause, Occasion::now());
        }
        any
    }

    fn fire_one(&self, cause: &Cause, occasion: Occasion) -> bool {
        let is_first = cause.fire(occasion);
        if is_first {
            self.wake();
        }
        is_first
    }

    /// Iterates over all causes, of which some have no name yet.
    pub(in crate::session) fn all(&self) -> impl Iterator<Item = &Cause> {
        self.all.iter()
    }

    /// Iterates over the causes that have a name.
    pub(in crate::session) fn named(&self) -> impl Iterator<Item = (&str, &Cause)> {
        self.all().filter_map(Cause::named)
    }

    /// Says which thread writes the files.
    pub(in crate::session) fn set_thread(&self, thread: Thread) {
        let _ = self.thread.set(thread);
    }

    /// Has the thread write what has fired, and end.
    pub(in crate::session) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.wake();
    }

    /// Has the thread write what has fired at once: the process may be about to abort.
    pub(in crate::session) fn hurry(&self) {
        self.hurry.store(true, Ordering::Release);
        self.wake();
    }

    /// Returns whether the thread is to end.
    pub(in crate::session) fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// Returns whether the thread is to write at once.
    pub(in crate::session) fn is_in_hurry(&self) -> bool {
        self.hurry.load(Ordering::Acquire)
    }

    /// Has none fire any more but those that have fired: nobody writes files from here on.
    pub(in crate::session) fn close(&self) {
        for cause in self.all() {
            // No other thread makes it idle again.
            _ = cause.set(IDLE, CLOSED) || cause.set(FIRING, CLOSED);
        }
    }

    /// Notes that all that fired is written.
    pub(in crate::session) fn end_hurry(&self) {
        self.hurry.store(false, Ordering::Release);
    }

    fn wake(&self) {
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}

impl Cause {
    fn new(condition: Condition) -> Self {
        Self {
            name: OnceLock::new(),
            condition,
            fired: AtomicU64::new(IDLE),
            thread: AtomicU32::new(0),
            wall: AtomicU64::new(0),
            origin: AtomicU64::new(Origin::Here.word()),
            window: WindowWords::own(),
            counts: CauseCounts::default(),
        }
    }

    /// Returns whether it stands for failed requests.
    pub(in crate::session) fn is_of_requests(&self) -> bool {
        self.condition == Condition::FailedRequest
    }

    /// Returns it with its name, if it has one.
    pub(in crate::session) fn named(&self) -> Option<(&str, &Self)> {
        Some((self.name.get()?, self))
    }

    /// Notes that it fired, unless it is not idle: then it is counted. Returns whether it
    /// was.
    fn fire(&self, Occasion { time, wall, origin, window }: Occasion) -> bool {
        // A thread that finds it idle again sees all that was counted before.
        let is_first = self.set(IDLE, FIRING) && {
            let thread = if origin == Origin::Here { thread::id() } else { 0 };
            self.thread.store(thread, Ordering::Relaxed);
            self.wall.store(wall, Ordering::Relaxed);
            self.origin.store(origin.word(), Ordering::Relaxed);
            self.window.store(window);
            self.set(FIRING, time.clamp(FIRING + 1, CLOSED - 1))
        };
        let counter = if is_first { &self.counts.fired } else { &self.counts.suppressed };
        counter.fetch_add(1, Ordering::Relaxed);
        is_first
    }

    /// Changes the word, if it is `from`. Returns whether it was.
    fn set(&self, from: u64, to: u64) -> bool {
        // An event that is suppressed, of which there may be many, takes a load.
        self.fired.load(Ordering::Relaxed) == from
            && self.fired.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Returns when and where it fired; none while it is idle.
    pub(in crate::session) fn fired(&self) -> Option<Fired> {
        let time = self.fired.load(Ordering::Acquire);
        let has_fired = (FIRING + 1..CLOSED).contains(&time);
        has_fired.then(|| {
            let wall = Occasion::wall(self.wall.load(Ordering::Relaxed));
            let origin = Origin::from_word(self.origin.load(Ordering::Relaxed));
            let (thread, window) = (self.thread.load(Ordering::Relaxed), self.window.load());
            Fired { time, thread, wall, origin, window }
        })
    }

    /// Lets it fire again.
    pub(in crate::session) fn rearm(&self) {
        self.fired.store(IDLE, Ordering::Release);
    }
}

/// The beginning of a name that is too long. One without characters is that of files without a
/// cause.
fn cut(name: &str) -> &str {
    if name.trim().is_empty() {
        return "trigger";
    }
    let mut end = name.len().min(MAX_NAME);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;
    use crate::session::arbiter::occasion::{MOST_APART, nanos};
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    #[test]
    fn a_cause_fires_once_until_it_is_idle_again() {
        let causes = Causes::new([], None);
        assert!(causes.fire("full"));
        assert!(!causes.fire("full") && !causes.fire("full"));
        assert!(causes.fire("late"), "another cause");
        let (_, full) = causes.named().find(|(name, _)| *name == "full").expect("the cause");
        full.rearm();
        assert!(causes.fire("full"));
        let counts = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        assert_eq!((counts(&full.counts.fired), counts(&full.counts.suppressed)), (2, 2));
    }

    #[test]
    fn an_event_of_another_process_has_its_time_and_place() {
        let causes = Causes::new([], Some("shop"));
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let key = |wall: Duration| EventKey::new(wall.as_nanos() as u64, "Slow query");
        let ago = Duration::from_secs(3);
        let then = now.checked_sub(ago).expect("it is after 1970");
        let window = Some(JoinWindow { before: 5, after: u64::MAX });
        assert!(causes.join(&key(then), 7, window));
        let (name, cause) = causes.named().next().expect("the cause");
        let fired = cause.fired().expect("it fired");
        let age = Duration::from_nanos(clock::boottime() - fired.time).as_secs_f64();
        assert!(name == "joined slow-query" && (3.0..4.0).contains(&age), "{name}, {age} s");
        assert_eq!((fired.thread, fired.origin), (0, Origin::Elsewhere(7)));
        let window = Some(JoinWindow { before: 5, after: nanos(MOST_APART) });
        assert_eq!(fired.window, window, "no copy waits for ever");
        let wall = fired.wall.and_then(|wall| wall.duration_since(UNIX_EPOCH).ok());
        assert_eq!(wall, Some(then));
        // One that comes too soon is counted once, though it comes twice.
        let soon = EventKey::new(then.as_nanos() as u64 + 1, "Slow query");
        assert!(!causes.join(&soon, 7, window) && !causes.join(&soon, 7, None));
        let next = EventKey::new(then.as_nanos() as u64 + 2, "Slow query");
        assert!([&next, &soon, &next].iter().all(|key| !causes.join(key, 7, None)));
        assert_eq!(cause.counts.suppressed.load(Ordering::Relaxed), 2);
        // Neither long ago, nor long to come, and counted as nothing.
        let second = Duration::from_secs(1);
        let long_ago = now.checked_sub(MOST_APART + second).expect("it is after 1970");
        assert!(!causes.join(&key(long_ago), 7, None));
        assert!(!causes.join(&key(now + MOST_APART + second), 7, None));
        assert!(!causes.join(&EventKey::new(u64::MAX, "later"), 7, None));
        assert_eq!(causes.named().count(), 1);
        assert!(causes.fire("slow"), "an event of this process has a file of its own");
        let (_, own) = causes.named().nth(1).expect("the cause");
        let own = own.fired().expect("it fired");
        assert_eq!((own.wall, own.origin, own.window), (None, Origin::Here, None));
    }

    #[test]
    fn a_closed_cause_makes_no_file() {
        let causes = Causes::new([], None);
        assert!(causes.fire("before"));
        causes.close();
        assert!(!causes.fire("before") && !causes.fire("after"));
        let fired = causes.named().map(|(name, cause)| (name, cause.fired().is_some()));
        assert_eq!(fired.collect::<Vec<_>>(), [("before", true), ("after", false)]);
    }

    #[test]
    fn causes_beyond_the_last_share_one() {
        let causes = Causes::new([("panic".to_owned(), Condition::Panic)], None);
        let fired = (0..100).filter(|number| causes.fire(&format!("cause {number}"))).count();
        assert_eq!(fired, NAMED, "the last one of them is for all others");
        assert_eq!(causes.named().last().map(|(name, _)| name), Some(OTHERS));
        assert!(causes.fire_panic());
    }

    #[test]
    fn conditions_hold_for_their_messages() {
        let messages = vec![(7, "app::Log::Net".to_owned(), 0b10)];
        let known = [
            ("error".to_owned(), Condition::Levels(0b11_0000)),
            ("disk".to_owned(), Condition::Group("Disk".into(), 0b11_1000)),
            ("seven".to_owned(), Condition::Messages(messages)),
        ];
        let causes = Causes::new(known, None);
        assert_eq!(causes.watched_levels("app::Log::Ui"), 0b11_0000);
        assert_eq!(causes.watched_levels("app::Log::Disk"), 0b11_1000);
        assert_eq!(causes.watched_levels("app::Log::Net"), 0b11_0010);
        causes.fire_message(7, "app::Log::Net", 0b10);
        causes.fire_message(8, "app::Log::Net", 0b10);
        causes.fire_message(9, "app::Log::Disk", 0b1_0000);
        let fired = |(name, cause): (&str, &Cause)| {
            (name.to_owned(), cause.counts.fired.load(Ordering::Relaxed))
        };
        let expected = [("error", 1), ("disk", 1), ("seven", 1)].map(|(a, b)| (a.to_owned(), b));
        assert_eq!(causes.named().map(fired).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn threads_that_fire_at_once_are_counted() {
        let causes = Causes::new([], None);
        let fired = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..1000 {
                        fired.fetch_add(u64::from(causes.fire("x")), Ordering::Relaxed);
                    }
                });
            }
        });
        let (_, cause) = causes.named().next().expect("the cause");
        assert_eq!(fired.into_inner(), 1);
        assert_eq!(cause.counts.suppressed.load(Ordering::Relaxed), 7999);
    }
}
