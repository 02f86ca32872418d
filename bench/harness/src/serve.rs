//! Programs that a tracing service records, for `cargo xtask bench perfetto`.
//!
//! ```text
//! PROGRAM serve CANDIDATE SHAPE THREADS MESSAGES
//!   prints the time at which a session first enabled it, in nanoseconds of CLOCK_MONOTONIC
//!   reads a line; then each thread logs so many messages; prints the time that took
//!   reads a line, which comes after a flush; prints the CPU time of all threads since then
//!   reads a line, and ends
//! ```
//!
//! Each thread logs 100 messages before those that count, so that what a thread sets up once does
//! not; they are in the trace, too.

use crate::measure::cpu;
use crate::{Calls, Logger, Shape, with_calls};
use rustix::time::{ClockId, clock_gettime};
use std::io::{BufRead as _, Write as _};
use std::path::Path;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

/// Messages of each thread before those that count.
pub const BEFORE: u64 = 100;

/// A candidate that a service records. [`Logger::open`] is called by each thread.
pub trait Joined: Logger {
    /// Joins the service, once a process.
    fn join();

    /// Returns whether a session records it.
    fn is_enabled() -> bool;
}

/// A candidate as a row of a program's table.
#[derive(Clone, Copy, Debug)]
pub struct JoinedCandidate {
    name: &'static str,
    serve: fn(Shape, usize, u64),
}

impl JoinedCandidate {
    /// The candidate that `L` is.
    pub const fn new<L: Joined>(name: &'static str) -> Self {
        Self { name, serve: serve::<L> }
    }
}

/// Does what the command line says; false where that is nothing of what is described above.
pub fn run_joined(words: &[String], candidates: &[JoinedCandidate]) -> bool {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let ["serve", name, shape, threads, messages] = words[..] else { return false };
    let candidate = candidates.iter().find(|candidate| candidate.name == name);
    let (Some(candidate), Some(shape)) = (candidate, Shape::of(shape)) else { return false };
    let (Ok(threads), Ok(messages)) = (threads.parse(), messages.parse()) else { return false };
    (candidate.serve)(shape, threads, messages);
    true
}

fn serve<L: Joined>(shape: Shape, threads: usize, messages: u64) {
    L::join();
    // Polled without a pause for precision, but not for long: the consumer waits until it runs.
    while !L::is_enabled() {
        std::hint::spin_loop();
    }
    let now = clock_gettime(ClockId::Monotonic);
    say(&format!("{}", now.tv_sec * 1_000_000_000 + now.tv_nsec));
    let (warm, go, done, end) = (
        Barrier::new(threads + 1),
        Barrier::new(threads + 1),
        Barrier::new(threads + 1),
        Barrier::new(threads + 1),
    );
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let logger = L::open(Path::new(""));
                with_calls(&logger, shape, Turns(BEFORE));
                warm.wait();
                go.wait();
                with_calls(&logger, shape, Turns(messages));
                done.wait();
                // Whoever ends a thread has its last chunk written, and that is no message's cost.
                end.wait();
            });
        }
        warm.wait();
        wait();
        let (before, begun) = (cpu(), Instant::now());
        go.wait();
        done.wait();
        say(&format!("{}", begun.elapsed().as_nanos()));
        wait();
        say(&format!("{}", cpu() - before));
        wait();
        end.wait();
    });
    // What the service is to take at the end of a process is no subject here.
    thread::sleep(Duration::from_millis(10));
}

struct Turns(u64);

impl Calls for Turns {
    type Output = ();

    fn run(self, mut call: impl FnMut(u64)) {
        (0..self.0).for_each(&mut call);
    }
}

fn say(line: &str) {
    let mut out = std::io::stdout();
    writeln!(out, "{line}").and_then(|()| out.flush()).expect("print a line");
}

/// Waits for a line; the process ends with whoever started it.
fn wait() {
    let mut line = String::new();
    if std::io::stdin().lock().read_line(&mut line).unwrap_or(0) == 0 {
        std::process::exit(1);
    }
}
