//! Calls that are switched on, in loops for valgrind to count, and on several threads.
//!
//! The session keeps the newest messages in a small buffer, so there is no thread but the callers',
//! and what a chunk costs is in the figures.

use crate::counted;
use crate::loggers::Protolog;
use harness::{Calls, Logger as _, Shape, with_calls};
use protolog_rt::{Builder, Session};
use rustix::time::{ClockId, clock_gettime};
use std::path::Path;
use std::sync::Barrier;
use std::thread;

/// Size of the buffer, in bytes.
const BUFFER: usize = 256 << 10;

/// Messages before those that count.
const WARM_UP: u64 = 1_000;

/// The case beside the shapes: messages of two integers that two sessions record.
const TWO_SESSIONS: &str = "two-sessions";

/// Messages of two integers that a limit lets through.
const LIMITED: &str = "limited";

/// Repeats a call.
pub(crate) struct Repeat(pub(crate) u64);

impl Calls for Repeat {
    type Output = ();

    fn run(self, mut call: impl FnMut(u64)) {
        // The thread's first chunks are smaller.
        for number in 0..WARM_UP {
            call(number);
        }
        counted(self.0, call);
    }
}

/// A ring in memory.
pub(crate) fn session(path: &Path) -> Protolog {
    Protolog(ring(path).start().expect("start a session"))
}

fn ring(path: &Path) -> Builder {
    Session::builder().file(path).enable_all().keep_newest().buffer_size(BUFFER)
}

/// Logs so many messages.
pub(crate) fn calls(case: &str, calls: u64) -> Option<()> {
    let is_two_ints = [TWO_SESSIONS, LIMITED].contains(&case);
    let shape = if is_two_ints { Shape::TwoInts } else { Shape::of(case)? };
    let dir = tempfile::tempdir().expect("make a temporary directory");
    let mut builder = ring(&dir.path().join("one"));
    if case == LIMITED {
        // More than any loop makes.
        builder = builder.limit("verbose", "1000000/s burst 1000000");
    }
    let logger = Protolog(builder.start().expect("start a session"));
    if case == TWO_SESSIONS {
        let second = session(&dir.path().join("two"));
        with_calls(&logger, shape, Repeat(calls));
        second.close();
        return Some(());
    }
    with_calls(&logger, shape, Repeat(calls));
    logger.close();
    Some(())
}

/// Logs so many messages on each of some threads at once, and prints the CPU nanoseconds of a
/// message.
pub(crate) fn threads(threads: usize, shape: &str, calls: u64) -> Option<()> {
    let shape = Shape::of(shape)?;
    let dir = tempfile::tempdir().expect("make a temporary directory");
    let logger = session(&dir.path().join("trace"));
    let (logger, barrier) = (&logger, &Barrier::new(threads));
    let each = || {
        with_calls(logger, shape, Repeat(0));
        barrier.wait();
        let before = cpu();
        with_calls(logger, shape, Repeat(calls));
        cpu() - before
    };
    let total: i64 = thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(each)).collect();
        running.into_iter().map(|thread| thread.join().expect("logging does not panic")).sum()
    });
    println!("{}", total as f64 / (threads as u64 * calls) as f64);
    Some(())
}

/// CPU nanoseconds of this thread.
fn cpu() -> i64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}
