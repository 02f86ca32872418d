//! The error of message timestamps against the kernel's BOOTTIME.
//!
//! ```text
//! cargo bench -p protolog-rt --bench clock
//! ```
//!
//! Each message is logged between two reads of the kernel's clock. A timestamp outside this
//! interval is wrong by at least the distance; inside it the error is unknown, so the table also
//! shows the length of the interval.

use protolog_core::recorder::ClockSource;
use protolog_reader::{Recording, Trace};
use protolog_rt::{Level, ProtoLogGroup, Session, i};
use rustix::time::{ClockId, clock_gettime};
use std::error::Error;
use std::time::Duration;
use std::{env, fs, thread};

#[derive(ProtoLogGroup)]
enum Log {
    Work,
}

/// Length of the measurement in nanoseconds, and the time before it in which the clock settles.
const TIME: u64 = 20_000_000_000;
const SETTLED: u64 = 1_000_000_000;

/// BOOTTIME, in nanoseconds.
fn boottime() -> u64 {
    let time = clock_gettime(ClockId::Boottime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The value that `of_a_thousand` in a thousand do not exceed.
fn quantile(sorted: &[u64], of_a_thousand: usize) -> u64 {
    sorted.get(sorted.len() * of_a_thousand / 1_000).or(sorted.last()).copied().unwrap_or(0)
}

/// The clock of this process, from the header of a recording.
fn source() -> Result<&'static str, Box<dyn Error>> {
    let session = Session::builder().record().start()?;
    let bytes = fs::read(session.recording().ok_or("no recording")?)?;
    let recording = Recording::parse(&bytes)?;
    Ok(match recording.header().clock {
        ClockSource::Counter => "the processor's counter",
        ClockSource::Kernel => "the kernel",
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::temp_dir().join(format!("protolog-clock-{}.pftrace", std::process::id()));
    let session = Session::builder().file(&path).group("Work", Level::Info).start()?;
    let begun = boottime();
    let mut asked = Vec::new();
    while boottime() < begun + SETTLED + TIME {
        for _ in 0..20 {
            let before = boottime();
            i!(Log::Work, "a message");
            asked.push((before, boottime()));
        }
        thread::sleep(Duration::from_micros(200));
    }
    let summary = session.stop()?;
    let log = Trace::open(&path)?.read()?;
    fs::remove_file(&path)?;
    if summary.lost() > 0 {
        return Err(format!("{} messages were lost", summary.lost()).into());
    }
    let (mut errors, mut gaps) = (Vec::new(), Vec::new());
    for (entry, (before, after)) in log.entries().zip(asked) {
        let time = entry.time() as u64;
        if before >= begun + SETTLED {
            errors.push(before.saturating_sub(time).max(time.saturating_sub(after)));
            gaps.push(after - before);
        }
    }
    println!("nanoseconds, of {} messages with times from {}", errors.len(), source()?);
    for (what, mut all) in [("from BOOTTIME, at least", errors), ("between the two reads", gaps)] {
        all.sort_unstable();
        let [p50, p99, p999] = [500, 990, 999].map(|part| quantile(&all, part));
        let most = all.last().unwrap_or(&0);
        println!("{what:<24} p50 {p50}, p99 {p99}, p99.9 {p999}, most {most}");
    }
    Ok(())
}
