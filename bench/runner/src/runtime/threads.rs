//! Messages on several threads at once, and on threads that end after one.

use std::process::Command;

use super::super::report::{Report, median, rounds};
use super::enabled::SHAPES;
use super::programs::Programs;
use super::{figure, line};
use xtask::{Result, callgrind};

const CALLS: &str = "1000000";
const ROUNDS: usize = 7;
const THREADS: [u64; 4] = [1, 2, 4, 8];

/// CPU time and instructions of a message, by its shape and the number of threads.
pub(super) fn run(programs: &Programs, report: &mut Report) -> Result<()> {
    let own = programs.own.display().to_string();
    let mut rows = Vec::new();
    for (word, title) in SHAPES {
        let times = times(&own, word)?;
        let mut counts = Vec::new();
        for threads in THREADS {
            let command = [&*own, "threads", &threads.to_string(), word];
            counts.push(callgrind::each(&command, 50_000)? / threads as f64);
        }
        let mut row = vec![title.to_owned()];
        row.extend(times.iter().map(|time| format!("{time:.1}")));
        row.push(format!("{:.2}", times.iter().copied().fold(0.0, f64::max) / times[0]));
        row.push(format!("{:.1}", counts[0]));
        let more = counts.iter().fold(0.0, |most: f64, count| most.max(count / counts[0] - 1.0));
        row.push(format!("{:.1}", more * 100.0));
        rows.push(row);
    }
    let [one, others @ ..] = THREADS.map(|threads| threads.to_string());
    let one = format!("CPU ns of {one} thread");
    let [two, four, eight] = &others;
    let head = ["", &one, two, four, eight, "× at most", "instructions", "% more at most"];
    report.add("Threads", &head, &rows);
    short(programs, report)
}

/// CPU time of threads that log one message and end, beside that of threads that log none.
fn short(programs: &Programs, report: &mut Report) -> Result<()> {
    let path = programs.dir.join("short");
    let mut rows = Vec::new();
    for alive in ["64", "400"] {
        let figures = |logs: &str| {
            let mut own = Command::new(&programs.own);
            line(own.args(["short-threads", logs, "20000", alive]).arg(&path))
        };
        let (without, with) = (figures("off")?, figures("on")?);
        let (none, one) = (figure(&without, "cpu"), figure(&with, "cpu"));
        rows.push(vec![
            alive.to_owned(),
            format!("{none:.1}"),
            format!("{one:.1}"),
            format!("{:.1}", one - none),
            format!("{:.0}", figure(&with, "lost")),
        ]);
    }
    let head = ["alive at once", "µs of CPU without a message", "with one", "difference", "lost"];
    report.add("20,000 threads of one message", &head, &rows);
    Ok(())
}

/// CPU nanoseconds of a message, for each number of threads; all take turns.
fn times(own: &str, shape: &str) -> Result<Vec<f64>> {
    let times = rounds(ROUNDS, &THREADS, |threads| {
        let args = ["threads", &threads.to_string(), shape, CALLS];
        Ok(line(Command::new(own).args(args))?.as_f64().unwrap_or(f64::NAN))
    })?;
    Ok(times.into_iter().map(median).collect())
}
