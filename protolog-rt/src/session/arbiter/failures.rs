//! The requests of the process that have failed, from the call that says so until their file.
//!
//! ```text
//! Request::fail   waiting += request; its cause fires, unless it has a moment ago
//! session thread  waiting -> the file of the cause, which has the messages of all of them
//! ```
//!
//! So a request that fails soon after another one is in the next file, and no request is in two.
//!
//! Invariant: a bounded number of requests waits; more are counted.

use crate::clock;
use crate::sys::thread;
use crate::writer::owner::FailedRequest;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The most requests that wait for a file.
const MOST_WAITING: usize = 4096;

/// The number of failed requests that are known as such, so that each fails once.
const MOST_KNOWN: usize = 2 * MOST_WAITING;

/// A request that failed.
#[derive(Clone, Debug)]
pub(in crate::session) struct Failure {
    /// The number that its marks have.
    pub(in crate::session) number: u64,
    pub(in crate::session) id: Box<str>,
    pub(in crate::session) reason: Box<str>,
    /// In nanoseconds of BOOTTIME.
    pub(in crate::session) time: u64,
    /// The thread that said so.
    pub(in crate::session) thread: u32,
}

/// Requests that are taken for a file.
#[derive(Debug, Default)]
pub(in crate::session) struct TakenFailures {
    pub(in crate::session) all: Vec<Failure>,
    /// The number of those that there was no room for.
    pub(in crate::session) more: u64,
}

/// See the module.
#[derive(Debug, Default)]
pub(in crate::session) struct Failures(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    taken: TakenFailures,
    /// The numbers of the last ones.
    known: VecDeque<u64>,
}

impl Failures {
    /// Adds a request; false if it has failed before.
    pub(super) fn add(&self, failed: FailedRequest<'_>) -> bool {
        let FailedRequest { number, id, reason } = failed;
        let mut waiting = self.lock();
        if waiting.known.contains(&number) {
            return false;
        }
        if waiting.known.len() >= MOST_KNOWN {
            waiting.known.pop_front();
        }
        waiting.known.push_back(number);
        if waiting.taken.all.len() >= MOST_WAITING {
            waiting.taken.more += 1;
            return true;
        }
        let (time, thread) = (clock::boottime(), thread::id());
        let failure = Failure { number, id: id.into(), reason: reason.into(), time, thread };
        waiting.taken.all.push(failure);
        true
    }

    /// Returns the time at which the first of those that wait failed.
    pub(super) fn first(&self) -> Option<u64> {
        self.lock().taken.all.first().map(|failure| failure.time)
    }

    /// Takes those that wait.
    pub(in crate::session) fn take(&self) -> TakenFailures {
        std::mem::take(&mut self.lock().taken)
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(number: u64) -> FailedRequest<'static> {
        FailedRequest { number, id: "cart", reason: "no answer" }
    }

    #[test]
    fn a_request_fails_once() {
        let failures = Failures::default();
        assert_eq!(failures.first(), None);
        assert!(failures.add(failed(1)) && failures.add(failed(2)) && !failures.add(failed(1)));
        assert!(failures.first().is_some());
        let numbers = |taken: &TakenFailures| taken.all.iter().map(|it| it.number).collect();
        let taken = failures.take();
        assert_eq!((numbers(&taken), taken.more), (vec![1, 2], 0));
        assert!(!failures.add(failed(2)), "also after its file");
        assert_eq!(failures.first(), None);
    }

    #[test]
    fn those_without_room_are_counted() {
        let failures = Failures::default();
        let most = MOST_WAITING as u64;
        assert!((1..=most + 3).all(|number| failures.add(failed(number))));
        let taken = failures.take();
        assert_eq!((taken.all.len(), taken.more), (MOST_WAITING, 3));
        assert!(failures.add(failed(most + 4)));
        assert_eq!(failures.take().all.len(), 1);
    }
}
