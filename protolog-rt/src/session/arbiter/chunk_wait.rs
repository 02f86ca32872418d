//! Waiting for a free chunk: the buffer-exhausted policy of sessions that wait instead of dropping.
//!
//! ```text
//! writer   waiting + 1, fence, acquire a chunk; none: sleep, unless something was freed since
//! reader   free a chunk, fence, anybody waiting? wake all
//! ```
//!
//! Invariants
//! - A writer waits no longer than its session's timeout, and not at all once the session is over,
//!   on a session's own thread (which would wait for itself), or in a forked child (where nobody
//!   frees anything).
//! - A chunk that is freed while somebody waits is looked for once more before the wait ends.

use crate::sync::{AtomicBool, AtomicU32, Ordering, fence};
use protolog_shmem::Buffer;
use std::cell::Cell;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Longer than any process runs, and short enough to be added to a time.
const FOREVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// The time that a stop gives waiting threads to find out that it is over; microseconds are enough,
/// if they get to run.
const END_TIMEOUT: Duration = Duration::from_secs(1);

thread_local! {
    /// Messages of this thread never wait.
    static NEVER_WAITS: Cell<bool> = const { Cell::new(false) };
}

/// See the module.
#[derive(Debug)]
pub(crate) struct ChunkWait {
    /// The longest that a message waits; none where messages are dropped at once.
    timeout: Option<Duration>,
    closed: AtomicBool,
    waiting: AtomicU32,
    lock: Mutex<()>,
    changed: Condvar,
}

/// Makes messages of this thread never wait, in any session.
pub(in crate::session) fn never_wait_here() {
    NEVER_WAITS.set(true);
}

impl ChunkWait {
    /// Messages wait for at most `timeout`, or not at all.
    pub(in crate::session) fn new(timeout: Option<Duration>) -> Self {
        Self {
            timeout: timeout.map(|timeout| timeout.min(FOREVER)),
            closed: AtomicBool::new(false),
            waiting: AtomicU32::new(0),
            lock: Mutex::new(()),
            changed: Condvar::new(),
        }
    }

    /// Returns whether messages of this thread may wait.
    pub(in crate::session) fn may_wait(&self) -> bool {
        self.timeout.is_some() && !NEVER_WAITS.get()
    }

    /// Returns the result of `take`, as soon as there is one; none where the wait is over
    /// before.
    pub(in crate::session) fn wait<T>(
        &self,
        buffer: &Buffer,
        mut take: impl FnMut() -> Option<T>,
    ) -> Option<T> {
        let end = Instant::now() + self.timeout?;
        self.waiting.fetch_add(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        let taken = loop {
            let freed = buffer.freed();
            let taken = take();
            let left = end.saturating_duration_since(Instant::now());
            if taken.is_some() || left.is_zero() || self.is_closed() {
                break taken;
            }
            let guard = self.lock();
            if buffer.freed() == freed && !self.is_closed() {
                // Woken or timed out, it checks again.
                drop(self.changed.wait_timeout(guard, left));
            }
        };
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        if self.is_closed() {
            self.wake();
        }
        taken
    }

    /// Wakes the waiting writers, after something was freed.
    pub(in crate::session) fn announce(&self) {
        fence(Ordering::SeqCst);
        if self.waiting.load(Ordering::Relaxed) > 0 {
            self.wake();
        }
    }

    /// Ends all waits, now and later: nothing will be freed any more.
    pub(in crate::session) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.wake();
    }

    /// Ends all waits, and gives the waiting threads the time to see it.
    pub(in crate::session) fn end_all(&self) {
        self.close();
        let is_waiting = |(): &mut ()| self.waiting.load(Ordering::SeqCst) > 0;
        drop(self.changed.wait_timeout_while(self.lock(), END_TIMEOUT, is_waiting));
    }

    fn wake(&self) {
        // A thread between its check and its sleep holds the lock.
        drop(self.lock());
        self.changed.notify_all();
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
