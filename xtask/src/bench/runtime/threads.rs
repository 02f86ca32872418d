//! Messages of two integers on several threads at once.

use std::process::Command;

use super::super::report::{Report, median};
use super::line;
use super::programs::Programs;
use crate::{Result, callgrind};

const CALLS: &str = "1000000";
const ROUNDS: usize = 7;
const THREADS: [u64; 4] = [1, 2, 4, 8];

/// CPU time and instructions of a message, by the number of threads.
pub(super) fn run(programs: &Programs, report: &mut Report) -> Result<()> {
    let own = programs.own.display().to_string();
    let mut times = [const { Vec::new() }; THREADS.len()];
    for _ in 0..ROUNDS {
        for (threads, times) in THREADS.iter().zip(&mut times) {
            let args = ["threads", &threads.to_string(), CALLS];
            times.extend(line(Command::new(&own).args(args))?.as_f64());
        }
    }
    let mut rows = Vec::new();
    let mut one = None;
    for (threads, times) in THREADS.iter().zip(times) {
        let command = [&*own, "threads", &threads.to_string()];
        let count = callgrind::each(&command, 50_000)? / *threads as f64;
        let time = median(times);
        let (one_time, one_count) = *one.get_or_insert((time, count));
        rows.push(vec![
            threads.to_string(),
            format!("{time:.1}"),
            format!("{:.2}", time / one_time),
            format!("{count:.1}"),
            format!("{:.1}", (count / one_count - 1.0) * 100.0),
        ]);
    }
    let head = ["threads", "CPU ns of a thread", "×", "instructions", "% more"];
    report.add("Threads: a message of two integers", &head, &rows);
    Ok(())
}
