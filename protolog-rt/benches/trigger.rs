//! The latency of messages while a trigger's file of 64 MiB is written, beside that of messages
//! while none is, and what a message costs where its group is watched.
//!
//! ```text
//! cargo bench -p protolog-rt --bench trigger
//! ```

use protolog_rt::{Level, ProtoLogGroup, Session, Triggers, i};
use std::path::Path;
use std::time::{Duration, Instant};

#[derive(ProtoLogGroup)]
enum Log {
    Bench,
}

const RING: usize = 64 << 20;

/// Calls, each of which is timed.
const CALLS: usize = 2_000_000;

fn start(dir: &Path, set: impl FnOnce(Triggers) -> Triggers) -> Session {
    let triggers = Triggers::to(dir.join("app.pftrace")).after(Duration::from_millis(100));
    let builder = Session::builder().enable_all().buffer_size(RING).triggers(set(triggers));
    builder.start().expect("start a session")
}

/// Fills the ring.
fn fill() {
    for number in 0..4_000_000u64 {
        i!(Log::Bench, "block %d of %d", number, 7);
    }
}

/// Prints the latency of calls, each timed, while `event` happens at the first.
fn latency(name: &str, event: impl FnOnce()) {
    let mut taken = vec![0; CALLS];
    event();
    for (number, taken) in taken.iter_mut().enumerate() {
        let begun = Instant::now();
        i!(Log::Bench, "block %d of %d", number, 7);
        *taken = begun.elapsed().as_nanos() as u64;
    }
    taken.sort_unstable();
    let [half, p99, p999, most] =
        [0.5, 0.99, 0.999, 1.0].map(|part| taken[((CALLS - 1) as f64 * part) as usize]);
    println!("{name:<32} {half:>6} ns p50 {p99:>6} ns p99 {p999:>6} ns p99.9 {most:>9} ns max");
}

/// Prints the time of a call.
fn cost(name: &str) {
    let begun = Instant::now();
    fill();
    println!("{name:<32} {:>6.1} ns", begun.elapsed().as_nanos() as f64 / 4_000_000.0);
}

fn main() {
    let dir = std::env::temp_dir().join(format!("protolog-bench-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("make a directory");
    let session = start(&dir, |triggers| triggers.on_level(Level::Error));
    fill();
    for _ in 0..3 {
        latency("no file is written", || ());
    }
    for round in 0..3 {
        let cause = format!("round {round}");
        latency("a file of 64 MiB is written", || _ = session.trigger(&cause));
        while session.trigger_counts().iter().any(|it| it.fired > it.written + it.failed) {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    cost("a trigger at ERROR");
    session.stop().expect("stop");
    let session = start(&dir, |triggers| triggers.on_level(Level::Warn));
    cost("a trigger at WARN");
    session.stop().expect("stop");
    std::fs::remove_dir_all(&dir).expect("remove the directory");
}
