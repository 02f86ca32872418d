//! `protologtool` over the sources of a JDK, beside the floor: reading the same files and doing nothing.

use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread;
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
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let (mut floor, mut shared_floor, mut transform) = (Vec::new(), Vec::new(), Vec::new());
    // One round before those that count, to warm the file cache.
    for round in 0..=ROUNDS {
        let read = read_all(&corpus, 1)?;
        let read_shared = read_all(&corpus, cores)?;
        let args = transform_args(&corpus, &target);
        let rewritten = measure::program(&tool, &args, &corpus.dir, &target.join("bench/time"))?;
        if round > 0 {
            floor.push(read);
            shared_floor.push(read_shared);
            transform.push(rewritten);
        }
    }
    let rows = [
        row("floor: read, one thread", &floor, &corpus),
        row(&format!("floor: read, {cores} threads"), &shared_floor, &corpus),
        row("transform-protolog-calls", &transform, &corpus),
    ];
    println!("\n{}\n", caption(&corpus));
    let head = ["what", "files/s", "MB/s", "wall s", "spread %", "CPU s", "peak MB"];
    println!("{}", table::markdown(&head, &rows));
    Ok(())
}

fn caption(corpus: &Corpus) -> String {
    let Corpus { files, bytes, changed, calls, .. } = corpus;
    let (files, megabytes) = (files.len(), *bytes as f64 / 1e6);
    format!(
        "{files} Java files of OpenJDK 17, {megabytes:.1} MB; {changed} of them hold {calls} log calls. Medians of \
         {ROUNDS} runs, files cached; the tool writes a srcjar and a dictionary."
    )
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

/// Reads every file whole, each thread its share.
fn read_all(corpus: &Corpus, threads: usize) -> Result<Run> {
    let paths: Vec<PathBuf> = corpus.files.iter().map(|file| corpus.dir.join(file)).collect();
    let begun = Instant::now();
    thread::scope(|scope| {
        let shares = paths.chunks(paths.len().div_ceil(threads));
        let readers: Vec<_> = shares.map(|share| scope.spawn(|| read_share(share))).collect();
        readers.into_iter().try_for_each(|reader| reader.join().expect("reading does not panic"))
    })?;
    Ok(Run { wall: begun.elapsed().as_secs_f64(), cpu: None, peak: None })
}

fn read_share(paths: &[PathBuf]) -> Result<()> {
    for path in paths {
        let bytes =
            fs::read(path).map_err(|error| format!("can't read `{}`: {error}", path.display()))?;
        std::hint::black_box(bytes);
    }
    Ok(())
}

fn row(what: &str, runs: &[Run], corpus: &Corpus) -> Vec<String> {
    let median = measure::median(runs);
    let unknown = || "-".to_owned();
    vec![
        what.to_owned(),
        format!("{:.0}", corpus.files.len() as f64 / median.wall),
        format!("{:.1}", corpus.bytes as f64 / 1e6 / median.wall),
        format!("{:.2}", median.wall),
        format!("{:.0}", measure::spread(runs)),
        median.cpu.map_or_else(unknown, |cpu| format!("{cpu:.2}")),
        median.peak.map_or_else(unknown, |peak| format!("{:.0}", peak as f64 / 1e6)),
    ]
}
