//! The thread that writes queued text, however long that takes.
//!
//! Invariants: it writes without the queue's lock; it never ends, and holds up no exit of the
//! process; an entry counts as written when it is written or dropped.

use super::queue::{Other, Taken};
use super::{IS_LATE, IS_WRITER, QUEUE, QueuedMessage, WRITTEN, count_anywhere};
use crate::sys::once::ForkOnce;
use crate::sys::output::write_to_stderr;
use crate::sys::{futex, pin, thread};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Bytes that are written at once.
const BATCH: usize = 64 << 10;

/// Changes whenever there is something to do.
pub(super) static WAKE_UPS: AtomicU32 = AtomicU32::new(0);

/// Dropped entries that no report has counted yet.
pub(super) static UNREPORTED: AtomicU64 = AtomicU64::new(0);

/// The owner of the sink.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Consumer {
    /// Takes a message.
    pub(crate) show: fn(&QueuedMessage<'_>),
    /// Takes the number of messages that were dropped. False where there is no sink.
    pub(crate) show_dropped: fn(u64) -> bool,
}

thread_local! {
    /// True if the sink could not write the text that it has.
    pub(super) static HAS_FAILED: Cell<bool> = const { Cell::new(false) };
}

static CONSUMER: ForkOnce<Consumer> = ForkOnce::new();

/// Sets the consumer of messages. Later calls are ignored.
pub(crate) fn set_consumer(consumer: Consumer) {
    if CONSUMER.get().is_none() {
        CONSUMER.get_or_make(|| consumer);
    }
}

/// Starts the thread. False where that is impossible.
pub(super) fn start() -> bool {
    pin::keep_runtime_loaded();
    thread::start(c"protolog-text", || {
        // The process shall not end by a fault of ours, which would be one: a sink's panic is
        // caught.
        let _ = catch_unwind(run);
    })
}

fn run() {
    IS_WRITER.set(true);
    loop {
        let wake_ups = WAKE_UPS.load(Ordering::SeqCst);
        write_queued();
        futex::wait(&WAKE_UPS, wake_ups, None);
    }
}

/// Writes until nothing is queued. The thread calls it, or, where none can be started, the caller
/// that queues text.
pub(super) fn write_queued() {
    let was_writer = IS_WRITER.replace(true);
    let mut taken = Taken::default();
    let mut is_broken = false;
    loop {
        if take(&mut taken, is_broken) {
            is_broken = !write(&taken);
            finish(taken.count + u32::from(taken.then.is_some()));
        } else if is_broken {
            break;
        } else {
            is_broken = !report_unreported();
        }
    }
    IS_WRITER.set(was_writer);
}

/// Takes entries out of the queue. False if there are none. As long as there is something to
/// report, and the output takes text, nobody overtakes the report.
fn take(taken: &mut Taken, is_broken: bool) -> bool {
    let mut queue = QUEUE.lock();
    queue.take(taken, BATCH);
    let has_taken = taken.count > 0 || taken.then.is_some();
    queue.is_writing = has_taken || !is_broken && UNREPORTED.load(Ordering::Relaxed) > 0;
    if !queue.is_writing {
        IS_LATE.store(false, Ordering::Relaxed);
    }
    has_taken
}

/// Writes the entries taken. False if the last of it could not be written.
fn write(taken: &Taken) -> bool {
    let mut is_written = true;
    if taken.count > 0 {
        is_written = write_to_stderr(&taken.lines);
        if !is_written {
            count_anywhere(taken.count.into());
        }
    }
    match &taken.then {
        None => {}
        Some(Other::Dropped(count)) => {
            is_written = report(*count);
            if !is_written {
                UNREPORTED.fetch_add(*count, Ordering::Relaxed);
            }
        }
        Some(Other::Message(message)) => {
            let show = CONSUMER.get().map(|consumer| consumer.show);
            is_written = show.and_then(|show| shown(|| show(&message.borrow()))).is_some();
            if !is_written {
                count_anywhere(1);
            }
        }
    }
    is_written
}

/// Counts entries as written, for callers that wait.
fn finish(count: u32) {
    WRITTEN.fetch_add(count, Ordering::SeqCst);
    futex::wake_all(&WRITTEN);
}

/// Reports what was dropped since the last report. False if there was nothing, or if it could not
/// be written.
fn report_unreported() -> bool {
    let count = UNREPORTED.swap(0, Ordering::Relaxed);
    let is_reported = count > 0 && report(count);
    if !is_reported {
        UNREPORTED.fetch_add(count, Ordering::Relaxed);
    }
    is_reported
}

/// Says where the text goes that so much of it was dropped.
fn report(count: u64) -> bool {
    let consumer = CONSUMER.get();
    if let Some(consumer) = consumer {
        match shown(|| (consumer.show_dropped)(count)) {
            Some(false) => {}
            result => return result.is_some(),
        }
    }
    let (lines, them) =
        if count == 1 { ("line of text was", "it") } else { ("lines of text were", "them") };
    let line = format!("protolog: {count} {lines} dropped: standard error did not take {them}\n");
    write_to_stderr(line.as_bytes())
}

/// Returns the result of `show`; none if it panics, or could not write everything.
fn shown<R>(show: impl FnOnce() -> R) -> Option<R> {
    HAS_FAILED.set(false);
    let result = catch_unwind(AssertUnwindSafe(show)).ok();
    result.filter(|_| !HAS_FAILED.get())
}
