//! When and where an event of a trigger was: here, or in another process that tells of it.
//!
//! Others know an event by the wall clock, which is the same in all processes and nearly so on all
//! machines; within the process its time is one of BOOTTIME, as that of messages is.

use crate::clock;
use crate::sync::{AtomicU64, Ordering};
use protolog_core::control::protocol::JoinWindow;
use protolog_recording::EventKey;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The longest time between an event of another program and this one's clock: what is further away
/// is a mistake, or a clock that was set.
pub(super) const MOST_APART: Duration = Duration::from_secs(600);

/// A cause that fired.
#[derive(Clone, Copy, Debug)]
pub(in crate::session) struct Fired {
    /// Its time, in nanoseconds of BOOTTIME.
    pub(in crate::session) time: u64,
    /// The thread's id; 0 for one of another process.
    pub(in crate::session) thread: u32,
    /// The wall clock at that time, where others know the event by it.
    pub(in crate::session) wall: Option<SystemTime>,
    /// The process that had the event.
    pub(in crate::session) origin: Origin,
    /// The time around it that all files of the event have; none for the session's own.
    pub(in crate::session) window: Option<JoinWindow>,
}

/// The process that had an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::session) enum Origin {
    /// This one.
    Here,
    /// Another one, with its id; 0 if that is not known.
    Elsewhere(u32),
}

/// The time around an event, as a thread that may be a signal handler stores it.
#[derive(Debug)]
pub(super) struct WindowWords {
    before: AtomicU64,
    after: AtomicU64,
}

/// The time around an event is that of the session.
const OWN: u64 = u64::MAX;

/// The time and the place of an event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Occasion {
    /// In nanoseconds of BOOTTIME.
    pub(super) time: u64,
    /// In nanoseconds since 1970; 0 if nobody else knows the event.
    pub(super) wall: u64,
    pub(super) origin: Origin,
    /// As [`Fired`] has it.
    pub(super) window: Option<JoinWindow>,
}

impl Origin {
    pub(super) const fn word(self) -> u64 {
        match self {
            Self::Here => 0,
            Self::Elsewhere(pid) => 1 << 32 | pid as u64,
        }
    }

    pub(super) const fn from_word(word: u64) -> Self {
        if word == 0 { Self::Here } else { Self::Elsewhere(word as u32) }
    }
}

impl Occasion {
    pub(super) fn now() -> Self {
        Self { time: clock::boottime(), wall: 0, origin: Origin::Here, window: None }
    }

    /// The wall clock's time that is stored as `nanos`, if one is.
    pub(super) fn wall(nanos: u64) -> Option<SystemTime> {
        let since = Some(nanos).filter(|nanos| *nanos != 0).map(Duration::from_nanos);
        since.and_then(|since| UNIX_EPOCH.checked_add(since))
    }

    /// That of an event with this key; none if its time is not near.
    pub(super) fn of(key: &EventKey, origin: Origin) -> Option<Self> {
        let at = UNIX_EPOCH.checked_add(Duration::from_nanos(key.nanos))?;
        let (now, here) = (SystemTime::now(), clock::boottime());
        let (apart, time) = match now.duration_since(at) {
            Ok(ago) => (ago, here.saturating_sub(nanos(ago))),
            // The clock of another machine is ahead, and no file waits for that.
            Err(ahead) => (ahead.duration(), here),
        };
        (apart <= MOST_APART).then_some(Self { time, wall: key.nanos, origin, window: None })
    }
}

impl WindowWords {
    /// That of the session.
    pub(super) fn own() -> Self {
        Self { before: AtomicU64::new(OWN), after: AtomicU64::new(0) }
    }

    pub(super) fn store(&self, window: Option<JoinWindow>) {
        let (before, after) = window.map_or((OWN, 0), |it| (it.before.min(OWN - 1), it.after));
        self.before.store(before, Ordering::Relaxed);
        // A copy of the ring waits for it.
        self.after.store(after.min(nanos(MOST_APART)), Ordering::Relaxed);
    }

    pub(super) fn load(&self) -> Option<JoinWindow> {
        let before = Some(self.before.load(Ordering::Relaxed)).filter(|before| *before != OWN)?;
        Some(JoinWindow { before, after: self.after.load(Ordering::Relaxed) })
    }
}

/// A time in nanoseconds, up to the longest that there is.
pub(super) fn nanos(time: Duration) -> u64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX) as u64
}
