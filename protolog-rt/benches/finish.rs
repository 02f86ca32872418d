//! From a million messages to a finished file: the time of stop and flush, beside copying and
//! writing the same bytes.
//!
//! ```text
//! cargo bench -p protolog-rt --bench finish
//! ```
//!
//! `stop, in memory` is the stop of a session that kept all messages in memory and writes the whole
//! file then. `flush, stream` is the flush of a session whose buffer holds the messages that its
//! thread has not copied yet. The floors are one copy of the finished file in memory, and writing
//! it to a file in pieces of 256 KiB.

use protolog_rt::{Level, ProtoLogGroup, Session, i};
use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

#[derive(ProtoLogGroup)]
enum Log {
    Bench,
}

const MESSAGES: u64 = 1_000_000;
const ROUNDS: usize = 7;

fn log() {
    for number in 0..MESSAGES {
        i!(Log::Bench, "block %d of %d", number, MESSAGES);
    }
}

/// Time of `f`.
fn time(f: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    f();
    begun.elapsed()
}

fn stop_in_memory(path: &Path) -> Duration {
    // Replacing a file would cost the time that it takes to delete the old one.
    let _ = std::fs::remove_file(path);
    let session = Session::builder().file(path).log_from(Level::Info).keep_first();
    let session = session.buffer_size(32 << 20).start().expect("start a session");
    log();
    let begun = Instant::now();
    let summary = session.stop().expect("stop the session");
    let took = begun.elapsed();
    assert_eq!((summary.messages, summary.lost()), (MESSAGES, 0));
    took
}

fn stream(path: &Path) -> (Duration, Duration) {
    std::fs::remove_file(path).expect("remove the trace");
    let session = Session::builder().file(path).log_from(Level::Info).buffer_size(32 << 20);
    let session = session.start().expect("start a session");
    let begun = Instant::now();
    log();
    let flush = time(|| session.flush().expect("flush the session"));
    let summary = session.stop().expect("stop the session");
    assert_eq!((summary.messages, summary.lost()), (MESSAGES, 0));
    (flush, begun.elapsed())
}

fn floors(path: &Path) -> (Duration, Duration) {
    let bytes = std::fs::read(path).expect("read the trace");
    let mut copy = vec![1u8; bytes.len()];
    let in_memory = time(|| copy.copy_from_slice(black_box(&bytes)));
    black_box(&copy);
    std::fs::remove_file(path).expect("remove the trace");
    let mut file = File::create(path).expect("make a file");
    let to_file = time(|| {
        for piece in bytes.chunks(256 << 10) {
            file.write_all(piece).expect("write a file");
        }
    });
    (in_memory, to_file)
}

fn main() {
    let path = std::env::temp_dir().join(format!("protolog-finish-{}", std::process::id()));
    let names =
        ["copy in memory", "write to a file", "stop, in memory", "flush, stream", "all, stream"];
    let mut best = [Duration::MAX; 5];
    let mut size = 0;
    for _ in 0..ROUNDS {
        let stop = stop_in_memory(&path);
        let (flush, all) = stream(&path);
        size = std::fs::metadata(&path).expect("the trace").len();
        let (in_memory, to_file) = floors(&path);
        for (best, time) in best.iter_mut().zip([in_memory, to_file, stop, flush, all]) {
            *best = time.min(*best);
        }
    }
    std::fs::remove_file(&path).expect("remove the trace");
    println!(
        "{MESSAGES} messages, {:.1} bytes each, best of {ROUNDS}",
        size as f64 / MESSAGES as f64
    );
    for (name, best) in names.iter().zip(best) {
        println!("{name:>16} {:>7.1} ms", best.as_secs_f64() * 1e3);
    }
}
