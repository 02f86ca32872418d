//! Bursts, loops, CPU time.

use crate::{Calls, Logger, Shape, with_calls};
use rustix::time::{ClockId, clock_gettime};
use std::path::Path;
use std::time::{Duration, Instant};

/// Calls of a burst.
const BURST: u64 = 20;
/// Bursts of a round.
const BURSTS: usize = 4_000;
/// Pause between bursts.
const PAUSE: Duration = Duration::from_micros(10);
/// Calls of a loop without pauses.
const LOOP: u64 = 200_000;

struct Bursts;

impl Calls for Bursts {
    type Output = [f64; 3];

    fn run(self, call: impl FnMut(u64)) -> [f64; 3] {
        bursts(call)
    }
}

/// Nanoseconds a call of bursts: the 50th, 99th and 99.9th percentile.
pub fn bursts(mut call: impl FnMut(u64)) -> [f64; 3] {
    let mut samples = Vec::with_capacity(BURSTS);
    let mut number = 0;
    for _ in 0..BURSTS {
        let pause = Instant::now();
        while pause.elapsed() < PAUSE {
            std::hint::spin_loop();
        }
        let start = Instant::now();
        for _ in 0..BURST {
            number += 1;
            call(number);
        }
        samples.push(start.elapsed().as_nanos() as f64 / BURST as f64);
    }
    samples.sort_by(f64::total_cmp);
    [0.5, 0.99, 0.999].map(|part| samples[(part * samples.len() as f64) as usize])
}

/// Nanoseconds a call of a loop without pauses.
struct Loop;

impl Calls for Loop {
    type Output = f64;

    fn run(self, mut call: impl FnMut(u64)) -> f64 {
        let start = Instant::now();
        for number in 0..LOOP {
            call(number);
        }
        start.elapsed().as_nanos() as f64 / LOOP as f64
    }
}

/// Measures a logger and prints the figures as a line of JSON:
///
/// - percentiles of bursts
/// - the time of a call in a loop
/// - CPU nanoseconds from the loop's begin until everything is written
/// - the number of logged messages, in the loop and in all
pub fn measure<L: Logger>(shape: Shape, path: &Path) {
    let mut logger = L::open(path);
    let [p50, p99, p999] = with_calls(&logger, shape, Bursts);
    // Writes that the bursts have left are not the loop's.
    logger.settle();
    std::thread::sleep(Duration::from_millis(20));
    let before = cpu();
    let loop_nanos = with_calls(&logger, shape, Loop);
    logger.settle();
    let cpu = cpu() - before;
    logger.close();
    let logged = LOOP + BURST * BURSTS as u64;
    println!(
        r#"{{"p50": {p50}, "p99": {p99}, "p999": {p999}, "loop": {loop_nanos}, "cpu": {cpu}, "looped": {LOOP}, "logged": {logged}}}"#
    );
}

/// CPU nanoseconds of all threads of the process, those that have ended too.
pub fn cpu() -> i64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}
