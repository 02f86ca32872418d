//! Text on its way to people: lines for standard error, and messages for the program's text sink.
//!
//! Nobody knows how long standard error, a disk or a sink's own code takes: a pipe may have a
//! reader that has stopped. So no thread of the program writes there unless the kernel promises not
//! to wait. All else goes into a bounded queue, and a thread of ours writes it.
//!
//! ```text
//! caller       queue empty, and the kernel takes the line at once?   written
//!              else: append; room is missing: count as dropped; then wait for the writer, if it is on time
//! text writer  take what is queued, write it, however long that takes; queue empty: report what was dropped
//! ```
//!
//! A caller that queues text waits until it is written, for at most [`ON_TIME`], so that a crash
//! keeps the text before it. A writer that needs longer is late: nobody waits for it until it has
//! written everything.
//!
//! Invariants
//! - A caller waits for at most [`ON_TIME`] from the time at which the writer was last idle; for
//!   the lock only as long as another thread copies text or writes bytes that the kernel takes at
//!   once. None of the program's code runs under the lock.
//! - Texts of one thread are written in their order; none is written twice, none is left out
//!   uncounted.
//! - A signal handler that interrupts a caller, or a fork's handler, finds the lock taken by its
//!   own thread: what the kernel does not take at once is then dropped, and counted.
//! - A forked child begins with an empty queue and no writer: queued text is the parent's.

mod queue;
mod writer;

use crate::sys::fork::{ForkLock, Order, is_incomplete};
use crate::sys::output::{Attempt, try_write_to_stderr};
use crate::sys::{exit, futex};
use queue::Queue;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};
use writer::WAKE_UPS;

pub(crate) use writer::{Consumer, set_consumer};

/// The longest that a call waits for text to be written.
const ON_TIME: Duration = Duration::from_millis(50);

/// The longest that the end of a session, a panic or the exit of the process waits for text.
const END_LIMIT: Duration = Duration::from_secs(1);

static QUEUE: ForkLock<Queue> = ForkLock::with_child(Order::TextQueue, Queue::new(), in_child);

/// Number of entries that were taken out of the queue and written, modulo 2^32.
static WRITTEN: AtomicU32 = AtomicU32::new(0);

/// True from the time at which somebody waited in vain until the queue is empty.
static IS_LATE: AtomicBool = AtomicBool::new(false);

/// [`WRITTEN`] when the last flush at an end had waited in vain.
static STUCK_AT: AtomicU64 = AtomicU64::new(NOT_STUCK);

const NOT_STUCK: u64 = u64::MAX;

/// Lines and messages that were dropped.
static DROPPED: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// True while this thread uses the queue.
    static IS_BUSY: Cell<bool> = const { Cell::new(false) };
    /// True on the thread that writes.
    static IS_WRITER: Cell<bool> = const { Cell::new(false) };
}

/// A message for the text sink, with the facts that only the thread that logs it knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueuedMessage<'a> {
    /// The level, as the owner of the sink numbers them.
    pub(crate) level: u8,
    pub(crate) thread: u32,
    pub(crate) time: SystemTime,
    pub(crate) tag: &'a str,
    pub(crate) text: &'a str,
}

/// Writes a line, or several, to standard error: at once where that is possible without waiting, or
/// else later.
pub(crate) fn write_line(line: &[u8]) {
    if line.is_empty() {
        return;
    }
    let queued = with_queue(|queue| {
        let rest = if queue.is_idle() { write_at_once(line) } else { Rest::Queue(line) };
        match rest {
            Rest::Queue(rest) => queued(queue, |queue| queue.push_line(rest)),
            Rest::Written => report_dropped(queue),
            Rest::Dropped => Queued::Done,
        }
    });
    match queued {
        Some(queued) => follow_up(queued),
        // The rest of a line can't be kept.
        None => {
            if let Rest::Queue(_) = write_at_once(line) {
                count_dropped(1);
            }
        }
    }
}

/// Queues a message for the sink. False if this thread is between a fork's handlers, where no other
/// thread can be counted on.
pub(crate) fn push_message(message: &QueuedMessage<'_>) -> bool {
    match with_queue(|queue| queued(queue, |queue| queue.push_message(message))) {
        Some(queued) => follow_up(queued),
        None if QUEUE.is_held_for_fork() => return false,
        None => count_dropped(1),
    }
    true
}

/// Returns true if nothing is queued, so that text which is written now keeps its place.
pub(crate) fn is_idle() -> bool {
    with_queue(|queue| queue.is_idle()).unwrap_or(false)
}

/// Reports what was dropped before, once a sink of its own has taken a message at once.
pub(crate) fn report_dropped_before() {
    if writer::UNREPORTED.load(Ordering::Relaxed) > 0 {
        follow_up(with_queue(report_dropped).unwrap_or(Queued::Done));
    }
}

/// Waits until all that is queued now is written, for at most `limit`; false if it was not.
pub(crate) fn flush(limit: Duration) -> bool {
    if IS_WRITER.get() {
        return false;
    }
    match with_queue(|queue| (!queue.is_idle()).then_some(queue.pushed)) {
        Some(Some(end)) => wait_for(end, limit),
        idle => idle.is_some(),
    }
}

/// Waits, for at most a second, for the queued text, at a point that may be the last one or comes
/// before lines of others. Not where that was in vain before, and nothing was written since:
/// sessions may end, and threads panic, often.
pub(crate) fn flush_at_end() {
    let written = || u64::from(WRITTEN.load(Ordering::Relaxed));
    if STUCK_AT.load(Ordering::Relaxed) != written() {
        let stuck = if flush(END_LIMIT) { NOT_STUCK } else { written() };
        STUCK_AT.store(stuck, Ordering::Relaxed);
    }
}

/// Number of lines and messages that were dropped since the process started.
pub(crate) fn dropped() -> u64 {
    DROPPED.load(Ordering::Relaxed)
}

/// Counts text that could not be written. The count is reported when the output takes text again.
pub(crate) fn count_dropped(count: u64) {
    if IS_WRITER.get() {
        // The writer counts a message once, and no report of its own.
        return writer::HAS_FAILED.set(true);
    }
    count_anywhere(count);
}

fn count_anywhere(count: u64) {
    DROPPED.fetch_add(count, Ordering::Relaxed);
    writer::UNREPORTED.fetch_add(count, Ordering::Relaxed);
}

/// The part of a line that was not written at once.
enum Rest<'a> {
    Written,
    /// It can't be written, and was counted.
    Dropped,
    Queue(&'a [u8]),
}

/// Writes as much of `line` as the kernel takes at once.
fn write_at_once(mut line: &[u8]) -> Rest<'_> {
    while !line.is_empty() {
        match try_write_to_stderr(line) {
            Attempt::Wrote(written) => line = line.get(written..).unwrap_or_default(),
            Attempt::WouldWait => return Rest::Queue(line),
            Attempt::Failed => {
                count_dropped(1);
                return Rest::Dropped;
            }
        }
    }
    Rest::Written
}

/// The outcome of queueing text.
#[derive(Clone, Copy)]
enum Queued {
    /// Nothing is left to do.
    Done,
    /// It is written when [`WRITTEN`] has this value.
    Behind(u32),
}

/// Appends an entry by `push`, or counts it as dropped.
fn queued(queue: &mut Queue, push: impl FnOnce(&mut Queue) -> bool) -> Queued {
    let report = report_dropped(queue);
    if queue.has_room_again() && push(queue) {
        return Queued::Behind(queue.pushed);
    }
    count_dropped(1);
    report
}

/// Appends the number of those that were dropped before, if there are any and there is room again.
fn report_dropped(queue: &mut Queue) -> Queued {
    let unreported = writer::UNREPORTED.load(Ordering::Relaxed);
    if unreported == 0 || !queue.has_room_again() || !queue.push_dropped(unreported) {
        return Queued::Done;
    }
    writer::UNREPORTED.fetch_sub(unreported, Ordering::Relaxed);
    Queued::Behind(queue.pushed)
}

/// Wakes the writer, or starts it, and gives it a moment.
fn follow_up(queued: Queued) {
    let Queued::Behind(end) = queued else { return };
    let has_writer = with_queue(|queue| std::mem::replace(&mut queue.has_writer, true));
    if has_writer == Some(false) {
        exit::at_exit(exit::Step::Text, flush_at_end);
        if !writer::start() {
            with_queue(|queue| queue.has_writer = false);
            // Better late than never: the system has no more threads.
            return writer::write_queued();
        }
    }
    WAKE_UPS.fetch_add(1, Ordering::SeqCst);
    futex::wake_all(&WAKE_UPS);
    if !IS_WRITER.get() && !IS_LATE.load(Ordering::Relaxed) && !wait_for(end, ON_TIME) {
        IS_LATE.store(true, Ordering::Relaxed);
    }
}

/// Waits until [`WRITTEN`] is `end`, or has passed it, for at most `limit`.
fn wait_for(end: u32, limit: Duration) -> bool {
    // None where that is later than any time.
    let until = Instant::now().checked_add(limit);
    loop {
        let written = WRITTEN.load(Ordering::SeqCst);
        if written.wrapping_sub(end) < 1 << 31 {
            return true;
        }
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return false;
        }
        futex::wait(&WRITTEN, written, left);
    }
}

/// Calls `f` with the queue; none where this thread has its lock already, or may wait for it for
/// ever.
fn with_queue<R>(f: impl FnOnce(&mut Queue) -> R) -> Option<R> {
    if is_incomplete() || IS_BUSY.replace(true) {
        return None;
    }
    let result = QUEUE.lock_unless_forking().map(|mut queue| f(&mut queue));
    IS_BUSY.set(false);
    result
}

/// Runs in a forked child.
fn in_child(queue: &mut Queue) {
    queue.forget();
    WRITTEN.store(queue.pushed, Ordering::Relaxed);
    IS_LATE.store(false, Ordering::Relaxed);
    STUCK_AT.store(NOT_STUCK, Ordering::Relaxed);
    DROPPED.store(0, Ordering::Relaxed);
    writer::UNREPORTED.store(0, Ordering::Relaxed);
}
