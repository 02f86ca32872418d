//! Calls that are switched on: bursts, CPU time, bytes.

use std::fs;
use std::process::Command;

use serde_json::Value;

use super::super::report::{Report, median, rounds};
use super::programs::{Candidate, Log, Programs, RECORDER};
use super::{figure, line};
use xtask::Result;

const ROUNDS: usize = 7;

/// Words and titles of the messages.
pub(super) const SHAPES: [(&str, &str); 4] = [
    ("two-ints", "two integers"),
    ("int-and-text", "an integer and a text, one of 8"),
    ("two-ints-and-float", "two integers and a float"),
    ("long-text", "a text of 40 bytes"),
];

/// The figures of one round of a candidate.
#[derive(Clone, Copy)]
struct LoggerFigures {
    p50: f64,
    p99: f64,
    p999: f64,
    /// Nanoseconds a call in a loop.
    looped: f64,
    /// CPU nanoseconds of all that work for the log, for a message of the loop that was kept.
    cpu: f64,
    /// Bytes in the file for a message that was kept.
    bytes: f64,
    /// Per cent of the loop's messages.
    kept: f64,
}

/// One table for each shape, and one of the bytes.
pub(super) fn run(programs: &Programs, report: &mut Report) -> Result<()> {
    let mut sizes = Vec::new();
    for (word, title) in SHAPES {
        let rounds = rounds(ROUNDS, &programs.candidates, |it| round(programs, it, word))?;
        let medians: Vec<LoggerFigures> = rounds.iter().map(|rounds| medians(rounds)).collect();
        table(programs, &format!("Switched on: {title}"), &medians, report);
        let of = |word| programs.candidates.iter().position(|candidate| candidate.word == word);
        let bytes = |word| of(word).map_or(f64::NAN, |at| medians[at].bytes);
        let (own, text) = (bytes("protolog"), bytes("tracing"));
        let path = programs.dir.join("compressed");
        let compressed = line(Command::new(&programs.own).args(["compressed", word]).arg(path))?;
        sizes.push(vec![
            title.to_owned(),
            format!("{own:.1}"),
            format!("{:.1}", compressed.as_f64().unwrap_or(f64::NAN)),
            format!("{text:.1}"),
            format!("{:.0}", own / text * 100.0),
        ]);
    }
    let head =
        ["bytes in the file, a message", "protolog", "zlib", "tracing's text", "%, not compressed"];
    report.add("Bytes", &head, &sizes);
    Ok(())
}

fn round(programs: &Programs, candidate: &Candidate, shape: &str) -> Result<LoggerFigures> {
    let path = programs.dir.join(format!("{}-{shape}", candidate.word));
    let mut command = Command::new(&candidate.program);
    command.args(["measure", candidate.word, shape]).arg(&path);
    let daemon = programs.daemon.as_ref().filter(|_| candidate.log == Log::Lttng);
    if let Some(daemon) = daemon {
        daemon.begin()?;
        command.env("BENCH_HELPERS", daemon.helpers());
    }
    let measured = line(&mut command);
    if let Some(daemon) = daemon {
        daemon.end()?;
    }
    // A ring keeps the newest messages, and its file goes when it ends.
    let log = if candidate.title == RECORDER { Log::Nothing } else { candidate.log };
    let counted = programs.count(log, &path)?;
    let _ = fs::remove_file(&path);
    Ok(figures(&measured?, log, counted))
}

/// Derives the figures from a program's line and from its log.
fn figures(line: &Value, log: Log, (kept, bytes): (f64, f64)) -> LoggerFigures {
    let (looped, logged) = (figure(line, "looped"), figure(line, "logged"));
    let lost = if log == Log::Nothing { 0.0 } else { logged - kept };
    let kept_of_loop = (looped - lost).max(1.0);
    LoggerFigures {
        p50: figure(line, "p50"),
        p99: figure(line, "p99"),
        p999: figure(line, "p999"),
        looped: figure(line, "loop"),
        cpu: figure(line, "cpu") / kept_of_loop,
        bytes: bytes / kept.max(1.0),
        kept: kept_of_loop / looped * 100.0,
    }
}

fn medians(rounds: &[LoggerFigures]) -> LoggerFigures {
    let of = |value: fn(&LoggerFigures) -> f64| median(rounds.iter().map(value));
    LoggerFigures {
        p50: of(|figures| figures.p50),
        p99: of(|figures| figures.p99),
        p999: of(|figures| figures.p999),
        looped: of(|figures| figures.looped),
        cpu: of(|figures| figures.cpu),
        bytes: of(|figures| figures.bytes),
        kept: of(|figures| figures.kept),
    }
}

fn table(programs: &Programs, title: &str, medians: &[LoggerFigures], report: &mut Report) {
    let own = programs.candidates.iter().position(|candidate| candidate.word == "protolog");
    let own = medians[own.unwrap_or(0)];
    let rows: Vec<Vec<String>> = programs
        .candidates
        .iter()
        .zip(medians)
        .map(|(candidate, figures)| {
            vec![
                candidate.title.to_owned(),
                format!("{:.1}", figures.p50),
                format!("{:.1}", figures.p50 / own.p50),
                format!("{:.1}", figures.p99),
                format!("{:.0}", figures.p999),
                format!("{:.0}", figures.looped),
                format!("{:.0}", figures.cpu),
                format!("{:.1}", figures.cpu / own.cpu),
                format!("{:.1}", figures.bytes),
                format!("{:.1}", figures.kept),
            ]
        })
        .collect();
    let head = [
        "",
        "burst p50 ns",
        "×",
        "p99 ns",
        "p99.9 ns",
        "loop ns",
        "CPU ns",
        "×",
        "bytes",
        "kept %",
    ];
    report.add(title, &head, &rows);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_lost_is_lost_in_the_loop() {
        let line = json!({ "p50": 1, "p99": 2, "p999": 3, "loop": 4, "cpu": 500, "looped": 100, "logged": 150 });
        let some = figures(&line, Log::File("lines"), (100.0, 2000.0));
        assert_eq!((some.cpu, some.bytes, some.kept), (10.0, 20.0, 50.0));
        let floor = figures(&line, Log::Nothing, (0.0, 0.0));
        assert_eq!((floor.cpu, floor.kept), (5.0, 100.0));
    }
}
