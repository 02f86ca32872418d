//! The effect of idle threads, which logged once, on a thread that logs.
//!
//! ```text
//! cargo bench -p protolog-rt --bench idle
//! ```
//!
//! They all share the session's buffer of half a megabyte, and a message that does not fit is lost.

use protolog_rt::{Level, ProtoLogGroup, Session, i};
use std::error::Error;
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

#[derive(ProtoLogGroup)]
enum Log {
    Work,
}

const BUFFER: usize = 512 << 10;
const MESSAGES: u32 = 200_000;
/// Messages in a row, after which the thread pauses until the session's thread has written them.
const BURST: u32 = 1_000;

fn measure(idle: usize) -> Result<(), Box<dyn Error>> {
    let path = env::temp_dir().join(format!("protolog-idle-{}.pftrace", std::process::id()));
    let session = Session::builder().file(&path).group("Work", Level::Info).buffer_size(BUFFER);
    let session = session.start()?;
    let (logged, end) = (Arc::new(Barrier::new(idle + 1)), Arc::new(Barrier::new(idle + 1)));
    let threads = (0..idle).map(|thread| {
        let (logged, end) = (Arc::clone(&logged), Arc::clone(&end));
        thread::Builder::new().stack_size(64 << 10).spawn(move || {
            i!(Log::Work, "thread %d", thread);
            logged.wait();
            end.wait();
        })
    });
    let threads: Vec<_> = threads.collect::<Result<_, _>>()?;
    logged.wait();
    let mut time = Duration::ZERO;
    for burst in 0..MESSAGES / BURST {
        let begun = Instant::now();
        for number in 0..BURST {
            i!(Log::Work, "%d of burst %d", number, burst);
        }
        time += begun.elapsed();
        thread::sleep(Duration::from_millis(2));
    }
    end.wait();
    for thread in threads {
        drop(thread.join());
    }
    let summary = session.stop()?;
    fs::remove_file(path)?;
    let (nanos, lost) = (time.as_nanos() as f64 / f64::from(MESSAGES), summary.lost());
    let (written, most) = (summary.messages, summary.buffer.high_water);
    println!("{idle:>5} {nanos:>13.1} {written:>8} {lost:>5} {most:>22}");
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    println!(" idle  ns a message  written  lost         buffered, at most");
    [0, 1, 100, 1_000].into_iter().try_for_each(measure)
}
