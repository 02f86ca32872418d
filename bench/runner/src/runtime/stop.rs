//! From a million messages in memory to a finished file.

use std::process::Command;

use serde_json::Value;

use super::super::report::{Report, median};
use super::programs::Programs;
use super::{figure, line};
use xtask::Result;

const ROUNDS: usize = 7;

const ROWS: [(&str, &str); 5] = [
    ("memcpy", "memcpy of as many bytes"),
    ("write", "write of as many bytes to a new file"),
    ("sync", "the same, until the disk has them (fdatasync)"),
    ("stop kept", "stop of a session that kept them in memory"),
    ("stop streaming", "stop of a session that streamed them"),
];

/// Times of stopping beside those of copying and writing.
pub(super) fn run(programs: &Programs, report: &mut Report) -> Result<()> {
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        rounds.push(line(Command::new(&programs.own).arg("stop").arg(&programs.dir))?);
    }
    let of = |name: &str| median(rounds.iter().map(|round: &Value| figure(round, name)));
    let megabytes = of("bytes") / 1e6;
    let rows = ROWS.map(|(name, title)| {
        let time = of(name);
        vec![title.to_owned(), format!("{time:.1}"), format!("{:.2}", megabytes / time)]
    });
    let title = format!(
        "Stop: {:.0} messages kept ({:.0} streamed), {megabytes:.1} MB",
        of("messages"),
        of("streamed")
    );
    report.add(&title, &["", "ms", "GB/s"], &rows);
    Ok(())
}
