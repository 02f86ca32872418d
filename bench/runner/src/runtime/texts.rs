//! Messages whose text the chunk has, or does not have.

use std::process::Command;

use super::super::report::{Report, median, rounds};
use super::programs::Programs;
use super::{figure, line};
use xtask::{Result, callgrind};

const ROUNDS: usize = 15;
const CALLS: u64 = 50_000;

const ROWS: [(&str, &str); 7] = [
    ("same-8", "always the same, of 8 bytes"),
    ("new-8", "new, of 8 bytes"),
    ("same-40", "always the same, of 40 bytes"),
    ("new-40", "new, of 40 bytes"),
    ("hosts-4", "of 4 hosts in turn, of 22 bytes"),
    ("hosts-64", "of 64 hosts in turn"),
    ("hosts-10000", "of 10,000 hosts in turn"),
];

/// Times, instructions and bytes of a message with each kind of text.
pub(super) fn run(programs: &Programs, report: &mut Report) -> Result<()> {
    let path = programs.dir.join("texts");
    let measured = rounds(ROUNDS, &ROWS, |(word, _)| {
        line(Command::new(&programs.own).args(["texts", word]).arg(&path))
    })?;
    let own = programs.own.display().to_string();
    let mut rows = Vec::new();
    for ((word, title), rounds) in ROWS.iter().zip(measured) {
        let of = |name: &str| median(rounds.iter().map(|round| figure(round, name)));
        rows.push(vec![
            (*title).to_owned(),
            format!("{:.1}", of("p50")),
            format!("{:.1}", callgrind::each(&[&own, "calls", word], CALLS)?),
            format!("{:.1}", of("bytes")),
        ]);
    }
    let head = ["an integer and a text", "burst p50 ns", "instructions", "bytes"];
    report.add("Texts that are new", &head, &rows);
    Ok(())
}
