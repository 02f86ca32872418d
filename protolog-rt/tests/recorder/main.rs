//! Recordings: their contents after a process is killed, at any instant and in any way, and their
//! fate when it is not.
//!
//! The processes that are killed are this program, started again: see [`child`].
#![allow(unsafe_code)] // Children that crash at a bad address, are forked, or are stopped at each instruction.

mod child;
mod kill;
mod late_libraries;
#[path = "../common/limit.rs"]
mod limit;
mod newest;
mod progress;
mod sessions;
mod single_step;
mod startup;
#[path = "../common/thread_end.rs"]
mod thread_end;

use protolog_reader::{Log, Recording, Recovered, Rendering, Trace};
use protolog_testkit::{temp_dir, trace_stats};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The contents of a recording.
struct Recovery {
    report: Recovered,
    log: Log,
}

impl Recovery {
    /// Recovers the recording at `path`. Checks that it has no flaws and that trace_processor
    /// reports no error.
    #[track_caller]
    fn read(path: &Path) -> Self {
        let dir = temp_dir();
        check_stats(path, dir.path());
        Self::read_without_perfetto(path)
    }

    /// The same without trace_processor, which is slow.
    #[track_caller]
    fn read_without_perfetto(path: &Path) -> Self {
        let bytes = fs::read(path).expect("read the recording");
        let mut trace = Vec::new();
        let recording = Recording::parse(&bytes).expect("a recording");
        let report = recording.write(&mut trace).expect("write to memory");
        assert_eq!(report.flaws, []);
        let log = Trace::from_bytes(trace).read().expect("read the trace");
        let summary = log.summary().to_string();
        // A message of which an argument was cut is there.
        let is_known =
            |line: &str| line.starts_with("lost: ") || line.contains(": truncated, since ");
        let wrong: Vec<&str> = summary.lines().filter(|line| !is_known(line)).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
        assert_eq!(report.messages, log.stats().entries);
        Self { report, log }
    }

    /// The texts of the messages in order of time.
    fn messages(&self) -> Vec<String> {
        self.log.entries().map(|entry| entry.values().text(Rendering::Bare)).collect()
    }

    /// The numbers that [`child::work`] logged, by thread, in order of time. Checks that each
    /// message is complete.
    #[track_caller]
    fn numbers(&self) -> BTreeMap<u32, Vec<u64>> {
        let mut numbers: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for text in self.messages() {
            let (thread, number) = child::parse(&text);
            numbers.entry(thread).or_default().push(number);
        }
        numbers
    }
}

/// Checks that trace_processor reports no error for the recovered trace.
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
