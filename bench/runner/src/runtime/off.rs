//! Calls that are switched off.

use std::process::Command;

use super::super::report::{Report, median, rounds};
use super::line;
use super::programs::Programs;
use xtask::{Result, callgrind};

const TURNS: &str = "20000000";
const ROUNDS: usize = 9;

const CANDIDATES: [(&str, &str); 5] = [
    ("empty", "nothing"),
    ("load", "one relaxed load and branch"),
    ("protolog", "protolog"),
    ("log", "log, no logger"),
    ("tracing", "tracing, no subscriber"),
];

/// Times and instructions of a turn of a loop with each candidate in it.
pub(super) fn run(programs: &Programs, report: &mut Report) -> Result<()> {
    let own = programs.own.display().to_string();
    let times = rounds(ROUNDS, &CANDIDATES, |(word, _)| {
        let time = line(Command::new(&own).args(["off", word, TURNS]))?;
        Ok(time.as_f64().unwrap_or(f64::NAN))
    })?;
    let mut rows = Vec::new();
    let mut floor = None;
    for ((word, title), times) in CANDIDATES.iter().zip(times) {
        let count = callgrind::each(&[&own, "turns", word], 100_000)?;
        let more = count - *floor.get_or_insert(count);
        let time = median(times);
        rows.push(vec![
            (*title).to_owned(),
            format!("{time:.2}"),
            format!("{count:.1}"),
            format!("{more:.1}"),
        ]);
    }
    let head = ["in a loop", "ns", "instructions", "more than nothing"];
    report.add("Switched off, a turn", &head, &rows);
    Ok(())
}
