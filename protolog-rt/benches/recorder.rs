//! The cost of a recording for threads that log, in memory and on a disk, beside a ring buffer
//! without a file.
//!
//! ```text
//! cargo bench -p protolog-rt --bench recorder -- /path/on/a/disk
//! ```
//!
//! Each call of two integers is timed alone, clock included. The kernel writes the file on a disk
//! back every few seconds; the first call that touches a page after that waits for the file system.

use protolog_rt::{Builder, ProtoLogGroup, Session, i};
use std::path::PathBuf;
use std::time::{Duration, Instant};

#[derive(ProtoLogGroup)]
enum Log {
    Work,
}

/// Length of the measurement of each kind of ring.
const TIME: Duration = Duration::from_secs(12);

/// Calls in a row, after which the thread pauses.
const BURST: u64 = 1_000;

/// A histogram of the times of calls.
#[derive(Default)]
struct Times {
    /// Number of calls by nanoseconds, below 4096.
    short: Vec<u64>,
    longer: Vec<u64>,
}

impl Times {
    fn add(&mut self, nanos: u64) {
        self.short.resize(4096, 0);
        match self.short.get_mut(nanos as usize) {
            Some(count) => *count += 1,
            None => self.longer.push(nanos),
        }
    }

    /// The time in nanoseconds that `of_a_million` in a million calls exceed.
    fn exceeded_by(&self, of_a_million: u64) -> u64 {
        let all = self.short.iter().sum::<u64>() + self.longer.len() as u64;
        let mut left = all - all * of_a_million / 1_000_000;
        for (nanos, count) in self.short.iter().enumerate() {
            if left <= *count {
                return nanos as u64;
            }
            left -= count;
        }
        self.longer.get(left as usize).or(self.longer.last()).copied().unwrap_or(4096)
    }
}

fn measure(name: &str, builder: Builder) {
    let session = match builder.start() {
        Ok(session) => session,
        Err(error) => return println!("{name:<24} {error}"),
    };
    let (mut times, begun) = (Times::default(), Instant::now());
    let mut number = 0u64;
    while begun.elapsed() < TIME {
        for _ in 0..BURST {
            let before = Instant::now();
            i!(Log::Work, "%d of %d", number, 7);
            times.add(before.elapsed().as_nanos() as u64);
            number += 1;
        }
        std::thread::sleep(Duration::from_micros(500));
    }
    drop(session);
    times.longer.sort_unstable();
    let stalls = times.longer.iter().filter(|nanos| **nanos > 100_000).count();
    println!(
        "{name:<24} {:>6} {:>6} {:>8} {:>9} {stalls:>8} {number:>10}",
        times.exceeded_by(500_000),
        times.exceeded_by(10_000),
        times.exceeded_by(100),
        times.longer.last().unwrap_or(&0) / 1000,
    );
}

fn main() {
    let ring = || Session::builder().enable_all().buffer_size(4 << 20);
    let folder = std::env::temp_dir().join(format!("protolog-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("make a directory");
    println!("{:<24} p50 ns p99 ns p99.99 ns   max us > 100 us      calls", "");
    measure("a ring in memory", ring().file(folder.join("trace")).keep_newest());
    measure("a recording in /dev/shm", ring().record());
    let paths = std::env::args_os().skip(1).filter(|word| word != "--bench").map(PathBuf::from);
    for path in paths {
        measure(&path.display().to_string(), ring().record_at(path.join("bench.rec")));
    }
    std::fs::remove_dir_all(folder).expect("remove the directory");
}
