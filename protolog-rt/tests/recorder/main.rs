//! Recordings: what they hold when a process is killed, at any instant and in any way, and what becomes of them when it
//! is not.
//!
//! The processes that die are this program once more: see [`child`].
#![allow(unsafe_code)] // Children that die of a bad address, are forked, or are stopped at each instruction.

mod begin;
mod child;
mod kill;
mod late;
mod sessions;
mod step;

use protolog_reader::{Log, Recording, Recovered, Rendering, Trace};
use protolog_testkit::{temp_dir, trace_stats};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// What was recovered of a recording.
struct Found {
    report: Recovered,
    log: Log,
}

impl Found {
    /// Recovers the recording at `path`, in which nothing is wrong; nor has Perfetto anything to complain about.
    #[track_caller]
    fn read(path: &Path) -> Self {
        let dir = temp_dir();
        check_stats(path, dir.path());
        Self::read_alone(path)
    }

    /// The same without Perfetto, which takes its time.
    #[track_caller]
    fn read_alone(path: &Path) -> Self {
        let bytes = fs::read(path).expect("read the recording");
        let mut trace = Vec::new();
        let recording = Recording::parse(&bytes).expect("a recording");
        let report = recording.write(&mut trace).expect("write to memory");
        assert_eq!(report.flaws, []);
        let log = Trace::from_bytes(trace).read().expect("read the trace");
        let summary = log.summary().to_string();
        let wrong: Vec<&str> = summary.lines().filter(|line| !line.starts_with("lost: ")).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
        assert_eq!(report.messages, log.stats().entries);
        Self { report, log }
    }

    /// The texts, in the order of time.
    fn texts(&self) -> Vec<String> {
        self.log.entries().map(|entry| entry.values().text(Rendering::Bare)).collect()
    }

    /// The numbers that [`child::work`] logged, by thread, in the order of time; each message whole.
    #[track_caller]
    fn numbers(&self) -> BTreeMap<u32, Vec<u64>> {
        let mut numbers: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for text in self.texts() {
            let (thread, number) = child::parse(&text);
            numbers.entry(thread).or_default().push(number);
        }
        numbers
    }
}

/// Perfetto has nothing to complain about in what is recovered.
#[track_caller]
fn check_stats(recording: &Path, dir: &Path) {
    let bytes = fs::read(recording).expect("read the recording");
    let mut trace = Vec::new();
    Recording::parse(&bytes).expect("a recording").write(&mut trace).expect("write to memory");
    let path = dir.join("recovered.pftrace");
    fs::write(&path, trace).expect("write the trace");
    if let Some(stats) = trace_stats(&path) {
        assert_eq!(stats.to_string(), "", "counters of trace_processor");
    }
}
