//! Requests to the thread of a session that streams, and its answers: stop, flush, and the state of
//! the file.
//!
//! Invariant: a flush that was requested is done, or ends with the thread.

use crate::error::clone_io_error;
use crate::loss::LossCount;
use crate::session::packets::gap::Gap;
use crate::session::packets::message_counts::Counts;
use crate::stats::GroupStats;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Requests of the session's owner to the thread.
#[derive(Debug, Default)]
pub(in crate::session) struct Requests {
    state: Mutex<RequestState>,
    flushed: Condvar,
}

/// See [`Requests::running`].
#[derive(Debug)]
pub(in crate::session) struct DrainGuard(Arc<Requests>);

impl Drop for DrainGuard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let error = io::Error::other("the thread that writes the trace panicked");
            self.0.lock().error = Some(error);
            self.0.stop();
        }
    }
}

#[derive(Debug, Default)]
struct RequestState {
    stop: bool,
    /// Flushes requested so far.
    flushes_requested: u64,
    /// Flushes done so far.
    flushes_done: u64,
    /// The error of the last flush.
    error: Option<io::Error>,
    so_far: SoFar,
}

/// Requests that the thread has not answered.
#[derive(Debug)]
pub(in crate::session) struct Pending {
    /// The session ends.
    pub(in crate::session) stop: bool,
    /// A flush.
    pub(in crate::session) flush: Option<Flush>,
}

/// A flush, as the number of flushes requested by then.
#[derive(Clone, Copy, Debug)]
pub(in crate::session) struct Flush(u64);

/// State of the file at the last flush.
#[derive(Clone, Debug, Default)]
pub(in crate::session) struct SoFar {
    /// Messages in it.
    pub(in crate::session) messages: u64,
    /// Its size in bytes.
    pub(in crate::session) bytes: u64,
    /// The drops that this file and earlier ones report.
    pub(in crate::session) reported: Vec<LossCount>,
    /// The groups of earlier files.
    pub(in crate::session) earlier: Vec<GroupStats>,
    /// The messages in this file.
    pub(in crate::session) counts: Counts,
    /// The losses that no file reports yet.
    pub(in crate::session) unreported: Gap,
}

impl Requests {
    /// Lets the thread end.
    pub(in crate::session) fn stop(&self) {
        self.lock().stop = true;
        self.flushed.notify_all();
    }

    /// Returns the guard that the thread holds while it runs: should it panic, nobody waits for it.
    pub(in crate::session) fn running(self: &Arc<Self>) -> DrainGuard {
        DrainGuard(Arc::clone(self))
    }

    /// Wakes the thread with `wake`, so that it writes the committed packets, and waits for it.
    pub(in crate::session) fn flush(&self, wake: impl FnOnce()) -> io::Result<()> {
        let mut state = self.lock();
        state.flushes_requested += 1;
        let ticket = state.flushes_requested;
        drop(state);
        wake();
        let state = self.lock();
        let until =
            self.flushed.wait_while(state, |state| state.flushes_done < ticket && !state.stop);
        let state = until.unwrap_or_else(PoisonError::into_inner);
        state.error.as_ref().map_or(Ok(()), |error| Err(clone_io_error(error)))
    }

    /// As [`Self::flush`], but waits at most `limit`, and reports nothing.
    pub(in crate::session) fn flush_within(&self, limit: Duration, wake: impl FnOnce()) {
        let mut state = self.lock();
        state.flushes_requested += 1;
        let ticket = state.flushes_requested;
        drop(state);
        wake();
        let is_pending = |state: &mut RequestState| state.flushes_done < ticket && !state.stop;
        drop(self.flushed.wait_timeout_while(self.lock(), limit, is_pending));
    }

    /// Returns the state of the file at the last flush.
    pub(in crate::session) fn so_far(&self) -> SoFar {
        self.lock().so_far.clone()
    }

    /// Returns the requests that the thread has not answered.
    pub(in crate::session) fn pending(&self) -> Pending {
        let state = self.lock();
        let is_flush_due = state.flushes_requested > state.flushes_done;
        Pending { stop: state.stop, flush: is_flush_due.then_some(Flush(state.flushes_requested)) }
    }

    /// Answers a flush, and those requested before it.
    pub(in crate::session) fn finish_flush(
        &self,
        flush: Flush,
        so_far: SoFar,
        error: Option<io::Error>,
    ) {
        let mut state = self.lock();
        state.flushes_done = flush.0;
        state.so_far = so_far;
        state.error = error;
        self.flushed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, RequestState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_a_thread_that_panicked() {
        let requests = Arc::new(Requests::default());
        let running = requests.running();
        let thread = std::thread::spawn(move || {
            let _running = running;
            panic!("as a bug would");
        });
        assert!(requests.flush(|| ()).is_err());
        assert!(thread.join().is_err());
    }
}
