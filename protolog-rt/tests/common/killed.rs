//! What a process that was killed has left in its recording.

use protolog_reader::{Log, Recording, Rendering, Trace};
use std::fs;
use std::path::Path;

/// Returns the log in a recording, of which nothing may be damaged.
#[track_caller]
pub(crate) fn recover(path: &Path) -> Log {
    let bytes = fs::read(path).expect("the recording");
    let mut trace = Vec::new();
    let report = Recording::parse(&bytes).expect("a recording").write(&mut trace);
    assert_eq!(report.expect("write to memory").flaws, []);
    Trace::from_bytes(trace).read().expect("read")
}

/// Returns the texts of its entries.
pub(crate) fn texts(log: &Log) -> Vec<String> {
    log.entries().map(|entry| entry.values().text(Rendering::Bare)).collect()
}
