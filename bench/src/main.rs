//! What a log call costs, switched off and on, beside its floor and its peers, in one run.
//!
//! ```text
//! cargo xtask bench runtime
//! ```
//!
//! Off: a loop of calls, beside the same loop with one relaxed load and branch, and with nothing. On: bursts of calls with
//! pauses between, as programs log, the mean of a burst counting as one sample; then a loop without pauses. Rounds of all
//! candidates alternate; a figure is the median over the rounds. CPU is that of all threads of the process while the loop
//! runs and until everything is written; bytes are those of the file.

mod candidates;
mod measure;
mod off;

use candidates::{Candidate, Shape};
use measure::{Figures, median};
use std::fmt::Write as _;
use std::fs;

/// Rounds of each candidate.
const ROUNDS: usize = 7;

fn main() {
    println!("{}\ncommand: `cargo xtask bench runtime`\n", machine());
    print!("{}", off::table());
    let dir = tempfile::tempdir().expect("make a temporary directory");
    for shape in Shape::ALL {
        let candidates = candidates::all(shape, dir.path());
        print!("{}", table(shape, &candidates));
    }
}

/// The line without which no figure means anything.
fn machine() -> String {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let info = read("/proc/cpuinfo");
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let kernel = read("/proc/sys/kernel/osrelease");
    let load = read("/proc/loadavg");
    format!(
        "machine: {}, {cores} cores, Linux {}, load {}",
        model.unwrap_or("unknown processor"),
        kernel.trim(),
        load.split(' ').next().unwrap_or_default(),
    )
}

/// Runs the candidates in turn and prints what came out.
fn table(shape: Shape, candidates: &[Candidate]) -> String {
    let mut rounds: Vec<Vec<Figures>> = candidates.iter().map(|_| Vec::new()).collect();
    for _ in 0..ROUNDS {
        for (candidate, figures) in candidates.iter().zip(&mut rounds) {
            figures.push(candidate.run());
        }
    }
    let mut text = format!("\n### Enabled: {}\n\n", shape.name());
    text += "| candidate | burst p50 ns | p99 ns | p99.9 ns | loop ns | loop CPU ns | bytes | kept % |\n";
    text += "|---|--:|--:|--:|--:|--:|--:|--:|\n";
    for (candidate, figures) in candidates.iter().zip(&rounds) {
        let of = |value: fn(&Figures) -> f64| median(figures.iter().map(value));
        let _ = writeln!(
            text,
            "| {} | {:.1} | {:.1} | {:.0} | {:.1} | {:.0} | {:.1} | {:.1} |",
            candidate.name,
            of(|figures| figures.p50),
            of(|figures| figures.p99),
            of(|figures| figures.p999),
            of(|figures| figures.loop_nanos),
            of(|figures| figures.cpu_nanos),
            of(|figures| figures.bytes),
            of(|figures| figures.kept * 100.0),
        );
    }
    text
}
