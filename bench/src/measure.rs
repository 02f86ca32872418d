//! Measuring: bursts, loops, CPU time.

use std::time::{Duration, Instant};

/// Calls of a burst.
const BURST: usize = 20;
/// Bursts of a round.
const BURSTS: usize = 4_000;
/// Pause between bursts.
const PAUSE: Duration = Duration::from_micros(10);
/// Calls of a loop without pauses.
const LOOP: usize = 200_000;

/// What one round of a candidate gave.
#[derive(Debug)]
pub(crate) struct Figures {
    /// Nanoseconds a call, the mean over a burst: half of the bursts took less.
    pub(crate) p50: f64,
    /// 99 of 100 bursts took less.
    pub(crate) p99: f64,
    /// 999 of 1000 bursts took less.
    pub(crate) p999: f64,
    /// Nanoseconds a call in a loop.
    pub(crate) loop_nanos: f64,
    /// CPU nanoseconds of the process for a message of the loop that was kept.
    pub(crate) cpu_nanos: f64,
    /// Bytes in the file for a message that was kept.
    pub(crate) bytes: f64,
    /// The part of the loop's messages that is in the file.
    pub(crate) kept: f64,
}

/// Nanoseconds a call of bursts: the 50th, 99th and 99.9th percentile.
pub(crate) fn bursts(mut call: impl FnMut(usize)) -> [f64; 3] {
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

/// Messages of [`bursts`].
pub(crate) const IN_BURSTS: usize = BURST * BURSTS;

/// Calls without pauses: how many, and how long they took.
pub(crate) fn looped(mut call: impl FnMut(usize)) -> (usize, Duration) {
    let start = Instant::now();
    for number in 0..LOOP {
        call(number);
    }
    (LOOP, start.elapsed())
}

/// CPU nanoseconds of all threads that run.
pub(crate) fn cpu() -> u64 {
    let tasks = std::fs::read_dir("/proc/self/task").expect("list the threads");
    let times = tasks.flatten().filter_map(|task| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    });
    times.sum()
}

/// The value in the middle.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
