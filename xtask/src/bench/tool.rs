//! `protologtool` over the sources of a JDK, beside the floor: reading the same files and doing nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::corpus::{self, Corpus};
use super::measure::{self, Run};
use super::table;
use crate::{Result, shell, workspace};

/// Of each contestant; odd, so that there is a median run.
const ROUNDS: usize = 5;

/// Prepares the sources, builds the tool, measures, prints the table.
pub(super) fn run() -> Result<()> {
    let target = workspace::target_dir()?;
    let corpus = corpus::prepare(&target.join("bench/jdk"))?;
    shell::run(&mut shell::cargo(&[
        "build",
        "--locked",
        "--release",
        "--package",
        "protolog-tool",
    ]))?;
    let tool = target.join("release/protologtool");
    let (mut floor, mut transform) = (Vec::new(), Vec::new());
    // One round before those that count, to warm the file cache.
    for round in 0..=ROUNDS {
        let read = read_all(&corpus)?;
        let rewritten = measure::program(
            &tool,
            &transform_args(&corpus, &target),
            &corpus.dir,
            &target.join("bench/time"),
        )?;
        if round > 0 {
            floor.push(read);
            transform.push(rewritten);
        }
    }
    let Corpus { files, bytes, changed, calls, .. } = &corpus;
    let megabytes = *bytes as f64 / 1e6;
    println!(
        "{} Java files of OpenJDK 17, {megabytes:.1} MB; {changed} of them hold {calls} log calls.",
        files.len()
    );
    println!(
        "Medians of {ROUNDS} runs, files cached; the tool writes a srcjar and a dictionary.\n"
    );
    let rows = [
        row("floor: read, one thread", &floor, &corpus),
        row("transform-protolog-calls", &transform, &corpus),
    ];
    println!(
        "{}",
        table::markdown(
            &["what", "files/s", "MB/s", "wall s", "spread %", "CPU s", "peak MB"],
            &rows
        )
    );
    Ok(())
}

fn transform_args(corpus: &Corpus, target: &Path) -> Vec<String> {
    let output = |name: &str| target.join("bench").join(name).display().to_string();
    let options = [
        ["--protolog-class", "dev.protolog.ProtoLog"],
        ["--loggroups-class", corpus::GROUPS_CLASS],
        ["--loggroups-source", corpus::GROUPS_SOURCE],
        ["--output-srcjar", &output("out.srcjar")],
        ["--viewer-config", &output("out.pb")],
    ];
    let files = corpus.files.iter().map(|file| file.display().to_string());
    let words = options.concat().into_iter().map(str::to_owned);
    ["transform-protolog-calls".to_owned()].into_iter().chain(words).chain(files).collect()
}

fn read_all(corpus: &Corpus) -> Result<Run> {
    let paths: Vec<PathBuf> = corpus.files.iter().map(|file| corpus.dir.join(file)).collect();
    let begun = Instant::now();
    for path in &paths {
        let bytes =
            fs::read(path).map_err(|error| format!("can't read `{}`: {error}", path.display()))?;
        std::hint::black_box(bytes);
    }
    let wall = begun.elapsed().as_secs_f64();
    Ok(Run { wall, cpu: wall, peak: 0 })
}

fn row(what: &str, runs: &[Run], corpus: &Corpus) -> Vec<String> {
    let median = measure::median(runs);
    let peak =
        if median.peak > 0 { format!("{:.0}", median.peak as f64 / 1e6) } else { "-".to_owned() };
    vec![
        what.to_owned(),
        format!("{:.0}", corpus.files.len() as f64 / median.wall),
        format!("{:.1}", corpus.bytes as f64 / 1e6 / median.wall),
        format!("{:.2}", median.wall),
        format!("{:.0}", measure::spread(runs)),
        format!("{:.2}", median.cpu),
        peak,
    ]
}
